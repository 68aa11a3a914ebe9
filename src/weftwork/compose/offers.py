"""Documents with their hits, and the parts of each that may be shown.

The values inside one document: a hit counts its score, each further one a little less; a window around a hit, its
section and the whole of a short document a share of the value of the hit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from weftwork.compose.reading import Reading
from weftwork.types import (
    SECTIONS,
    Candidate,
    Excerpt,
    Fate,
    Form,
    Kind,
    NodeInfo,
    Outline,
    OutlineNode,
    shown_fields,
)

AGAIN = 0.985
"""The weight of each further hit of one document beside the one before it."""
AROUND: Mapping[Form, float] = {"window": 0.80, "section": 0.70, "whole": 0.60}
"""The value of a hit's surroundings, as a share of its score."""
MOST_AROUND = 0.4
"""The share of a budget that the surroundings of one hit may take; up to twice as much fills what is left."""
EVIDENCE: frozenset[Kind] = frozenset({"words", "vector", "link_rank", "keywords", "due", "reference"})
"""Kinds of findings that give the surroundings of a passage a value."""
HISTORY = "history"
_EARLY = datetime.min.replace(tzinfo=UTC)
PINNED = 2.0
"""The score of pinned parts: above all others."""
_Part = tuple[Candidate, float, Form, tuple[int, ...]]
"""A hit, the score of a part of its document, the form that this gives the document, and its passages."""


@dataclass(slots=True)
class Choice:
    """A part of a document that may be shown; it has its price once that is known, its fate once it is packed.

    Nobody changes one. It is not frozen, since that makes a sixfold slower constructor, and a request makes hundreds.
    """

    candidate: Candidate
    """The hit that it is, or that it stands around."""
    tokens: int
    """Tokens that it adds to the text, without the heading of its document."""
    score: float
    form: Form = "hits"
    """The form that its document has with it."""
    document: str = ""
    """The document that it is a part of, within its section; empty if it stands alone."""
    heading: int = 0
    """Tokens of the document's heading, spent once, with the first part that is taken."""
    after: int | None = None
    """The position of the choice without which it makes no sense, among those of its document until it is priced."""
    line_price: Callable[[], int] | int | None = None
    """Tokens of its document as one line, or a function that counts them; None where there is no such form."""
    pinned: bool = False
    """True if it was asked for: it is packed before all others."""
    keys: tuple[int, ...] = ()
    """The passages that it adds."""
    fate: Fate = "dropped"
    reason: str = ""
    spent: int = 0
    """Tokens that it took of the room."""
    missing_tokens: int | None = None
    """Tokens that it lacked, when its turn came, to be taken whole; None if size was not the reason."""
    excerpt: Excerpt | None = None
    """Its document with a shorter version of it, if that was made."""

    @property
    def line(self) -> int | None:
        """Tokens of its document as one line; None where there is no such form."""
        return self.line_price() if callable(self.line_price) else self.line_price

    @property
    def section(self) -> str:
        """The section that it would stand in."""
        return self.candidate.section

    @property
    def group(self) -> tuple[str, str]:
        """Equal for the parts of one document in one section."""
        candidate = self.candidate
        return candidate.section, self.document or f"{candidate.passage.citation}\0{candidate.node.id}"


@dataclass(slots=True)
class Offer:
    """A document in a section, with its hits and the parts that may be shown."""

    section: str
    reading: Reading
    hits: dict[int, Candidate]
    """By the keys of their passages, the best first."""
    parts: list[Choice] = field(default_factory=list)

    @property
    def document(self) -> NodeInfo:
        """The document itself."""
        return self.reading.outline.head

    @property
    def best(self) -> Candidate:
        """The best that was found in it."""
        return next(iter(self.hits.values()))

    @property
    def is_pinned(self) -> bool:
        """True if something of it was asked for."""
        return any(part.pinned for part in self.parts)


def group(candidates: Sequence[Candidate], *, by_document: bool) -> dict[tuple[str, str], list[Candidate]]:
    """Group candidates by section and document, the best first; a document goes to its first section."""
    homes: dict[str, str] = {}
    for candidate in candidates:
        name = _document(candidate, by_document)
        home = homes.get(name)
        if candidate.section != HISTORY and (home is None or _rank(candidate.section) < _rank(home)):
            homes[name] = candidate.section
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in candidates:
        name = _document(candidate, by_document)
        section = HISTORY if candidate.section == HISTORY else homes[name]
        placed = candidate if candidate.section == section else replace(candidate, section=section)
        groups.setdefault((section, name), []).append(placed)
    return groups


def _document(candidate: Candidate, by_document: bool) -> str:
    if candidate.key < 0 and candidate.section == HISTORY:
        return ""
    return (candidate.document if by_document else "") or candidate.node.id


def _rank(section: str) -> int:
    return SECTIONS.index(section) if section in SECTIONS else len(SECTIONS)


def alone(candidates: Sequence[Candidate]) -> Outline:
    """An outline of just these passages, where a document is not stored or too large to be read."""
    lines = tuple(outline_nodes(candidates, depth=0))
    head = next(candidate for candidate in candidates if candidate.node.id == lines[0].id)
    return Outline(head.node, head.trail, lines)


def outline_nodes(candidates: Sequence[Candidate], depth: int) -> Iterator[OutlineNode]:
    """The nodes of these passages in the order of their dates and positions."""
    nodes: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=_by_date):
        nodes.setdefault(candidate.node.id, []).append(candidate)
    for members in nodes.values():
        node, ordered = members[0].node, sorted(members, key=lambda member: member.passage.ordinal)
        keys, tokens = tuple(member.key for member in ordered), tuple(member.passage.tokens for member in ordered)
        yield OutlineNode(node.id, node.type, node.title, depth, keys, tokens)


def _by_date(candidate: Candidate) -> tuple[bool, datetime, int, str]:
    """Sort key by the date of messages; nodes that are not stored come last, by position."""
    node, stored = candidate.node, candidate.key > 0
    sent = node.created_at if stored and node.type == "message" else None
    return (not stored, sent or _EARLY, node.position, node.id)


def offer(
    section: str,
    reading: Reading,
    hits: Sequence[Candidate],
    *,
    whole: bool = False,
    budget: int = 4000,
    elsewhere: Collection[int] = (),
) -> Offer:
    """The parts of a document that may be shown: its hits, what surrounds them, and pinned nodes.

    Passages that are offered `elsewhere`, in another section, are not offered here again.
    """
    places = reading.place
    readable = {hit.passage.key: hit for hit in hits if hit.passage.key in places}
    asked = [hit for hit in readable.values() if hit.asked]
    pinned = list(_pinned(reading, asked, elsewhere)) if asked else []
    covered = {key for part in pinned for key in part.keys}
    most = int(MOST_AROUND * budget)
    if len(readable) == 1 and not (pinned or whole or elsewhere):
        return Offer(section, reading, readable, _of_one(reading, next(iter(readable.values())), most))
    drafts: list[_Part] = []
    for place, hit in enumerate([hit for key, hit in readable.items() if key not in covered]):
        drafts += _parts(reading, hit, AGAIN**place, whole=whole, most=most, elsewhere=elsewhere)
    return Offer(section, reading, readable, _increments(reading, pinned, drafts, elsewhere))


def _of_one(reading: Reading, hit: Candidate, most: int) -> list[Choice]:
    """The parts of a document with a single hit: the same as `_increments`, which then depend on its score alone."""
    own, worth = hit.passage.key, hit.score
    first = own if has_fields(hit) or hit.levels == 0 else reading.beginning(own)
    parts = [Choice(hit, 0, worth, keys=(first,))]
    if not EVIDENCE.isdisjoint([finding.kind for finding in hit.findings]):
        for form, keys, tokens in reading.growing(own, first, 2 * most):
            parts.append(Choice(hit, 0, _share(form, tokens, most) * worth, form, after=len(parts) - 1, keys=keys))
    return parts


def _pinned(reading: Reading, hits: Iterable[Candidate], elsewhere: Collection[int]) -> Iterator[Choice]:
    """Nodes that were asked for, with all that is below them, each once."""
    covered: set[int] = set()
    for place, hit in enumerate(hit for hit in hits if hit.asked):
        position = reading.owner[hit.key]
        below = [key for key in reading.below(position, hit.levels) if key not in elsewhere]
        # It is there even if it has no words of its own.
        keys = tuple(key for key in below if key == hit.key or reading.says(key))
        if covered.issuperset(keys):
            continue
        covered.update(keys)
        form: Form = "whole" if position == 0 else "section"
        yield Choice(hit, 0, PINNED - place / 1000, form, pinned=True, keys=keys)


def _parts(
    reading: Reading, hit: Candidate, weight: float, *, whole: bool, most: int, elsewhere: Collection[int] = ()
) -> list[_Part]:
    """A hit and its surroundings, as long as these are not most of the budget."""
    worth, own = weight * hit.score, hit.passage.key
    if whole:
        return [(hit, worth, "hits", reading.node_of(own).keys)]
    first = own if has_fields(hit) or hit.levels == 0 else reading.beginning(own)
    parts: list[_Part] = [(hit, worth, "hits", (own if first in elsewhere else first,))]
    if not EVIDENCE.isdisjoint([finding.kind for finding in hit.findings]):
        parts += [
            (hit, _share(form, tokens, most) * worth, form, keys)
            for form, keys, tokens in reading.around(own)
            if tokens <= 2 * most
        ]
    return parts


def _share(form: Form, tokens: int, most: int) -> float:
    """The value of surroundings, as a share of their hit's: less in proportion if they are larger than most."""
    return AROUND[form] * (1.0 if tokens <= most else most / tokens)


def has_fields(candidate: Candidate) -> bool:
    """Return True if a node has a shown field with a value."""
    fields = candidate.node.fields
    return bool(fields) and any([value is not None for value in shown_fields(fields).values()])


def _increments(
    reading: Reading, pinned: Sequence[Choice], drafts: Sequence[_Part], elsewhere: Collection[int]
) -> list[Choice]:
    """The parts in the order of their scores, each with only the passages that none before it has.

    A hit stays a part of its own, worth at least as much as in the surroundings of a better hit.
    """
    hits = {keys[0] for _, _, form, keys in drafts if form == "hits"}
    lifted: dict[int, float] = {}
    for _, score, _, keys in drafts:
        for key in hits.intersection(keys):
            if score > lifted.get(key, -1.0):
                lifted[key] = score
    separate = {keys[0] for _, _, form, keys in drafts if form == "hits" and len(keys) == 1} | set(elsewhere)
    covered: set[int] = set()
    last: dict[int, int] = {}
    said = reading.said
    parts: list[Choice] = []
    ranked = [(lifted[keys[0]] if form == "hits" else score, hit, form, keys) for hit, score, form, keys in drafts]
    ranked.sort(key=lambda entry: -entry[0])
    for place, (score, hit, form, keys) in enumerate(
        [(part.score, part.candidate, part.form, part.keys) for part in pinned] + ranked
    ):
        is_pinned = place < len(pinned)
        if form == "hits" or is_pinned:
            new = keys if covered.isdisjoint(keys) else tuple([key for key in keys if key not in covered])
        else:
            new = said(keys)
            if not (covered.isdisjoint(new) and separate.isdisjoint(new)):
                new = tuple([key for key in new if key not in covered and key not in separate])
        if new:
            covered.update(new)
            own = hit.passage.key
            parts.append(Choice(hit, 0, score, form, after=last.get(own), pinned=is_pinned, keys=new))
            last[own] = len(parts) - 1
    return parts
