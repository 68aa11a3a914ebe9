"""txtai: one hybrid index of sparse and dense vectors, as its documentation sets it up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.rivals.contestant import Piece, Ways
from benchmarks.rivals.windows import pieces

PACKAGES = ("torch==2.13.0", "txtai")


def build(documents: Sequence[Any], embedder: Any) -> Ways:
    """Index the texts."""
    from txtai import Embeddings  # noqa: PLC0415

    def transform(texts: list[str]) -> Any:
        return embedder.embed_batch(texts)

    found = pieces(documents)
    index = Embeddings(method="external", transform=transform, hybrid=True)
    index.index((place, text, None) for place, (_, text) in enumerate(found))

    def ask(question: str, depth: int) -> list[Piece]:
        return [Piece(*found[int(place)]) for place, _ in index.search(question, depth)]

    return Ways(ask)
