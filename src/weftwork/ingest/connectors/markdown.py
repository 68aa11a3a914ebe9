"""The blocks of a Markdown text in their tree: sections below their headings, items below their lists."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

Kind = Literal["heading", "paragraph", "list_item", "code", "table", "quote"]

DEEPEST = 100
"""Levels of nesting that are followed; a text with more is not taken apart."""
LONGEST = 5_000_000
"""Characters above which a text is not taken apart."""
_RAW: dict[str, Kind] = {
    "fence": "code", "table_open": "table", "blockquote_open": "quote", "html_block": "paragraph",
}  # fmt: skip
_TICKS = re.compile("`+")
_BLANK = re.compile(r"\n[ \t]*\n\s*")


@dataclass(slots=True)
class Block:
    """A block with those below it."""

    kind: Kind
    text: str
    level: int = 0
    """Of a heading."""
    below: list[Block] = field(default_factory=list)

    def __iter__(self) -> Iterator[Block]:
        """This block and all below it, in reading order."""
        waiting = [self]
        while waiting:
            block = waiting.pop()
            yield block
            waiting += reversed(block.below)


class TooDeep(Exception):
    """That a text is nested too deeply, or is too long, to be taken apart."""


def blocks(text: str) -> list[Block]:
    """The blocks at the top of a text, each with those below it."""
    if len(text) > LONGEST:
        raise TooDeep(f"is longer than {LONGEST // 1_000_000} million characters")
    try:
        tokens = _parser().parse(text)
    except RecursionError as error:
        raise TooDeep("is nested too deeply") from error
    if any(token.level >= DEEPEST - 2 for token in tokens):
        raise TooDeep("is nested too deeply")
    return _sections(_joined(_Reader(tokens, text.splitlines()).read(0, len(tokens))))


def plain(text: str) -> list[Block]:
    """The paragraphs of a text that cannot be taken apart otherwise."""
    return [Block("paragraph", each.strip()) for each in _BLANK.split(text) if each.strip()]


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables; what stands inside of a line is for `inline` to read."""
    return MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable("table").disable("inline")


def _joined(found: Sequence[Block]) -> list[Block]:
    """Code, tables and quotations together with the paragraph that they follow: alone they say little."""
    joined: list[Block] = []
    for block in found:
        last = joined[-1] if joined else None
        if last is not None and last.kind == "paragraph" and block.kind in ("code", "table", "quote"):
            joined[-1] = Block("paragraph", f"{last.text}\n\n{block.text}")
        else:
            joined.append(block)
    return joined


def _sections(found: Sequence[Block]) -> list[Block]:
    """Each block below the heading that it follows, each heading below the nearest of a higher rank."""
    top: list[Block] = []
    open_: list[Block] = []
    for block in found:
        if block.kind == "heading":
            while open_ and open_[-1].level >= block.level:
                open_.pop()
        (open_[-1].below if open_ else top).append(block)
        if block.kind == "heading":
            open_.append(block)
    return top


class _Reader:
    """Reads a stretch of tokens as blocks."""

    def __init__(self, tokens: Sequence[Token], lines: Sequence[str]) -> None:
        self._tokens = tokens
        self._lines = lines

    def read(self, start: int, end: int) -> list[Block]:
        found: list[Block] = []
        while start < end:
            token, after = self._tokens[start], self._after(start)
            if token.type == "heading_open":
                found.append(Block("heading", self._tokens[start + 1].content.strip(), int(token.tag[1])))
            elif token.type == "paragraph_open":
                found.append(Block("paragraph", self._tokens[start + 1].content.strip()))
            elif token.type == "code_block":
                found.append(self._indented(token, found))
            elif token.type in _RAW:
                found.append(Block(_RAW[token.type], self._raw(token)))
            elif token.type in ("bullet_list_open", "ordered_list_open"):
                found += self._items(start + 1, after - 1)
            start = after
        return [block for block in found if block.text or block.below]

    def _indented(self, token: Token, before: Sequence[Block]) -> Block:
        """Indented code in fences; below the head of a note, as MkDocs writes it, it is no code but the note's text."""
        text = self._raw(token)
        if before and before[-1].text.startswith(("!!!", "???")):
            return Block("quote", text)
        fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
        return Block("code", f"{fence}\n{text}\n{fence}")

    def _items(self, start: int, end: int) -> Iterator[Block]:
        while start < end:
            after = self._after(start)
            inner = self.read(start + 1, after - 1)
            own = [block.text for block in inner if block.kind != "list_item"]
            items = [block for block in inner if block.kind == "list_item"]
            yield Block("list_item", "\n\n".join(own), below=items)
            start = after

    def _after(self, start: int) -> int:
        """Where what begins here has ended."""
        depth = 0
        while True:
            depth += self._tokens[start].nesting
            start += 1
            if depth <= 0:
                return start

    def _raw(self, token: Token) -> str:
        first, last = token.map or [0, 0]
        return textwrap.dedent("\n".join(self._lines[first:last])).strip("\n").rstrip()
