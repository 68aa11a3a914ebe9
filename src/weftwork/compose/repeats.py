"""Repeats: of several passages that say the same of the same thing, one stays and says where else it stands.

Two passages are one only if their words are the same, and nothing that tells them apart differs: title, what they stand
under in their document, fields, dates, speaker, owner. The oldest stays: nobody can displace it by adding a copy.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from weftwork.types import Candidate, shown_fields

FEWEST_WORDS = 4
"""Shorter texts, such as "yes" or "see above", may well be meant twice."""
_AROUND_WORDS = ".,;:!?\"'()[]*_"
_LATE = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A candidate that was left out before packing, mostly because another one says the same."""

    candidate: Candidate
    kept: Candidate | None = None
    reason: str = ""
    """Why, where it is not that the one that is kept says the same."""


def without_repeats(
    candidates: Sequence[Candidate], apart: Collection[str] = ()
) -> tuple[list[Candidate], list[LeftOut]]:
    """Keep one of each group of repeats, in the place of the group's best.

    What was asked for, is due, is near the focus or was said in a conversation stays, and so do nodes that are `apart`.
    """
    groups: dict[object, list[Candidate]] = {}
    for candidate in candidates:
        alone = candidate.node.id in apart or _stays(candidate)
        groups.setdefault(candidate.key if alone else _said(candidate), []).append(candidate)
    kept: list[Candidate] = []
    left_out: list[LeftOut] = []
    for members in groups.values():
        first = min(members, key=_age)
        others = [each for each in members if each is not first]
        best = max(each.score for each in members)
        also = tuple(dict.fromkeys(where for each in others if (where := _where(each)) != _where(first)))
        if others:
            first = replace(first, score=best, note=_note(first, also))
        kept.append(first)
        left_out += [LeftOut(each, first) for each in others]
    return kept, left_out


def _stays(candidate: Candidate) -> bool:
    kinds = {finding.kind for finding in candidate.findings}
    return (
        candidate.asked
        or candidate.section == "history"
        or bool(kinds & {"due", "focus", "reference", "history"})
        or len(candidate.passage.text.split()) < FEWEST_WORDS
    )


def _said(candidate: Candidate) -> tuple[object, ...]:
    """All that has to be the same in repeats."""
    node = candidate.node
    return (
        " ".join(word.strip(_AROUND_WORDS) for word in candidate.passage.text.casefold().split()),
        node.type,
        node.title.casefold(),
        tuple(sorted((name, str(value)) for name, value in shown_fields(node.fields).items())),
        node.valid_from,
        node.valid_until,
        node.conversation,
        node.owner,
        tuple(title.casefold() for title in candidate.trail[: candidate.depth]),
    )


def _age(candidate: Candidate) -> tuple[datetime, str]:
    """The oldest first; among equally old ones by id."""
    return (candidate.node.created_at or _LATE, candidate.node.id)


def _where(candidate: Candidate) -> str:
    return " › ".join(filter(None, (*reversed(candidate.trail[:2]), candidate.node.title)))


def _note(candidate: Candidate, also: Sequence[str]) -> str:
    said = f"also in: {'; '.join(also[:3])}" if also else ""
    return "; ".join(filter(None, (candidate.note, said)))
