"""Collector that ranks nodes by their links to the best hits, for answers in several places.

The evidence of the hits spreads along links in both directions, as in a personalised PageRank that restarts at the hits
(Haveliwala, Topic-Sensitive PageRank, 2002; Gutiérrez et al., HippoRAG, 2024, with a model that finds the links). What
several hits link to gains most; without links, every hit keeps its score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.embed.card import CAUTIOUS
from weftwork.types import Edge, Filters

DAMPING = 0.6
"""Share of its score that a node passes on."""
SHARPNESS = 4
"""Scores are spread in this power of the evidence, so that a few strong hits count more than many weak ones."""
ROUNDS = 6
"""Each round leaves little more than half of what the next one could still change."""

Links = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class LinkRankCollector:
    """Nodes within two links of the best hits, and hits that other hits link to, with their link score."""

    seeds: int = 20
    """Nodes of the best hits whose scores spread."""
    ring: int = 30
    """Neighbours of the seeds whose own links are read."""
    hub_limit: int = 20
    """Links of a node that are followed in each direction, the heaviest first."""
    limit: int = 6
    """Most nodes that are no hits."""
    name: str = "links"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The best first; nothing where the best hits have no links."""
        best = _best_passages(inquiry)
        seeds = dict(list(best.items())[: self.seeds])
        links = self._links(inquiry, list(seeds)) if seeds else {}
        if not links:
            return []
        worth = spread({node: evidence for node, (evidence, _) in seeds.items()}, links, inquiry.trust.hub)
        raised = {node: value for node, value in worth.items() if node not in best or value > best[node][0]}
        others = sorted((node for node in raised if node not in best), key=lambda node: (-raised[node], node))
        keys = self._admitted(inquiry, others)
        keys |= {node: best[node][1] for node in raised if node in best}
        return [
            Found(keys[node], min(1.0, raised[node]), _why(node, links, seeds), "link_rank")
            for node in sorted(keys, key=lambda node: (-raised[node], node))
        ]

    def _links(self, inquiry: Inquiry, seeds: Sequence[str]) -> Links:
        """The links of the seeds and of what they lead to."""
        edges, seen = self._edges(inquiry, seeds), set(seeds)
        near = _both_ways(edges)
        ring = [node for node in near if node not in seen]
        ring.sort(key=lambda node: (-len(near[node]), node))
        return _both_ways([*edges, *(self._edges(inquiry, ring[: self.ring]) if ring else ())])

    def _edges(self, inquiry: Inquiry, nodes: Sequence[str]) -> list[Edge]:
        types = inquiry.request.edge_types
        edges = inquiry.view.edges(nodes, limit=self.hub_limit, as_of=inquiry.request.filters.as_of)
        return [edge for edge in edges if edge.type in types] if types else edges

    def _admitted(self, inquiry: Inquiry, nodes: Sequence[str]) -> dict[str, int]:
        """The first passage of each of the best nodes that pass the request's filters."""
        filters = inquiry.request.filters
        admitted = [node for node in nodes if node not in filters.exclude]
        if replace(filters, as_of=None, exclude=frozenset()) != Filters():
            admitted = [node.id for node in inquiry.view.nodes(admitted) if filters.admits(node)]
        keys = inquiry.view.passages(admitted[: self.limit])
        return {node: passages[0] for node, passages in keys.items()}


def spread(seeds: Mapping[str, float], links: Links, hub: float = CAUTIOUS.hub) -> dict[str, float]:
    """Return the score of each node after the seeds' scores have spread; no seed loses.

    A node with `hub` links takes half of what reaches it.
    """
    total = sum(value**SHARPNESS for value in seeds.values())
    start = {node: value**SHARPNESS / total for node, value in seeds.items()}
    open_to = {node: hub / (hub + len(others)) for node, others in links.items()}
    mass, restart = start, 1.0
    for _ in range(ROUNDS):
        ahead: dict[str, float] = {}
        restart = 1.0
        for node, value in mass.items():
            others = links.get(node, ())
            for other in others:
                passed = DAMPING * value / len(others) * open_to[other]
                ahead[other] = ahead.get(other, 0.0) + passed
                restart -= passed
        for node, value in start.items():
            ahead[node] = ahead.get(node, 0.0) + restart * value
        mass = ahead
    return {node: (value * total / restart) ** (1 / SHARPNESS) for node, value in mass.items()}


def _best_passages(inquiry: Inquiry) -> dict[str, tuple[float, int]]:
    """The evidence for each node that a search found, and the passage that has it, the best first."""
    best: dict[str, tuple[float, int]] = {}
    hits = [key for key, value in inquiry.evidence.items() if value > 0]
    for record in inquiry.load(sorted(hits, key=lambda key: (-inquiry.evidence[key], key))):
        best.setdefault(record.node.id, (inquiry.evidence[record.passage.key], record.passage.key))
    return best


def _both_ways(edges: Iterable[Edge]) -> dict[str, list[str]]:
    """The neighbours of each node, each once, in the order of their ids."""
    neighbours: dict[str, set[str]] = {}
    for edge in edges:
        if edge.source != edge.target:
            neighbours.setdefault(edge.source, set()).add(edge.target)
            neighbours.setdefault(edge.target, set()).add(edge.source)
    return {node: sorted(neighbours[node]) for node in sorted(neighbours)}


def _why(node: str, links: Links, seeds: Mapping[str, object]) -> str:
    direct = sum(other in seeds for other in links.get(node, ()))
    if not direct:
        return "two links from a hit"
    return f"linked with {direct} of the hits" if direct > 1 else "linked with a hit"
