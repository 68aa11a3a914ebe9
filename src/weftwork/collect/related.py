"""Collector that follows edges from the hits of a search, as between memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.store.protocol import View
from weftwork.types import Edge, Kind, NodeInfo, Step

CONTRADICTS = "contradicts"
MOST = 100
"""Nodes that one start leads to, and edges of one node that are followed, the heaviest first."""


@dataclass(frozen=True, slots=True)
class Relative:
    """A node that edges lead to, by a shortest way: its last edge, and the steps from the start."""

    node: NodeInfo
    edge: Edge
    start: str
    path: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class RelatedCollector:
    """Nodes at the other end of the edges of the best hits, step by step; the tree is not followed."""

    depth: int = 1
    types: tuple[str, ...] = ()
    """Types of edges to follow; empty means all."""
    seeds: int = 10
    """Nodes of the best hits that it starts from."""
    kind: Kind = "link"
    name: str = "related"
    section: str = "relations"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Nearest first; a node's score is 1 / (1 + its distance)."""
        filters = inquiry.request.filters
        hits = inquiry.vector_hits or inquiry.word_hits
        starts = inquiry.view.nodes_of([hit.key for hit in hits])[: self.seeds]
        nearest: dict[str, Relative] = {}
        for relative in relatives(inquiry.view, starts, self.depth, self.types, as_of=filters.as_of):
            shorter = nearest.get(relative.node.id)
            if shorter is None or len(relative.path) < len(shorter.path):
                nearest[relative.node.id] = relative
        ordered = sorted(nearest.values(), key=lambda relative: len(relative.path))
        keys = inquiry.view.passages([relative.node.id for relative in ordered])
        return [
            Found(
                key,
                1.0 / (1 + len(relative.path)),
                arrows(relative.path),
                self.kind,
                distance=len(relative.path),
                path=relative.path,
            )
            for relative in ordered
            if relative.node.id not in filters.exclude and filters.tags.issubset(relative.node.tags)
            for key in keys.get(relative.node.id, ())
        ]


def relatives(
    view: View,
    starts: Sequence[str],
    depth: int,
    types: Sequence[str] = (),
    *,
    as_of: datetime | None = None,
) -> Iterator[Relative]:
    """Breadth first from each start, along visible edges between nodes that hold at this moment.

    Each node comes once for each start that leads to it, so that two starts which are linked find each other.
    """
    for start in starts:
        seen = {start}
        frontier: list[tuple[str, tuple[Step, ...]]] = [(start, ())]
        for _ in range(depth):
            ahead: list[tuple[str, tuple[Step, ...]]] = []
            for origin, path in frontier:
                if len(seen) > MOST:
                    break
                for edge, node in view.neighbours(origin, types=types, limit=MOST):
                    if node.id not in seen and node.valid_at(as_of) and len(seen) <= MOST:
                        seen.add(node.id)
                        way = (*path, step_along(edge, origin, node.id))
                        ahead.append((node.id, way))
                        yield Relative(node, edge, start, way)
            frontier = ahead


def step_along(edge: Edge, origin: str, node: str) -> Step:
    """The step along an edge from `origin` to `node`."""
    return Step(edge.type, "out" if edge.source == origin else "in", node, edge.label)


def arrows(path: Sequence[Step]) -> str:
    """The steps of a path as text, for the trace."""
    return " ".join(f"{'→' if step.direction == 'out' else '←'} {step.edge}" for step in path)
