"""Plain vectors: every piece compared with the question, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.rivals.contestant import Piece, Ways
from benchmarks.rivals.windows import pieces

PACKAGES = ()


def build(documents: Sequence[Any], embedder: Any) -> Ways:
    """Index the texts."""
    found = pieces(documents)
    matrix = embedder.embed_batch([text for _, text in found])

    def ask(question: str, depth: int) -> list[Piece]:
        order = np.argsort(-(matrix @ embedder.embed(question)), kind="stable")[:depth]
        return [Piece(*found[place]) for place in order]

    return Ways(ask)
