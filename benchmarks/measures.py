"""Measures of the text of a context: pure functions of what is shown and of what the sources say.

Texts are compared as sequences of words, without case and without any mark, so that quoting, escaping, emphasis,
bullets and brackets make no difference. A line of a context is

  heading   outside of quotes and fences, and begins with # or carries a citation id
  quoted    begins with > or stands inside a fence; the mark and citation ids are taken away
  plain     anything else

Quoted and plain lines are looked up in the sources; where a line as a whole is nowhere, its sentences are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

from weftwork.evaluate.metrics import Span, intersection, merged

ENOUGH = 900
"""Characters of words of a long document that count as all of it, about 150 words."""
TELLING = 3
"""Words from which on a line says where it comes from."""
REPEATABLE = 4
"""Words from which on a line should not stand in a context twice."""
MOST = 20
"""Places at which the same words are looked for."""

_WORD = re.compile(r"[^\W_]+")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_QUOTE = re.compile(r"(?:> ?)+")
_CITED = re.compile(r"\[([a-z0-9][a-z0-9-]*)\]")
_PARTS = re.compile(r"\[?(?:…|\.\.\.)\]?|(?<=\D[.!?:])\s+")
_FIELDS = re.compile(r"\s[|·]\s|;\s")
_FIELD = re.compile(r"[\w -]{1,40}:\s*\S")

Kind = Literal["heading", "quoted", "plain"]


def words(text: str) -> str:
    """The words of a text in lower case, with a space between."""
    return " ".join(_WORD.findall(text.casefold()))


def _length(said: str) -> int:
    """How many words there are."""
    return said.count(" ") + 1 if said else 0


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a context, without its quoting marks and citation ids."""

    kind: Kind
    text: str
    cited: str = ""
    """The first citation id in it."""


def lines_of(text: str, citations: Collection[str] = ()) -> Iterator[Line]:
    """The lines of a context that are not empty."""
    fence = ""
    for raw in text.splitlines():
        mark = _FENCE.match(raw)
        if mark and (not fence or raw.strip() == fence):
            fence = "" if fence else mark[1]
        elif raw.strip():
            yield _line(raw, bool(fence), citations)


def _line(raw: str, fenced: bool, citations: Collection[str]) -> Line:
    quote = None if fenced else _QUOTE.match(raw)
    body = raw[quote.end() :] if quote else raw
    ids = [each for each in _CITED.findall(body) if each in citations]
    plain = _CITED.sub(lambda found: "" if found[1] in citations else found[0], body)
    if fenced or quote:
        return Line("quoted", plain.strip(), ids[0] if ids else "")
    return Line("heading" if ids or raw.startswith("#") else "plain", plain.strip(), ids[0] if ids else "")


class Sources:
    """All documents of a workspace in one sequence of words, and where in it anything stands."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self.names = tuple(documents)
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._starts: list[int] = []
        self._lines: dict[str, list[int]] = {}
        parts: list[str] = []
        place = 0
        for text in documents.values():
            self._starts.append(place)
            parts.append("\n ")
            place += 2
            for line in filter(None, map(words, text.splitlines())):
                self._lines.setdefault(line, []).append(place)
                parts.append(line + " ")
                place += len(line) + 1
        self._text = "".join(parts)
        self._found: dict[str, tuple[int, ...]] = {}

    def find(self, line: str) -> tuple[int, ...]:
        """The first places at which these words stand, as one or more whole lines if they do that anywhere."""
        if line not in self._found:
            known = self._lines.get(line)
            self._found[line] = tuple(known[:MOST]) if known else tuple(self._search(line))
        return self._found[line]

    def _search(self, line: str) -> Iterator[int]:
        place = self._text.find(f" {line} ") if line else -1
        for _ in range(MOST):
            if place < 0:
                return
            yield place + 1
            place = self._text.find(f" {line} ", place + 1)

    def document_at(self, place: int) -> str:
        """The document in which a place is."""
        return self.names[bisect_right(self._starts, place) - 1]

    def span_of(self, document: str) -> Span:
        """From where to where a document goes."""
        number = self._numbers[document]
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._text)
        return self._starts[number] + 2, end - 1

    def span_in(self, document: str, before: str, text: str) -> Span:
        """Where a part of a document's text stands, given what comes before it there."""
        start = self.span_of(document)[0] + (len(words(before)) + 1 if words(before) else 0)
        return start, start + len(words(text))


class Shown:
    """What a text shows of the sources."""

    def __init__(self, text: str, sources: Sources, citations: Collection[str] = (), *, quoted: bool = False) -> None:
        """Read a text; with `quoted`, it has neither headings nor quotes and every line is a source's."""
        self.text = text
        self.sources = sources
        whole = (Line("quoted", each.strip()) for each in text.splitlines() if each.strip())
        self.lines = tuple(whole) if quoted else tuple(lines_of(text, citations))

    @cached_property
    def words(self) -> str:
        """All words of the text, with a space around each."""
        return f" {words(self.text)} "

    @cached_property
    def spans(self) -> list[Span]:
        """Where in the sources stands what is shown."""
        found = [
            (place, place + len(part) + 1)  # with the space behind it, so that consecutive lines are one span
            for line in self.lines
            if line.kind != "heading"
            for part in self._parts(words(line.text), line.text)
            for place in self.sources.find(part)
        ]
        return merged(found)

    def _parts(self, line: str, text: str) -> list[str]:
        """The line where the sources have it, else those of its sentences that they have."""
        if self.sources.find(line):
            return [line]
        parts = [words(part) for part in _PARTS.split(text)]
        return [part for part in parts if _length(part) >= TELLING and self.sources.find(part)]

    def own_words(self, count: Callable[[str], int], total: int) -> float:
        """The share of the tokens that are words of the sources.

        A quoted or plain line counts with all of its tokens if the sources have its words, else its sentences do, or
        its fields (`name: value; name: value`), each by itself; a plain one must have three words. A heading counts
        with those of its fields that the sources have. Quoting marks, citation ids, titles, paths and what stands
        between sources never count.
        """
        if not total:
            return 0.0
        return sum(count(part) for line in self.lines for part in self._own(line)) / total

    def _own(self, line: Line) -> Iterator[str]:
        said = words(line.text)
        if line.kind == "heading":
            fields = (part for part in _FIELDS.split(line.text) if _FIELD.match(part))
            yield from (part for part in fields if self.sources.find(words(part)))
            return
        quoted = line.kind == "quoted"
        if (quoted and not said) or ((quoted or _length(said) >= TELLING) and self.sources.find(said)):
            yield line.text
            return
        split = _FIELDS if ";" in line.text and _FIELD.match(line.text) else _PARTS
        parts = ((part, words(part)) for part in split.split(line.text) if part)
        least = TELLING if split is _PARTS else 2
        yield from (part for part, own in parts if _length(own) >= least and self.sources.find(own))

    def against_order(self, document_of: Callable[[str], str] = str) -> int:
        """How often a line stands after one that follows it in the same document.

        Only lines of three words or more that the sources have exactly once say where they come from; other documents
        may stand in between. `document_of` names the document that a text of the sources is a part of.
        """
        before: dict[str, int] = {}
        turned = 0
        for line in self.lines:
            said = words(line.text)
            places = self.sources.find(said) if line.kind != "heading" and _length(said) >= TELLING else ()
            if len(places) == 1:
                document = document_of(self.sources.document_at(places[0]))
                turned += places[0] < before.get(document, 0)
                before[document] = places[0]
        return turned

    def duplicates(self) -> float:
        """The share of the lines of four words or more that stood there before."""
        said = [words(line.text) for line in self.lines if line.kind != "heading"]
        long = [each for each in said if _length(each) >= REPEATABLE]
        return 1 - len(set(long)) / len(long) if long else 0.0


def repeated_headings(sections: Iterable[Sequence[str]]) -> int:
    """How often a document is headed again in the same section, given the documents of each section's headings."""
    return sum(len(headed) - len(set(headed)) for headed in sections)


class Gold(Protocol):
    """A piece of evidence."""

    def found(self, shown: Shown) -> tuple[float, float]:
        """How much of it is shown, and how much there is."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand where the answer stands."""

    file: str
    text: str

    def found(self, shown: Shown) -> tuple[float, float]:
        """Whether the words are in the text, one after the other."""
        return float(f" {words(self.text)} " in shown.words), 1.0


@dataclass(frozen=True, slots=True)
class Document:
    """A document, all of it or, where it is long, any 150 words."""

    name: str

    def found(self, shown: Shown) -> tuple[float, float]:
        """The share of what would be enough."""
        span = shown.sources.span_of(self.name)
        needed = min(span[1] - span[0], ENOUGH)
        return (min(_covered(shown.spans, [span]) / needed, 1.0) if needed > 0 else 0.0), 1.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """A span of the sources, in characters of words."""

    span: Span

    def found(self, shown: Shown) -> tuple[float, float]:
        """How many of its characters are shown."""
        return float(_covered(shown.spans, [self.span])), float(self.span[1] - self.span[0])


def _covered(spans: Sequence[Span], wanted: Sequence[Span]) -> int:
    return sum(end - start for start, end in intersection(spans, wanted))


def recall(gold: Sequence[Gold], shown: Shown) -> float:
    """The share of the evidence that is shown."""
    found = [each.found(shown) for each in gold]
    return sum(part for part, _ in found) / sum(whole for _, whole in found)
