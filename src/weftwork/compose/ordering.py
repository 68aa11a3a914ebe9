"""The final order of scored candidates: a limit, a custom ranking, and contradictions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from weftwork.collect.inquiry import Inquiry
from weftwork.collect.related import CONTRADICTS
from weftwork.compose.offers import has_fields
from weftwork.compose.repeats import without_repeats
from weftwork.compose.views import WEIGHT, is_view
from weftwork.score.support import support
from weftwork.text.analysis import only_repeats
from weftwork.types import CONTAINERS, SEARCHED, Candidate, Decision, Kind, NodeInfo

BOUNDED: frozenset[Kind] = SEARCHED | {"link_rank", "adjacent"}
"""Kinds of findings that a document needs enough evidence for; others were asked for or belong to the moment."""
Ordered = tuple[list[Candidate], list[Decision]]
"""The candidates that stay, the best first, and those left out, with the reason."""
Order = Callable[[Inquiry, Sequence[Candidate]], Ordered]
"""Takes the place of `collapsed`, and leaves out repeats as well."""

BY_SETTINGS = "the settings leave out"
"""The beginning of the reason for what `WithoutFolders` leaves out."""
STEP = 1e-9
MOST_EDGES = 1_000
"""The heaviest edges of a node among which its contradictions are looked for."""
COUNTED: frozenset[Kind] = SEARCHED | {"adjacent"}
"""Kinds of findings that count towards a limit."""
_ENTRY = re.compile(r"(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:\[[^\]]*\]\(#[^)]*\)|\[\[#[^\]]+\]\])")
"""A line that only links to a heading of the same document."""
_EARLY = datetime.min.replace(tzinfo=UTC)


def collapsed(inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
    """The candidates in the order of their scores, repeats left out: the order of most recipes."""
    return without_repeats(candidates)


def as_scored(inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
    """All candidates in the order of their scores: the order of a search."""
    return list(candidates), []


@dataclass(frozen=True, slots=True)
class Supported:
    """The order of a search by words and meaning: nothing where it has meaning alone, with too little support."""

    least: float

    def __call__(self, inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
        """All candidates in the order of their scores, or none."""
        reached = None if any(each.found_as("words", "fuzzy") for each in candidates) else support(inquiry)
        if reached is None or reached >= self.least:
            return list(candidates), []
        reason = f"no word of the query, and its support is {reached:.2f}, below {self.least:.2f}"
        return [], [Decision.on(candidate, "dropped", reason) for candidate in candidates]


@dataclass(frozen=True, slots=True)
class WithoutFolders:
    """An order that leaves out what stands in some folders, such as templates, unless it was asked for."""

    folders: tuple[str, ...]
    """Titles of folders; case does not matter."""

    def __call__(self, inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
        """The other candidates in the order of their scores, repeats left out."""
        names = {folder.strip("/").casefold() for folder in self.folders}
        remaining, left_out = [], []
        for candidate in candidates:
            above = next((title for title in candidate.trail if title.casefold() in names), None)
            if above is None or candidate.asked:
                remaining.append(candidate)
            else:
                left_out.append(Decision.on(candidate, "dropped", f"{BY_SETTINGS} what stands in {above!r}"))
        kept, repeats = without_repeats(remaining)
        return kept, left_out + repeats


@dataclass(frozen=True, slots=True)
class WithEvidence:
    """An order that lowers documents that searches and links found with much less evidence than the best.

    Those with hardly any are left out. The bounds are for documents, not for passages: what else was found in one that
    answers may complete the answer. What the reader has already sets them; the rest of its document has to reach them
    by itself.
    """

    share: float = 0.65
    """The least evidence of a document, as a share of that of the best; 0 keeps everything."""
    noise: float | None = None
    """A smaller share, from which on documents fill what the others leave; None for `share` itself."""
    tasks_alone: bool = True
    """True leaves out other hits where the question asks for tasks in a state, and there are some."""

    def __call__(self, inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
        """The candidates with enough evidence in the order of their scores, repeats left out."""
        candidates, echoes = _without_echoes(inquiry, candidates)
        given = inquiry.given_keys
        strengths = list(zip(candidates, _strengths(inquiry, candidates), strict=True))
        evidence = missing = _best_of_documents(strengths)
        if given:
            missing = _best_of_documents([pair for pair in strengths if pair[0].key not in given])
        quotable = {each.document or each.node.id for each in candidates if not nothing_to_quote(each)}
        best = max((evidence[document] for document in quotable), default=0.0)
        noise = self.share if self.noise is None else self.noise
        least, bound = self.share * best, noise * best
        question = inquiry.question
        in_state = self.tasks_alone and question.state is not None and not question.beside_state
        in_state = in_state and any(map(_is_due, candidates))
        remaining, left_out = [], []
        for candidate in candidates:
            found = (evidence if candidate.key in given else missing)[candidate.document or candidate.node.id]
            if not BOUNDED.issuperset([finding.kind for finding in candidate.findings]):
                remaining.append(candidate)
            elif in_state and self.share:
                reason = f"the question asks for tasks that are {question.state}, and there are some"
                left_out.append(Decision.on(candidate, "dropped", reason))
            elif found >= bound:
                weight = WEIGHT if is_view(candidate, question) else 1.0
                remaining.append(_lowered(candidate, weight * (1.0 if found >= least else found / least)))
            else:
                reason = f"its document has evidence {found:.2f}, below {bound:.2f}, a share {noise:g} of the best"
                left_out.append(Decision.on(candidate, "dropped", reason))
        remaining.sort(key=lambda each: -each.score)
        kept, repeats = without_repeats(remaining)
        return kept, echoes + left_out + repeats


def _lowered(candidate: Candidate, share: float) -> Candidate:
    """The candidate behind those with enough evidence; "rank" keeps the former score."""
    if share == 1.0:
        return candidate
    return replace(candidate, score=share * candidate.score, signals={"rank": candidate.score, **candidate.signals})


def _best_of_documents(strengths: Iterable[tuple[Candidate, float]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for candidate, strength in strengths:
        document = candidate.document or candidate.node.id
        if strength > best.setdefault(document, 0.0):
            best[document] = strength
    return best


@dataclass(frozen=True, slots=True)
class Ordering:
    """An order of at most `limit` hits, with contradicting nodes side by side."""

    limit: int | None = None
    """The most nodes; those that only edges lead to do not count."""
    by: str = "fused"
    """The signal that decides who is within the limit."""
    contradictions: Literal["both", "newer"] | None = "both"
    """"both" shows the sides of a contradiction with their dates, the newer first; "newer" shows that one alone;
    None leaves everything where it is."""
    rank: Order | None = None
    """A ranking to put in place of the profile's."""

    def __call__(self, inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
        """The candidates in their final order, their scores falling along it."""
        pairs = _contradictions(inquiry, candidates) if self.contradictions else []
        # One word can be all that two memories contradict each other by: they are no duplicates.
        remaining, left_out = without_repeats(candidates, apart={name for pair in pairs for name in pair.names})
        remaining, beyond = self._limited(remaining, pairs)
        left_out += beyond
        if self.rank is not None:
            remaining, dropped = self.rank(inquiry, remaining)
            left_out += dropped
        present = {candidate.node.id for candidate in remaining}
        pairs = [pair for pair in pairs if present >= pair.names]
        if not pairs:
            return remaining, left_out
        if self.contradictions == "newer":
            remaining, older = _newer_only(remaining, pairs)
            return remaining, left_out + older
        return with_descending_scores(_side_by_side(remaining, pairs)), left_out

    def _limited(self, candidates: Sequence[Candidate], pairs: Iterable[_Pair]) -> Ordered:
        """The best nodes, those linked to them, and those that contradict them."""

        def worth(candidate: Candidate) -> tuple[float, float, str]:
            value = candidate.signals.get(self.by)
            return (0.0 if value is None else -value, -candidate.score, candidate.passage.citation)

        best = list(dict.fromkeys(hit.node.id for hit in sorted(filter(_is_counted, candidates), key=worth)))
        selected = set(best[: self.limit])
        # What something other than a search or a contradiction led to is not limited.
        others = (*COUNTED, "contradiction")
        selected |= {each.node.id for each in candidates if any(by.kind not in others for by in each.findings)}
        selected |= {name for pair in pairs if selected & pair.names for name in pair.names}
        within: list[Candidate] = []
        beyond: list[Decision] = []
        for candidate in candidates:
            if candidate.node.id in selected:
                within.append(candidate)
            elif _is_counted(candidate):
                beyond.append(Decision.on(candidate, "dropped", f"beyond the limit of {self.limit}"))
            else:
                beyond.append(Decision.on(candidate, "dropped", "what it contradicts is not there"))
        return within, beyond


@dataclass(frozen=True, slots=True)
class _Pair:
    newer: NodeInfo
    older: NodeInfo

    @property
    def names(self) -> frozenset[str]:
        return frozenset((self.newer.id, self.older.id))


def with_descending_scores(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Raise scores where needed so that they fall along the order; "rank" keeps the former value."""
    ordered: list[Candidate] = []
    for candidate in reversed(candidates):
        if not ordered or candidate.score > ordered[-1].score:
            ordered.append(candidate)
        else:
            signals = {"rank": candidate.score, **candidate.signals}
            ordered.append(replace(candidate, score=ordered[-1].score + STEP, signals=signals))
    return ordered[::-1]


def _strengths(inquiry: Inquiry, candidates: Sequence[Candidate]) -> list[float]:
    """The evidence of each candidate; what a reranker lifts has as much as the hits whose place it takes."""
    strengths = [_evidence(inquiry, candidate) for candidate in candidates]
    reranked = [place for place, candidate in enumerate(candidates) if "rerank" in candidate.signals]
    if not reranked:
        return strengths
    by_reranker = sorted(reranked, key=lambda place: -(candidates[place].signals["rerank"] or 0.0))
    lifted = dict(zip(by_reranker, sorted((strengths[place] for place in reranked), reverse=True), strict=True))
    return [max(strength, lifted.get(place, 0.0)) for place, strength in enumerate(strengths)]


def _evidence(inquiry: Inquiry, candidate: Candidate) -> float:
    """The evidence of a hit: words and vectors fused, its likeness, or its link score if that is higher."""
    indirect, is_hit = 0.0, False
    for finding in candidate.findings:
        is_hit = is_hit or finding.kind in SEARCHED
        if finding.kind in ("fuzzy", "link_rank") and finding.score > indirect:
            indirect = finding.score
    return max(inquiry.evidence.get(candidate.passage.key, 0.0), indirect) if is_hit else indirect


def _without_echoes(inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
    """Leave out messages that ask the same, which are hits of every search and answer nothing."""
    if not any([candidate.node.type == "message" for candidate in candidates]):
        return list(candidates), []
    query, others, echoes = inquiry.question.text, [], []
    for candidate in candidates:
        is_echo = candidate.node.type == "message" and _is_hit(candidate) and not candidate.asked
        if is_echo and only_repeats(candidate.passage.text, query):
            echoes.append(Decision.on(candidate, "dropped", "it only repeats the question"))
        else:
            others.append(candidate)
    return others, echoes


def nothing_to_quote(candidate: Candidate) -> str:
    """Return why a passage says nothing of its own; "" if it does, or was asked for."""
    text = candidate.passage.text
    if text[:1].isalpha():  # as most begin: neither empty nor an entry of a list
        return ""
    if candidate.asked or has_fields(candidate):
        return ""
    if not text.strip():
        return "a folder, with nothing to quote" if candidate.node.type in CONTAINERS else ""
    lines = (line for line in map(str.strip, text.splitlines()) if line)
    is_contents = all(_ENTRY.fullmatch(line) for line in lines)
    return "a table of contents: it only repeats headings of its document" if is_contents else ""


def _is_due(candidate: Candidate) -> bool:
    """Return True if it is in the state that the question asks for."""
    return candidate.found_as("due") is not None


def _is_hit(candidate: Candidate) -> bool:
    """Return True if a search found it."""
    return candidate.found_as(*SEARCHED) is not None


def _is_counted(candidate: Candidate) -> bool:
    """Return True if a limit counts it: a search found it, or what was said next to it."""
    return candidate.found_as(*COUNTED) is not None


def _contradictions(inquiry: Inquiry, candidates: Sequence[Candidate]) -> list[_Pair]:
    """Pairs of these candidates that contradict each other."""
    infos = {candidate.node.id: candidate.node for candidate in candidates if candidate.key > 0}
    as_of = inquiry.request.filters.as_of
    pairs: dict[frozenset[str], _Pair] = {}
    for edge in inquiry.view.edges(list(infos), limit=MOST_EDGES, as_of=as_of):
        if edge.type == CONTRADICTS and edge.source != edge.target and {edge.source, edge.target} <= infos.keys():
            older, newer = sorted((infos[edge.source], infos[edge.target]), key=_date)
            pair = _Pair(newer, older)
            pairs.setdefault(pair.names, pair)
    return list(pairs.values())


def _date(node: NodeInfo) -> tuple[datetime, datetime, str]:
    return (node.valid_from or node.created_at or _EARLY, node.created_at or _EARLY, node.id)


def _newer_only(candidates: Sequence[Candidate], pairs: Iterable[_Pair]) -> Ordered:
    winners = {pair.older.id: pair.newer.id for pair in pairs}
    first = {candidate.node.id: candidate for candidate in reversed(candidates)}
    remaining = [candidate for candidate in candidates if candidate.node.id not in winners]
    older = [candidate for candidate in candidates if candidate.node.id in winners]
    citations = [first[winners[candidate.node.id]].passage.citation for candidate in older]
    return remaining, [
        Decision.on(candidate, "dropped", f"contradicted by [{citation}], which is newer")
        for candidate, citation in zip(older, citations, strict=True)
    ]


def _side_by_side(candidates: Sequence[Candidate], pairs: Sequence[_Pair]) -> list[Candidate]:
    """Move contradicting candidates to the place of the best of them, the newest first, with their dates."""
    group: dict[str, set[str]] = {}
    for pair in pairs:
        joined = group.get(pair.newer.id, {pair.newer.id}) | group.get(pair.older.id, {pair.older.id})
        group.update(dict.fromkeys(joined, joined))
    placed: list[Candidate] = []
    done: set[str] = set()
    for candidate in candidates:
        if candidate.node.id in done:
            continue
        if candidate.node.id not in group:
            placed.append(candidate)
            continue
        members = [other for other in candidates if other.node.id in group[candidate.node.id]]
        members.sort(key=lambda other: other.passage.ordinal)
        members.sort(key=lambda other: _date(other.node), reverse=True)
        placed += [replace(other, note=_note(other.node, pairs)) for other in members]
        done |= group[candidate.node.id]
    return placed


def _note(node: NodeInfo, pairs: Iterable[_Pair]) -> str:
    """The day of a node and the days of those that it contradicts."""
    others = [pair.older if pair.newer.id == node.id else pair.newer for pair in pairs if node.id in pair.names]
    days = sorted({_day(other) for other in others})
    return f"{_day(node)}, contradicts what was said on {' and '.join(days)}"


def _day(node: NodeInfo) -> str:
    moment = node.valid_from or node.created_at
    return "an unknown day" if moment is None else f"{moment:%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class Best:
    """An order that keeps the first few."""

    limit: int

    def __call__(self, inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
        """The first few, and the others with the reason."""
        reason = f"beyond the limit of {self.limit}"
        return list(candidates[: self.limit]), [
            Decision.on(candidate, "dropped", reason) for candidate in candidates[self.limit :]
        ]
