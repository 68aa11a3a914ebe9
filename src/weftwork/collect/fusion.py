"""Words and meaning as two independent reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from weftwork.types import Hit

TRUST_IN_VECTORS = 0.6
"""How far a cosine counts beside words: BM25 alone beats static embeddings on ad-hoc retrieval
(SciFact nDCG@10 0.68 against 0.51), so that a vector may lift a passage but not outvote words."""
UNSEEN = 0.8
"""What is found by vector alone matches less by words than their last hit: this part of its score, as a guess."""


def fuse(words: float, cosine: float) -> float:
    """1 − (1 − words)(1 − trust · cosine)."""
    return 1.0 - (1.0 - words) * (1.0 - TRUST_IN_VECTORS * max(0.0, cosine))


@dataclass(frozen=True, slots=True)
class Weighing:
    """How words and meaning are weighed for one query, by what the search by words found.

    A score by words is a share of the highest that the query could give: a long question, which no passage has all the
    words of, has low ones throughout. In proportion to the square root of the best, words keep their say there, and
    yet a query whose best match is poor leaves more to meaning than one whose words are all there.
    """

    scale: float = 1.0
    unseen: float = 0.0

    @classmethod
    def of(cls, hits: Sequence[Hit], depth: int) -> Weighing:
        """The weighing for a search by words that was asked for so many hits."""
        scores = [hit.score for hit in hits]
        if not any(scores):
            return cls()
        return cls(math.sqrt(max(scores)), UNSEEN * min(scores) if len(scores) >= depth else 0.0)

    def __call__(self, words: float | None, cosine: float) -> float:
        """What words and meaning say together; None stands for words that a search by words did not find enough of."""
        return fuse(min(1.0, (self.unseen if words is None else words) / self.scale), cosine)
