"""HTML to Markdown: web pages, and the intermediate form of DOCX and EPUB."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Comment
from markdownify import MarkdownConverter

from weftwork.ingest.documents.values import Page, Parsed, Tools, Unreadable

PAGE_END = "\ue000"
"""Stands in a text where a page ends; what people write is cleared of it first."""
PICTURE = "\ue001"
"""Stands in a text where a picture is."""
UNSEEN = frozenset(
    "script style noscript template svg iframe object canvas head button select ix:header ix:hidden".split()
)
"""Elements without text for a reader; `ix:header` holds the hidden data of XBRL filings."""
LONGEST_LINK = 200
LONG_SECTION = 20_000
"""Characters above which a section is cut at the headings within it."""
_MARKS = re.compile(f"[{PAGE_END}{PICTURE}]")
_FORGED = re.compile(r"^(\s*)(?=#{1,6}\s)")
"""The beginning of a text that would be a heading in Markdown, but is none."""
_BLANK = re.compile(r"\n{3,}")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class _Converter(MarkdownConverter):
    """Keeps links to the web; a picture becomes a mark and its alternative text."""

    def convert_a(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A link to the web; the text of any other."""
        target = el.get("href") or ""
        external = target.startswith(("http://", "https://")) and len(target) <= LONGEST_LINK and text.strip()
        return str(super().convert_a(el, text, parent_tags)) if external else text  # type: ignore[misc]

    def convert_img(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A picture as its alternative text."""
        alternative = " ".join(_MARKS.sub("", el.get("alt") or "").split())
        return f"{PICTURE}![{re.sub(r'[][]', '', alternative)}]()" if alternative else PICTURE


def read_html(path: Path, tools: Tools) -> Parsed:
    """A web page as a page for each of its sections."""
    pages = sections(markdown_of(path.read_bytes()))
    if not pages:
        raise Unreadable("has no text")
    return Parsed(len(pages), iter(pages))


def markdown_of(html: bytes | str, page_end: str | None = None) -> str:
    """Convert HTML, with marks for pictures and, at elements of class `page_end`, for page ends."""
    soup = BeautifulSoup(html, "lxml")
    for element in soup(_is_unseen):
        element.decompose()
    for text in soup.find_all(string=_MARKS):
        text.replace_with(_MARKS.sub("", text))
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for element in soup.find_all(class_=page_end) if page_end else ():
        element.replace_with(PAGE_END)
    for text in soup.find_all(string=_FORGED):
        text.replace_with(_FORGED.sub(r"\1\\", text))
    converter = _Converter(
        heading_style="ATX", bullets="-", table_infer_header=True, escape_underscores=False, escape_asterisks=False
    )
    try:
        return _BLANK.sub("\n\n", converter.convert_soup(soup)).strip()
    except RecursionError as error:
        raise Unreadable("is nested too deeply to be read") from error


def _is_unseen(element: Any) -> bool:
    """Return True for an element that a browser does not show."""
    return element.name in UNSEEN or element.has_attr("hidden") or bool(_HIDDEN.search(element.get("style") or ""))


def sections(markdown: str) -> list[Page]:
    """Pages at the page ends; without any, one for each section with a heading of the top level."""
    parts = markdown.split(PAGE_END)
    return as_pages(_cut(markdown), unit="section") if len(parts) == 1 else as_pages(parts)


def as_pages(parts: Sequence[str], names: Sequence[str] = (), unit: str = "page") -> list[Page]:
    """The parts as pages, without empty ones."""
    pages = []
    for number, part in enumerate(parts):
        text = part.replace(PICTURE, "").strip()
        pictures = part.count(PICTURE)
        if text or pictures:
            pages.append(Page(markdown=text, pictures=pictures, name=names[number] if names else "", unit=unit))
    return pages


def _cut(markdown: str) -> list[str]:
    """A text cut before its headings of the highest level that occurs twice, a long part again; whole if none does."""
    levels = (1, 2) if len(markdown) <= LONG_SECTION else (1, 2, 3, 4)
    for level in levels:
        places = [match.start() for match in re.finditer(rf"^{'#' * level} ", markdown, re.MULTILINE)]
        if len(places) > 1:
            starts = [0, *places] if markdown[: places[0]].strip() else places
            parts = [markdown[start:end] for start, end in zip(starts, [*starts[1:], len(markdown)], strict=True)]
            return [piece for part in parts for piece in (_cut(part) if len(part) > LONG_SECTION else [part])]
    return _by_length(markdown)


def _by_length(markdown: str) -> list[str]:
    """A text without headings in parts of whole paragraphs, none much longer than a long section."""
    parts = [""]
    for block in markdown.split("\n\n"):
        if parts[-1] and len(parts[-1]) + len(block) > LONG_SECTION:
            parts.append("")
        parts[-1] += f"\n\n{block}" if parts[-1] else block
    return parts
