"""The Markdown of a whole document, in which each page can be found again."""

from __future__ import annotations

import base64
import binascii
import gzip
import re
import zlib
from collections.abc import Mapping

from weftwork.errors import InvalidInput

LARGEST = 200_000_000
"""Bytes that a compressed document may unpack to."""

_MARK = re.compile(r"^[ \t]*<!--\s*page[ :#]*(\d+)\s*-->[ \t]*\n?", re.IGNORECASE | re.MULTILINE)
_BREAK = re.compile(r"\f|^[ \t]*<!--\s*page[ -]?break\s*-->[ \t]*\n?", re.IGNORECASE | re.MULTILINE)
_DISGUISED = re.compile(r"<!--(?=\s*page)|\f", re.IGNORECASE)


def join_pages(pages: Mapping[int, str]) -> str:
    """Join pages under `<!-- page 3 -->` lines; marks inside a page are defused."""
    parts = (f"<!-- page {number} -->\n{_DISGUISED.sub(_harmless, text)}" for number, text in sorted(pages.items()))
    return "\n\n".join(parts)


def _harmless(mark: re.Match[str]) -> str:
    return "\n" if mark[0] == "\f" else "<!- -"


def extract_page(markdown: str, page: int) -> str | None:
    """The text of one page.

    Pages are told apart by `<!-- page 3 -->` lines, or else by form feeds or `<!-- page break -->` lines. Where
    there are none, all of it is page 1. None if there is no such page.
    """
    marks = list(_MARK.finditer(markdown))
    if marks:
        ends = [*(mark.start() for mark in marks[1:]), len(markdown)]
        texts = {int(mark[1]): markdown[mark.end() : end] for mark, end in zip(marks, ends, strict=True)}
        text = texts.get(page)
    else:
        parts = _BREAK.split(markdown)
        text = parts[page - 1] if 1 <= page <= len(parts) else None
    return None if text is None else text.strip("\n")


def tells_pages(markdown: str) -> bool:
    """Return True if the text marks where pages begin."""
    return _MARK.search(markdown) is not None or _BREAK.search(markdown) is not None


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
