"""The Markdown of a whole document, in which each page can be found again."""

from __future__ import annotations

import base64
import binascii
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from weftwork.errors import InvalidInput

PageSplitter = Callable[[str], Mapping[int, str]]
"""Tells the pages of a document apart; empty if its text does not."""
LARGEST = 200_000_000
"""Bytes that a compressed document may unpack to."""

_MARKS = tuple(
    re.compile(rf"(?:^|(?<=\f))[ \t]*{mark}[ \t]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
    for mark in (r"<!--\s*page[ :#]*(\d{1,7})\s*-->", r"#{1,6}[ \t]+page[ \t]+(\d{1,7})", r"\[page[ \t]+(\d{1,7})\]")
)
"""Lines with which a numbered page begins; a document has marks of one kind."""
_BREAK = re.compile(r"\f|^[ \t]*<!--\s*page[ -]?break\s*-->[ \t]*\n?", re.IGNORECASE | re.MULTILINE)
_DISGUISED = re.compile(r"<!--(?=\s*page)|\f", re.IGNORECASE)


def join_pages(pages: Mapping[int, str]) -> str:
    """Join pages under `<!-- page 3 -->` lines; marks inside a page are defused."""
    parts = (f"<!-- page {number} -->\n{_DISGUISED.sub(_harmless, text)}" for number, text in sorted(pages.items()))
    return "\n\n".join(parts)


def _harmless(mark: re.Match[str]) -> str:
    return "\n" if mark[0] == "\f" else "<!- -"


def split_pages(markdown: str) -> dict[int, str]:
    """The pages of a document by their numbers; {} if the text does not tell them apart.

    Pages begin with lines such as `<!-- page 3 -->`, or else `## Page 3`, or else `[Page 3]`, whose numbers rise, or
    end with form feeds or `<!-- page break -->` lines. What stands before the mark of page 3 is page 2, unless it has
    a mark of its own; what stands before that of page 1 is front matter and on no page. Headings and brackets that are
    fewer than the form feeds are words of the text.
    """
    parts = _BREAK.split(markdown)
    for pattern in _MARKS:
        marks = _rising(pattern.finditer(markdown))
        if marks and (pattern is _MARKS[0] or len(marks) >= len(parts) - 1):
            return _between(markdown, marks)
    return {number: part.strip("\n") for number, part in enumerate(parts, start=1)} if len(parts) > 1 else {}


def _rising(marks: Iterable[re.Match[str]]) -> list[re.Match[str]]:
    """The marks whose numbers are higher than all before them: a page may quote the mark of an earlier one."""
    rising: list[re.Match[str]] = []
    for mark in marks:
        if int(mark[1]) > (int(rising[-1][1]) if rising else -1):
            rising.append(mark)
    return rising


def _between(markdown: str, marks: Sequence[re.Match[str]]) -> dict[int, str]:
    ends = [*(mark.start() for mark in marks[1:]), len(markdown)]
    pages = {int(mark[1]): markdown[mark.end() : end].strip("\n\f") for mark, end in zip(marks, ends, strict=True)}
    first, front = int(marks[0][1]), markdown[: marks[0].start()].strip("\n\f")
    return {first - 1: front, **pages} if first > 1 and front.strip() else pages


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a document, by page if its pages are told apart."""

    markdown: str
    pages: Mapping[int, str]

    @classmethod
    def split(cls, markdown: str | None, split: PageSplitter = split_pages) -> Document:
        """A document with its pages as `split` tells them apart."""
        return cls(markdown or "", split(markdown) if markdown else {})

    def page(self, number: int) -> str | None:
        """The text of a page, "" if there is no such page; None if pages are not told apart."""
        return self.pages.get(number, "") if self.pages else None

    def undivided(self, number: int) -> str:
        """The text of a page where nothing tells pages apart: all of it is page 1."""
        return self.markdown.strip("\n") if number == 1 else ""


def compress(markdown: str) -> str:
    """Markdown as metadata can hold it: gzip, then base64."""
    return base64.b64encode(gzip.compress(markdown.encode("utf-8", "replace"), mtime=0)).decode("ascii")


def decompress(packed: str) -> str:
    """Decompress Markdown; refuse data that is damaged or unpacks to more than LARGEST bytes."""
    reader = zlib.decompressobj(wbits=31)
    try:
        data = reader.decompress(base64.b64decode(packed, validate=True), LARGEST)
    except (binascii.Error, zlib.error) as error:
        raise InvalidInput(f"the Markdown of a document is no gzip in base64 ({error}): index it again") from error
    if reader.unconsumed_tail:
        raise InvalidInput(f"the Markdown of a document unpacks to more than {LARGEST // 1_000_000} MB: split it")
    if not reader.eof:
        raise InvalidInput("the Markdown of a document is cut short: index it again")
    return data.decode("utf-8", "replace")
