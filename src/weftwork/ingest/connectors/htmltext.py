"""The text of HTML, as a mail or an exported page holds it, without any package that is not installed."""

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
_TAG = re.compile(r"<[^<>]*>")
_SPACES = re.compile(r"[ \t\r\n\xa0]+")


def text_of(html: str) -> str:
    """Blocks on lines of their own, headings and list items marked as in Markdown, links by their words."""
    parser = _Text()
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
        """Begin a block, or something that is not shown."""
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in _BLOCKS:
            self.parts.append("\n" if tag in ("br", "tr", "li") else "\n\n")
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
            self.parts.append("\n\n")
        if tag == "pre":
            self._kept = max(0, self._kept - 1)

    def handle_data(self, data: str) -> None:
        """Text, with its spaces run together outside of `pre`."""
        if self._unseen:
            return
        text = data if self._kept else _SPACES.sub(" ", data)
        if not self._kept and (not self.parts or self.parts[-1].endswith(("\n", " "))):
            text = text.lstrip(" ")
        if text:
            self.parts.append(text)
