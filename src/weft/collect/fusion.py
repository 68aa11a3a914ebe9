"""Words and meaning as two independent reasons."""

from __future__ import annotations

TRUST_IN_VECTORS = 0.6
"""How far a cosine counts beside words: BM25 alone beats static embeddings on ad-hoc retrieval
(SciFact nDCG@10 0.68 against 0.51), so that a vector may lift a passage but not outvote words."""


def fuse(words: float, cosine: float) -> float:
    """1 − (1 − words)(1 − trust · cosine)."""
    return 1.0 - (1.0 - words) * (1.0 - TRUST_IN_VECTORS * max(0.0, cosine))
