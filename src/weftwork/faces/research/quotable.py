"""Quotable parts of a page: sentences, lists with what leads to them, and code with the sentence before it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from weftwork.faces.research.values import SourceDocument
from weftwork.render.quote import clean, closes
from weftwork.text.analysis import analyse
from weftwork.text.sentences import split_sentences

FEWEST_WORDS, MOST_WORDS = 4, 120

_FENCE = re.compile(r"[ \t>]*(?:[-*+•]\s+|\d{1,3}[.)]\s+)?(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}\s")
_MARKS = re.compile(r"^(?:[#>\s]+|[-*+•]\s+|\d{1,3}[.)]\s+)+")
_ENTRY = re.compile(r"[ \t>]*(?:[-*+•]|\d{1,3}[.)])\s")
_STEP = re.compile(r"[ \t>]*\d{1,3}[.)]\s")
_UNQUOTED = re.compile(r"\s*(?:\||<!--)")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
"""A Markdown link; a sentence that is nothing else, as in a table of contents, says nothing."""
_BETWEEN = re.compile(r"[-_]+")

Kind = Literal["heading", "prose", "entry", "code", "other"]


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence, or a list in one line, without Markdown's marks around it."""

    text: str
    code: str
    """A block of code that the text leads to; "" for none."""
    number: int
    """Of its source."""
    place: int
    """Among all that can be quoted of the source."""
    words: frozenset[str]
    opens: bool
    """True for the first of the source."""
    above: frozenset[str]
    """Words of the heading that it opens the section of, and of the file's name."""
    parts: frozenset[str] = frozenset()
    """The entries of a list."""

    @property
    def length(self) -> int:
        """The number of its words."""
        return len(self.text.split()) + len(self.code.split())


def quotables(source: SourceDocument, number: int, language: str) -> list[Quotable]:
    """All that can be quoted of a source, in its order: no headings, rules or rows of tables."""
    name = source.filename.rpartition("/")[2].rpartition(".")[0]
    page = _Page(number, language, frozenset(analyse(_BETWEEN.sub(" ", name), language)))
    for kind, text in _blocks(clean(source.markdown_content)):
        page.read(kind, text)
    page.end_list()
    return page.found


def _blocks(text: str) -> Iterator[tuple[Kind, str]]:
    """Paragraphs, entries of lists, headings and code, in order."""
    kind: Kind = "other"
    held: list[str] = []
    fence, blank = "", True
    for line in text.split("\n"):
        if fence:
            if not closes(line.strip(), fence):
                held.append(line)
                continue
            yield kind, "\n".join(held)
            kind, held, fence = "other", [], ""
        elif begins := _FENCE.match(line):
            yield kind, "\n".join(held)
            kind, held, fence = "code", [], begins[1]
        elif _goes_on(line, kind, blank=blank):
            held.append(line)
        else:
            yield kind, "\n".join(held)
            kind, held = _kind(line), [line]
        blank = not line.strip()
    yield kind, "\n".join(held)


def _goes_on(line: str, kind: Kind, *, blank: bool) -> bool:
    """Return True if a line belongs to the block before it."""
    if not line.strip():
        return True
    if _kind(line) != "prose":
        return False
    return (kind == "entry" and (not blank or line[:1] in " \t")) or (kind == "prose" and not blank)


def _kind(line: str) -> Kind:
    if _HEADING.match(line):
        return "heading"
    if _ENTRY.match(line):
        return "entry"
    return "other" if _UNQUOTED.match(line) else "prose"


class _Page:
    """That which was read of a source so far."""

    def __init__(self, number: int, language: str, name: frozenset[str]) -> None:
        self.found: list[Quotable] = []
        self._number, self._language, self._name = number, language, name
        self._heading = ""
        """The heading of a section that begins."""
        self._lead = ""
        """A sentence with a colon at its end."""
        self._entries: list[str] = []

    def read(self, kind: Kind, text: str) -> None:
        """Add what can be quoted of a block."""
        if kind == "entry":
            self._entries += filter(None, [" ".join(_sentences(text, links=_STEP.match(text) is not None))])
        elif kind == "code":
            self._read_code(text)
        else:
            self.end_list()
        if kind == "heading":
            self._heading = _plain(text)
        elif kind == "prose":
            *sentences, last = _sentences(text) or [""]
            for sentence in sentences:
                self._add(sentence)
            if last.endswith(":"):
                self._lead = last
            else:
                self._add(last)
                self._heading = ""

    def end_list(self) -> None:
        """Add the entries of a list, and all of it, which is what the heading names; a lead to nothing stands alone."""
        lead, entries, heading = self._lead, self._entries, self._heading
        self._lead, self._entries, self._heading = "", [], ""
        for entry in entries:
            for sentence in split_sentences(entry):
                self._add(sentence.text)
        self._heading = heading
        shown = _first(entries, MOST_WORDS - len(lead.split()))
        if shown and (lead or len(entries) > 1):
            joined = "; ".join(entry.rstrip(".;,") for entry in shown)
            self._add(f"{lead} {joined}".strip(), parts=entries)
        elif lead:
            self._add(lead)
        if lead:
            self._heading = ""

    def _read_code(self, code: str) -> None:
        """Add a block of code behind the sentence, entry or heading that leads to it."""
        leading = self._lead or (self._entries[-1] if self._entries else "")
        if self._entries:
            self.end_list()
        self._lead = ""
        if len(code.split()) > MOST_WORDS:
            self._add(leading)
        elif leading:
            self._add(leading, code)
        elif self._heading:
            self._add(f"{self._heading}:", code)
        elif self.found and not self.found[-1].code and not self.found[-1].parts:
            last = self.found.pop()
            words = last.words | frozenset(analyse(code, self._language))
            self.found.append(replace(last, code=code, words=words))

    def _add(self, text: str, code: str = "", parts: Sequence[str] = ()) -> None:
        words = analyse(f"{text} {code}" if code else text, self._language)
        if not text or not FEWEST_WORDS <= len(words) <= 2 * MOST_WORDS:
            return
        above = self._name | frozenset(analyse(self._heading, self._language))
        place = len(self.found)
        self.found.append(
            Quotable(text, code, self._number, place, frozenset(words), place == 0, above, frozenset(parts))
        )


def _sentences(text: str, *, links: bool = False) -> list[str]:
    """The sentences of a block without marks; those that are nothing but `links` say nothing, unless they are steps."""
    sentences = (_plain(sentence.text) for sentence in split_sentences(text))
    return [_LINK.sub(r"\1", sentence) for sentence in sentences if links or _LINK.sub("", sentence).strip(" .,;:|-")]


def _plain(text: str) -> str:
    return " ".join(_EMPHASIS.sub("", _MARKS.sub("", text)).split())


def _first(entries: Sequence[str], most: int) -> Sequence[str]:
    """The first entries that have at most so many words together."""
    for count, entry in enumerate(entries):
        most -= len(entry.split())
        if most < 0:
            return entries[:count]
    return entries
