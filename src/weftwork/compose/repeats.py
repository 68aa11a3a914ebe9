"""Exact repeats: one of several equal passages stays, with a note on where else it stands.

Two passages are one only if their words are the same, and nothing that tells them apart differs: title, what they stand
under in their document, fields, dates, speaker, owner. The oldest stays: nobody can displace it by adding a copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from weftwork.collect.inquiry import Inquiry
from weftwork.types import Candidate, Decision, shown_fields

FEWEST_WORDS = 4
"""Shorter texts, such as "yes" or "see above", may well be meant twice."""
GIVEN = "the reader has it from an earlier turn"
_AROUND_WORDS = ".,;:!?\"'()[]*_"
_LATE = datetime.max.replace(tzinfo=UTC)


def without_repeats(
    candidates: Sequence[Candidate], apart: Collection[str] = ()
) -> tuple[list[Candidate], list[Decision]]:
    """Keep one of each group of repeats, in the place of the group's best.

    Nodes that are pinned, due, near the focus, in a conversation or in `apart` are never repeats.
    """
    groups: dict[object, list[Candidate]] = {}
    # Most differ in this much already, and their texts need not be compared.
    suspects = _alike(_alike(candidates, _first_word), _beginning)
    for candidate in candidates:
        alone = candidate.passage.key not in suspects or candidate.node.id in apart or _never_repeats(candidate)
        groups.setdefault(candidate.passage.key if alone else _repeat_key(candidate), []).append(candidate)
    remaining: list[Candidate] = []
    left_out: list[Decision] = []
    for members in groups.values():
        if len(members) == 1:
            remaining += members
            continue
        first = min(members, key=lambda member: (member.node.created_at or _LATE, member.node.id))
        others = [member for member in members if member is not first]
        best = max(member.score for member in members)
        also = tuple(dict.fromkeys(where for member in others if (where := _where(member)) != _where(first)))
        places = f"also in: {'; '.join(also[:3])}" if also else ""
        first = replace(first, score=best, note="; ".join(filter(None, (first.note, places))))
        remaining.append(first)
        reason = f"a repeat of [{first.passage.citation}]"
        left_out += [Decision.on(member, "dropped", reason) for member in others]
    return remaining, left_out


def without_given(inquiry: Inquiry, candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Decision]]:
    """Leave out what the reader has from earlier turns."""
    given = inquiry.given_keys
    repeated = [candidate for candidate in candidates if candidate.key in given]
    decisions = [Decision.on(candidate, "dropped", GIVEN) for candidate in repeated]
    return (
        ([candidate for candidate in candidates if candidate.key not in given], decisions)
        if given
        else (list(candidates), [])
    )


def _alike(
    candidates: Sequence[Candidate] | Mapping[int, Candidate], of: Callable[[Candidate], object]
) -> dict[int, Candidate]:
    """The candidates that share what it gives with another one, by key; None is shared with nothing."""
    members = candidates.values() if isinstance(candidates, Mapping) else candidates
    parts = [of(candidate) for candidate in members]
    counts = Counter(parts)
    return {
        candidate.passage.key: candidate
        for candidate, part in zip(members, parts, strict=True)
        if part is not None and counts[part] > 1
    }


def _first_word(candidate: Candidate) -> tuple[str, ...] | None:
    """Less than the beginning, for a quarter of its cost."""
    words = candidate.passage.text.split(None, 1)
    return (candidate.node.type, candidate.node.title.casefold(), _plain_word(words[0])) if words else None


def _beginning(candidate: Candidate) -> tuple[str, ...] | None:
    """A part of the key by which repeats are equal that costs little; None if the text is too short to repeat."""
    words = candidate.passage.text.split(None, FEWEST_WORDS)[:FEWEST_WORDS]
    if len(words) < FEWEST_WORDS:
        return None
    return (candidate.node.type, candidate.node.title.casefold(), *map(_plain_word, words))


def _plain_word(word: str) -> str:
    return word.casefold().strip(_AROUND_WORDS)


def _never_repeats(candidate: Candidate) -> bool:
    kinds = {finding.kind for finding in candidate.findings}
    return candidate.asked or candidate.section == "history" or bool(kinds & {"due", "focus", "reference", "history"})


def _repeat_key(candidate: Candidate) -> tuple[object, ...]:
    """The key by which repeats are equal."""
    node = candidate.node
    return (
        " ".join(map(_plain_word, candidate.passage.text.split())),
        node.type,
        node.title.casefold(),
        tuple(sorted((name, str(value)) for name, value in shown_fields(node.fields).items())),
        node.valid_from,
        node.valid_until,
        node.conversation,
        node.owner,
        tuple(title.casefold() for title in candidate.trail[: candidate.depth]),
    )


def _where(candidate: Candidate) -> str:
    return " › ".join(filter(None, (*reversed(candidate.trail[:2]), candidate.node.title)))
