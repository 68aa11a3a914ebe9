"""Signals of a passage together with its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from weftwork.collect.fusion import found_by_words, fuse
from weftwork.embed.card import CAUTIOUS, Trust
from weftwork.types import Candidate

if TYPE_CHECKING:
    from weftwork.score.facts import Facts

REACH = 2
WEIGHTS = {-1: 0.6, 1: 0.4, -2: 0.3, 2: 0.2}
"""Weight of a neighbour by its offset: the turn before, often the question that this one answers, has most."""

NEXT_IN_TEXT = 0.25
"""Weight of the passages right before and after in the same text."""

Around = Mapping[int, Sequence[tuple[int, int]]]


def windows(
    candidates: Sequence[Candidate], similarities: Mapping[int, float], around: Around, trust: Trust = CAUTIOUS
) -> dict[int, float]:
    """Return 1 − Π(1 − weight · relevance) over each candidate and its neighbours, by key.

    Words count in proportion to the best match, so that a match among many weak ones stands out.
    """
    words = {candidate.key: found_by_words(candidate) for candidate in candidates}
    best = max(words.values(), default=0.0) or 1.0
    relevance = {key: fuse(score / best, similarities.get(key, 0.0), trust) for key, score in words.items()}
    return {key: _together(key, relevance, around) for key in relevance}


def with_text_around(candidates: Sequence[Candidate], scores: Mapping[int, float]) -> dict[int, float]:
    """Raise each passage towards a better one right before or after it in its text, and never above that.

    The best passage gains nothing by its neighbours: a long text is no better than a short one.
    """
    places = {(candidate.node.id, candidate.passage.ordinal): candidate.key for candidate in candidates}
    combined = dict(scores)
    for (node, ordinal), key in places.items():
        for other in (places.get((node, ordinal - 1)), places.get((node, ordinal + 1))):
            if other is not None and scores[other] > combined[key]:
                raised = 1.0 - (1.0 - combined[key]) * (1.0 - NEXT_IN_TEXT * scores[other])
                combined[key] = min(raised, scores[other])
    return combined


def other_turns(nodes: Mapping[int, str], around: Around) -> dict[int, list[tuple[int, int]]]:
    """The neighbours that are other turns: passages of one long message do not lift each other."""
    return {
        key: [(offset, other) for offset, other in others if nodes.get(other) != nodes.get(key)]
        for key, others in around.items()
    }


def with_turns(scores: Mapping[int, float], around: Around) -> dict[int, float]:
    """Combine each turn's score with its neighbours'; rescale so that the maximum does not rise."""
    combined = {key: _together(key, scores, around) for key in around if key in scores}
    most = max(combined.values(), default=0.0)
    scale = max(scores[key] for key in combined) / most if most else 0.0
    return {key: value * scale for key, value in combined.items()}


def _together(key: int, scores: Mapping[int, float], around: Around) -> float:
    missed = 1.0 - scores[key]
    for offset, other in around.get(key, ()):
        missed *= 1.0 - WEIGHTS[offset] * scores.get(other, 0.0)
    return 1.0 - missed


def window(candidate: Candidate, facts: Facts) -> float | None:
    """The passage's relevance with its neighbours', as two more reasons to want it."""
    return facts.windows.get(candidate.key)
