"""Items in the order of a tree: each below the node through which it was reached."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from weftwork.types import Candidate, Item


def as_a_tree(items: Sequence[Item]) -> list[Item]:
    """Each node after the nearest shown one on the way to it, the best first; its passages as they are read."""
    own: dict[str, list[Item]] = {}
    for item in items:
        own.setdefault(item.candidate.node.id, []).append(item)
    below: dict[str | None, list[str]] = {}
    for node, shown in own.items():
        below.setdefault(_above(shown[0].candidate, own.keys()), []).append(node)
    ordered: list[Item] = []
    waiting = below.get(None, [])[::-1]
    while waiting:
        node = waiting.pop()
        ordered += sorted(own[node], key=lambda item: item.candidate.passage.ordinal)
        waiting += below.get(node, [])[::-1]
    return ordered


def _above(candidate: Candidate, shown: Collection[str]) -> str | None:
    """The nearest of the shown nodes on the way; each of them is nearer to a start than what it leads to."""
    if not candidate.reached or not candidate.path:
        return None
    way = (candidate.reached[0].start, *(step.node for step in candidate.path[:-1]))
    return next((node for node in reversed(way) if node in shown), None)
