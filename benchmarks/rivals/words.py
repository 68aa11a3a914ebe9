"""Weftwork's search by words alone, for what plain BM25 is compared with."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.rivals.contestant import Piece, Ways

PACKAGES = ()


def build(documents: Sequence[Any], embedder: Any) -> Ways:
    """Index the texts."""
    from weftwork import Node, Weft  # noqa: PLC0415

    weft = Weft.open(Path(tempfile.mkdtemp()) / "set.weft", embedder=None)
    weft.add([Node(id=each.id, type="document", title=each.title, text=each.text) for each in documents])

    def ask(question: str, depth: int) -> list[Piece]:
        hits = weft.search(question, limit=depth, mode="words")
        return [Piece(hit.node.id, f"{hit.node.title}\n{hit.passage.text}") for hit in hits]

    return Ways(ask)
