"""HTML to text, for mails and exported pages; needs no extra package."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

_UNSEEN = frozenset({"script", "style", "head", "title", "template", "noscript", "svg"})
_BLOCKS = frozenset(
    "p div br tr li ul ol table h1 h2 h3 h4 h5 h6 blockquote pre section article header footer hr dt dd figure".split()
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_BLANK = re.compile(r"[ \t\xa0]*\n(?:[ \t\xa0]*\n)+")
_TICKS = re.compile("`+")
DEEPEST = 30
"""Levels of lists that have a margin of their own."""
_TAG = re.compile(r"<[^<>]*>")
_SPACES = re.compile(r"[ \t\r\n\xa0]+")


def text_of(html: str, *, markdown: bool = False) -> str:
    """Convert HTML: blocks on lines of their own, headings and list items marked as in Markdown.

    As `markdown` it can be parsed again: lists are nested, code is fenced, checkboxes are those of tasks.
    """
    return converted(MarkdownText() if markdown else _Text(), html)


def converted(parser: _Text, html: str) -> str:
    """Convert HTML with a parser of one's own."""
    try:
        parser.feed(html)
        parser.close()
    except AssertionError:  # what html.parser raises where a declaration is none
        return _BLANK.sub("\n\n", unescape(_TAG.sub(" ", html))).strip()
    return _BLANK.sub("\n\n", "".join(parser.parts)).strip()


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unseen = 0
        self._kept = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block, or a hidden element."""
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in _BLOCKS:
            self.break_line("\n" if tag in ("br", "tr", "li") else "\n\n")
            if mark := "- " if tag == "li" else _HEADINGS.get(tag):
                self.parts.append(mark)
        elif tag in ("td", "th"):
            self.parts.append(" | " if self.parts and not self.parts[-1].endswith("\n") else "")
        elif tag == "body":  # a head that nobody closed hides nothing
            self._unseen = 0
        self._kept += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        """End a block."""
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag in _BLOCKS and tag not in ("br", "li", "tr"):
            self.break_line("\n\n")
        if tag == "pre":
            self._kept = max(0, self._kept - 1)

    def handle_data(self, data: str) -> None:
        """Append text, with white space collapsed outside of `pre`."""
        if self._unseen:
            return
        text = data if self._kept else _SPACES.sub(" ", data)
        if not self._kept and (not self.parts or self.parts[-1].endswith(("\n", " "))):
            text = text.lstrip(" ")
        if text:
            self.parts.append(text)

    def break_line(self, feeds: str) -> None:
        """Begin another line."""
        self.parts.append(feeds)


class MarkdownText(_Text):
    """Indents lists, fences code, and writes checkboxes."""

    def __init__(self) -> None:
        super().__init__()
        self._lists: list[str] = []
        """Tags of lists and items that are open."""
        self._items = 0
        """The number of open items."""
        self._code = 0
        """The index in `parts` at which the open code begins."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block."""
        classes = (dict(attrs).get("class") or "").split()
        if "checkbox" in classes or (tag == "input" and dict(attrs).get("type") == "checkbox"):
            self.check("checkbox-on" in classes or "checked" in dict(attrs))
            return
        if tag == "li" and self._lists[-1:] == ["li"]:
            self._close("li")
        super().handle_starttag(tag, attrs)
        if tag in ("ul", "ol", "li"):
            self._lists.append(tag)
            self._items += tag == "li"
        if tag == "pre" and self._kept == 1:
            self._code = len(self.parts)

    def handle_endtag(self, tag: str) -> None:
        """End a block."""
        if tag == "pre" and self._kept == 1:
            code = "".join(self.parts[self._code :]).strip("\n")
            fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
            self.parts[self._code :] = [f"\n{self._margin()}".join((fence, *code.split("\n"), fence))]
        if tag in ("ul", "ol", "li"):
            self._close(tag)
        super().handle_endtag(tag)

    def check(self, checked: bool) -> None:
        """Write the box of a task, with a bullet where no list item is open."""
        bullet = "" if self._items or self.parts[-1:] == ["- "] else "- "
        self.parts.append(f"{bullet}[{'x' if checked else ' '}] ")

    def _close(self, tag: str) -> None:
        """Close a list or item with all that is open in it; ignore a stray end tag."""
        inner = ("li",) if tag != "li" else ()
        while self._lists and self._lists[-1] in (tag, *inner):
            closed = self._lists.pop()
            self._items -= closed == "li"
            if closed == tag:
                break

    def break_line(self, feeds: str) -> None:
        """Begin a line at the indentation of the open list item, unless it only has its marker yet."""
        if not self.parts or not self.parts[-1].endswith(("- ", "[ ] ", "[x] ")):
            self.parts.append(feeds + self._margin())

    def _margin(self) -> str:
        return "  " * min(self._items, DEEPEST)
