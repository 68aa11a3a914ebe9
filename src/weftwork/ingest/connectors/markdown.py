"""The sections of a Markdown text as written, and their standalone blocks."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any, Literal, Protocol

from markdown_it import MarkdownIt
from markdown_it.token import Token

from weftwork.ingest.connectors.comments import may_hold_comments, without_comments
from weftwork.ingest.connectors.link_definitions import inlined, targets_of, without_definitions

Kind = Literal["paragraph", "list_item"]

DEEPEST = 100
"""Levels of nesting that are followed; a text with more is not taken apart."""
LONGEST = 5_000_000
"""Characters above which a text is not taken apart."""
_BLANK = re.compile(r"\n[ \t]*\n\s*")
_NAME = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)\s*\Z")
_RULES = "-*_+>= \t\n"
"""The characters of a stretch without words: rules, empty items."""


@dataclass(slots=True)
class Stretch:
    """Adjacent blocks as written."""

    text: str
    prose: list[str] = field(default_factory=list)
    """The text of each of its blocks without code blocks: where links and tags are looked for."""
    names: list[str] = field(default_factory=list)
    """Names that its blocks give themselves, `^name`; they are left out of the text."""
    loose: bool = False
    """A blank line stands before it."""


@dataclass(slots=True)
class Block:
    """A standalone paragraph or list item."""

    kind: Kind
    paragraphs: list[str]
    """Its own paragraphs: of a list item, those directly in it, the first without its marker."""
    names: list[str] = field(default_factory=list)
    parts: list[Stretch | Block] = field(default_factory=list)
    """The rest of a list item after its first paragraph."""
    indent: int = 0
    """The column at which a list item begins."""


@dataclass(slots=True)
class Section:
    """A heading with what follows it up to the next one, or what stands before the first."""

    level: int = 0
    heading: str = ""
    name: str = ""
    """The name that the heading gives itself."""
    names: list[str] = field(default_factory=list)
    """Names that are all that follows it."""
    lead: str = ""
    """The paragraph that it begins with, where it does."""
    parts: list[Stretch | Block] = field(default_factory=list)


class StandsAlone(Protocol):
    """The predicate for standalone paragraphs and list items."""

    def __call__(self, kind: Kind, paragraphs: Sequence[str], *, first: bool) -> bool:
        """`paragraphs` are those directly in a list item; `first` marks the first block of a section."""


class TooDeep(Exception):
    """The text is nested too deeply, or is too long, to be parsed."""


def sections(text: str, alone: StandsAlone, *, named: bool = False) -> list[Section]:
    """Split a text into sections, in reading order, without comments; the first has no heading.

    Links by reference are written inline, without their definitions. Where blocks may be `named`, a `^name` at their
    end is taken out of the text.
    """
    text = lined(text)
    definitions: dict[str, Any] = {}
    tokens = _parse(text, definitions)
    if may_hold_comments(text):
        content = without_comments(text, list(_code_spans(text, tokens)))
        tokens = tokens if content == text else _parse(content, definitions)
        text = content
    if targets := targets_of(definitions):
        text = without_definitions(text, definitions, list(_code_spans(text, tokens)))
        text = inlined(text, targets, list(_code_spans(text, _parse(text, {}))))
        tokens = _parse(text, {})
    return _Reader(tokens, text.split("\n"), alone, named).read()


def plain(text: str) -> list[Section]:
    """Split a text that cannot be parsed into paragraphs."""
    paragraphs = [paragraph.strip() for paragraph in _BLANK.split(lined(text)) if paragraph.strip()]
    lead = [Stretch(paragraph, [paragraph]) for paragraph in paragraphs[:1]]
    return [Section(parts=[*lead, *(Block("paragraph", [paragraph]) for paragraph in paragraphs[1:])])]


def lined(text: str) -> str:
    """Normalise line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables; inline syntax is left to `inline`."""
    return MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable("table").disable("inline")


def _parse(text: str, definitions: dict[str, Any]) -> list[Token]:
    """Parse a text; the definitions of its links are put into a dictionary, which is emptied before."""
    if len(text) > LONGEST:
        raise TooDeep(f"is longer than {LONGEST // 1_000_000} million characters")
    try:
        definitions.clear()
        tokens = _parser().parse(text, definitions)
    except RecursionError as error:
        raise TooDeep("is nested too deeply") from error
    if any(token.level >= DEEPEST - 2 for token in tokens):
        raise TooDeep("is nested too deeply")
    return tokens


def _code_spans(text: str, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The spans of code blocks."""
    offsets = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    for token in tokens:
        if token.type in ("fence", "code_block"):
            first, last = _lines(token)
            yield offsets[first], offsets[last]


def _lines(token: Token) -> tuple[int, int]:
    """The first line of a block, and the line after its last."""
    first, last = token.map or (0, 0)
    return first, last


@dataclass(slots=True)
class _Open:
    """A section or list item under construction."""

    parts: list[Stretch | Block]
    names: list[str]
    start: int = 0
    """The line from which on nothing was taken yet."""
    level: int = -1
    """Of the token that ends it; -1 for a section."""
    end: int = 0
    """The line after the last of a list item."""
    stretch: Stretch = field(default_factory=lambda: Stretch(""))
    filled: bool = False
    """The stretch has a block."""


class _Reader:
    """Reads tokens in one pass; blocks that do not stand alone stay in the stretch around them."""

    def __init__(self, tokens: Sequence[Token], lines: list[str], alone: StandsAlone, named: bool) -> None:
        self._tokens = tokens
        self._lines = lines
        self._alone = alone
        self._named = named
        self._paragraphs = self._direct_paragraphs()
        self._sections = [Section()]
        self._open = [_Open(self._sections[0].parts, self._sections[0].names)]
        self._quoted = 0
        self._last = ""
        """The content of the block before."""

    def read(self) -> list[Section]:
        index = 0
        while index < len(self._tokens):
            index = self._take(index)
        self._flush(len(self._lines))
        return self._sections

    def _take(self, index: int) -> int:
        """Take a token, and return the index of the next one."""
        token = self._tokens[index]
        match token.type:
            case "heading_open" if token.level == 0:
                self._begin_section(token, self._tokens[index + 1].content.strip())
                return index + 3
            case "paragraph_open":
                return self._take_paragraph(index)
            case "list_item_open" if self._is_own_item(index):
                self._begin_item(index)
                return index + 4
            case "list_item_close" if len(self._open) > 1 and token.level == self._open[-1].level:
                self._flush(self._open[-1].end)
                self._open.pop()
            case "blockquote_open":
                self._quoted += 1
            case "blockquote_close":
                self._quoted -= 1
            case "table_open":
                self._open[-1].stretch.names += self._names_at(token)
            case "inline" | "html_block" | "fence" | "code_block" | "hr":
                self._keep(token)
        return index + 1

    def _keep(self, token: Token) -> None:
        """Add a block to the open stretch; indented text below a note of MkDocs is no code."""
        here = self._open[-1]
        here.filled = True
        noted = token.type == "code_block" and self._last.startswith(("!!!", "???"))
        if noted or token.type in ("inline", "html_block"):
            here.stretch.prose.append(token.content)
        self._last = token.content

    def _begin_section(self, token: Token, heading: str) -> None:
        first, after = _lines(token)
        self._flush(first)
        name = _NAME.search(heading) if self._named else None
        section = Section(int(token.tag[1]), self._unnamed(heading), name[1] if name else "")
        self._sections.append(section)
        self._open = [_Open(section.parts, section.names, after)]

    def _take_paragraph(self, index: int) -> int:
        token, content = self._tokens[index], self._tokens[index + 1].content.strip()
        here, section = self._open[-1], self._sections[-1]
        first, after = _lines(token)
        names = self._names_at(token)
        lead = token.level == 0 and not section.parts and not here.filled
        if names and not self._unnamed(content):
            self._name_before(names)
        elif token.level == 0 and self._alone("paragraph", [content], first=lead):
            self._flush(first)
            text = "\n".join(self._lines[first:after]).strip()
            here.parts.append(Block("paragraph", [text], names))
            here.start = after
        else:
            section.lead = content if lead else section.lead
            here.stretch.names += names
            self._keep(self._tokens[index + 1])
        return index + 3

    def _name_before(self, names: list[str]) -> None:
        """Give a name that stands alone to the block before it."""
        here = self._open[-1]
        if here.filled:
            here.stretch.names += names
        else:
            (here.parts[-1].names if here.parts else here.names).extend(names)

    def _is_own_item(self, index: int) -> bool:
        if self._quoted or self._tokens[index + 1].type != "paragraph_open":
            return False
        return self._alone("list_item", self._paragraphs[index], first=False)

    def _begin_item(self, index: int) -> None:
        """Open a standalone list item; its first paragraph is taken at once."""
        item, paragraph = self._tokens[index], self._tokens[index + 1]
        first, end = _lines(item)
        self._flush(first)
        self._open[-1].start = end
        paragraphs = [self._unnamed(text) for text in self._paragraphs[index]]
        line = self._lines[first].expandtabs(4)
        block = Block("list_item", paragraphs, self._names_at(paragraph), indent=len(line) - len(line.lstrip()))
        self._open[-1].parts.append(block)
        self._open.append(_Open(block.parts, block.names, _lines(paragraph)[1], item.level, end))

    def _flush(self, end: int) -> None:
        """Close the open stretch before a line; drop one without words."""
        here = self._open[-1]
        lines = self._lines[here.start : end]
        stretch, here.stretch, here.filled, here.start = here.stretch, Stretch(""), False, end
        while lines and not lines[-1].strip():
            lines.pop()
        written = next((number for number, line in enumerate(lines) if line.strip()), 0)
        text = "\n".join(lines[written:]).rstrip()
        if text.strip(_RULES):
            stretch.text = textwrap.dedent(text) if here.level >= 0 else text
            stretch.loose = written > 0
            here.parts.append(stretch)
        elif stretch.names:
            here.names.extend(stretch.names)

    def _direct_paragraphs(self) -> dict[int, list[str]]:
        """The paragraphs directly in each list item, by the index of the item's token."""
        paragraphs: dict[int, list[str]] = {}
        items: list[int] = []
        for index, token in enumerate(self._tokens):
            if token.type == "list_item_open":
                items.append(index)
                paragraphs[index] = []
            elif token.type == "list_item_close":
                items.pop()
            elif token.type == "paragraph_open" and items and token.level == self._tokens[items[-1]].level + 1:
                paragraphs[items[-1]].append(self._tokens[index + 1].content.strip())
        return paragraphs

    def _names_at(self, token: Token) -> list[str]:
        """Remove the name at the end of a block from its last line, and return it."""
        last = _lines(token)[1] - 1
        match = _NAME.search(self._lines[last]) if self._named and "^" in self._lines[last] else None
        if match is None:
            return []
        self._lines[last] = self._lines[last][: match.start()]
        return [match[1]]

    def _unnamed(self, text: str) -> str:
        return _NAME.sub("", text) if self._named and "^" in text else text
