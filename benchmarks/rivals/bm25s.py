"""Plain BM25 with English stemming: bm25s as its documentation sets it up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.rivals.contestant import Piece, Ways
from benchmarks.rivals.windows import pieces

PACKAGES = ("bm25s", "PyStemmer")


def build(documents: Sequence[Any], embedder: Any) -> Ways:
    """Index the texts."""
    import bm25s  # noqa: PLC0415
    import Stemmer  # noqa: PLC0415

    found = pieces(documents)
    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize([text for _, text in found], stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )

    def ask(question: str, depth: int) -> list[Piece]:
        words = bm25s.tokenize([question], stopwords="en", stemmer=stemmer, show_progress=False)
        places, scores = index.retrieve(words, k=min(depth, len(found)), show_progress=False)
        return [Piece(*found[place]) for place, score in zip(places[0], scores[0], strict=True) if score > 0]

    return Ways(ask)
