"""Near-duplicates: of several passages that say the same in the same words, the newest stays."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from weftwork.types import Candidate

ALIKE = 0.9
"""Share of common three-word sequences from which two passages count as the same."""
MARKS = 4
"""Longest words that two near-duplicates are expected to share at least one of."""

_NUMBER = re.compile(r"\d[\d.,:/-]*")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A candidate that was left out before packing, mostly because another one says the same."""

    candidate: Candidate
    kept: Candidate | None = None
    reason: str = ""
    """Why, where it is not that the one that is kept says the same."""


def collapse(candidates: Sequence[Candidate], apart: Collection[str] = ()) -> tuple[list[Candidate], list[Collapsed]]:
    """Keep the newest of each group of near-duplicates, in the place of the group's best.

    What was said in a conversation stays: a second "yes" answers another question. So does what is `apart`, by
    the ids of nodes.
    """
    groups = _groups(
        [[] if each.section == "history" or each.node.id in apart else _words(each) for each in candidates]
    )
    kept: list[Candidate] = []
    dropped: list[Collapsed] = []
    for members in groups:
        newest = max((candidates[index] for index in members), key=_freshness)
        kept.append(newest)
        dropped += [Collapsed(candidates[index], newest) for index in members if candidates[index] is not newest]
    return kept, dropped


def _freshness(candidate: Candidate) -> tuple[datetime, float, str]:
    """Newest first; among equally new ones the better, then by id."""
    return (candidate.node.updated_at or _LONG_AGO, candidate.score, candidate.passage.citation)


def _words(candidate: Candidate) -> list[str]:
    return candidate.passage.text.lower().split()


def _groups(texts: Sequence[list[str]]) -> list[list[int]]:
    """Indexes grouped by likeness to the first of their group; texts without words stay alone."""
    groups: list[list[int]] = []
    marked: dict[str, list[int]] = {}
    shingles: dict[int, frozenset[tuple[str, ...]]] = {}
    for index, words in enumerate(texts):
        marks = sorted(sorted(set(words)), key=len, reverse=True)[:MARKS]
        home = None
        for group in sorted({group for mark in marks for group in marked.get(mark, ())}):
            first = groups[group][0]
            if _alike(texts, shingles, first, index):
                home = group
                break
        if home is not None:
            groups[home].append(index)
            continue
        groups.append([index])
        for mark in marks:
            marked.setdefault(mark, []).append(len(groups) - 1)
    return groups


def _alike(texts: Sequence[list[str]], shingles: dict[int, frozenset[tuple[str, ...]]], left: int, right: int) -> bool:
    if texts[left] == texts[right]:
        return True
    if min(len(texts[left]), len(texts[right])) < ALIKE * max(len(texts[left]), len(texts[right])):
        return False
    for index in (left, right):
        if index not in shingles:
            words = texts[index]
            shingles[index] = frozenset(zip(words, words[1:], words[2:], strict=False))
    shared, union = len(shingles[left] & shingles[right]), len(shingles[left] | shingles[right])
    return union > 0 and shared / union >= ALIKE and _numbers(texts[left]) == _numbers(texts[right])


def _numbers(words: list[str]) -> list[str]:
    """Rows of a table differ in little else."""
    return _NUMBER.findall(" ".join(words))
