"""How well a passage answers the query together with what stands before and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from weftwork.score.fusion import found_by_words, fuse
from weftwork.types import Candidate

if TYPE_CHECKING:
    from weftwork.score.facts import Facts

REACH = 2
WEIGHTS = {-1: 0.6, 1: 0.4, -2: 0.3, 2: 0.2}
"""What a neighbour's relevance counts, by its place: the turn before, which often asks what this one answers, most."""

NEXT_IN_TEXT = 0.25
"""What is known of a passage counts for the one before and the one after it in the same text."""

Around = Mapping[int, Sequence[tuple[int, int]]]


def windows(candidates: Sequence[Candidate], similarities: Mapping[int, float], around: Around) -> dict[int, float]:
    """For each candidate by key, 1 − Π(1 − weight · relevance) over itself and its neighbours.

    Words count in proportion to the best match, so that a match among many weak ones stands out.
    """
    words = {candidate.key: found_by_words(candidate) for candidate in candidates}
    best = max(words.values(), default=0.0) or 1.0
    own = {key: fuse(score / best, similarities.get(key, 0.0)) for key, score in words.items()}
    return {key: _together(key, own, around) for key in own}


def with_text_around(candidates: Sequence[Candidate], own: Mapping[int, float]) -> dict[int, float]:
    """What is known of each passage and of those right before and after it in the same text, where they were found."""
    places = {(each.node.id, each.passage.ordinal): each.key for each in candidates}
    found = dict(own)
    for (node, ordinal), key in places.items():
        for other in (places.get((node, ordinal - 1)), places.get((node, ordinal + 1))):
            if other is not None:
                found[key] = 1.0 - (1.0 - found[key]) * (1.0 - NEXT_IN_TEXT * own[other])
    return found


def with_turns(own: Mapping[int, float], around: Around) -> dict[int, float]:
    """What is known of each turn together with the turns around it; the best is worth no more than the best was."""
    found = {key: _together(key, own, around) for key in around if key in own}
    most = max(found.values(), default=0.0)
    scale = max(own[key] for key in found) / most if most else 0.0
    return {key: value * scale for key, value in found.items()}


def _together(key: int, own: Mapping[int, float], around: Around) -> float:
    missed = 1.0 - own[key]
    for offset, other in around.get(key, ()):
        missed *= 1.0 - WEIGHTS[offset] * own.get(other, 0.0)
    return 1.0 - missed


def window(candidate: Candidate, facts: Facts) -> float | None:
    """The passage's relevance with its neighbours', as two more reasons to want it."""
    return facts.windows.get(candidate.key)
