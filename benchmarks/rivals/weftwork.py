"""Weftwork itself: each text a node, links between texts that name each other, the default recipe as it comes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.rivals.contestant import Piece, Ways

PACKAGES = ()
BUDGET = 12_000


def build(documents: Sequence[Any], embedder: Any) -> Ways:
    """Index the texts."""
    from benchmarks.relevance import mentions  # noqa: PLC0415
    from weftwork import Node, Weft  # noqa: PLC0415

    weft = Weft.open(Path(tempfile.mkdtemp()) / "set.weft")
    nodes = [Node(id=each.id, type="document", title=each.title, text=each.text) for each in documents]
    for start in range(0, len(nodes), 1_000):
        weft.add(nodes[start : start + 1_000])
    weft.add((), mentions(nodes))
    weft.catch_up()

    def inside(question: str, budget: int) -> list[Piece]:
        excerpts = weft.context(question, budget=budget).excerpts
        return [Piece(each.document.id, each.text) for each in excerpts if each.form != "line"]

    return Ways(lambda question, depth: inside(question, BUDGET)[:depth], inside)
