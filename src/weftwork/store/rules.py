"""What both stores decide alike, whatever their SQL: who sees a node, how far two nodes are apart, which pages win."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from weftwork.types import Hit

Kind = Literal["sketch", "vectors"]
Scored = Callable[[Sequence[int], Kind], Iterable[tuple[int, float]]]
"""Scores of pages by their sketches, which name the pages, or by all of their vectors, which name their passages."""


class AccessRule:
    """The access lists of one workspace, within one transaction, each known by a number."""

    def __init__(self, default: frozenset[str]) -> None:
        self._default = default
        self._numbers: dict[frozenset[str], int] = {}
        self._principals: dict[int, frozenset[str]] = {}

    def effective(self, own: frozenset[str] | None, owner: str | None, parent_acl: int | None) -> int:
        """The number of a node's list: its own, or else its parent's; the owner always belongs to it."""
        if own is not None:
            principals = own
        elif parent_acl is not None:
            principals = self._principals_of(parent_acl)
        else:
            principals = self._default
        return self._number(principals if owner is None else principals | {owner})

    def stored(self, number: int) -> frozenset[str]:
        """Whom a list names that is stored under a number."""
        raise NotImplementedError

    def intern(self, principals: frozenset[str]) -> int:
        """The number of a list, stored now if it is a new one."""
        raise NotImplementedError

    def _principals_of(self, number: int) -> frozenset[str]:
        if number not in self._principals:
            self._principals[number] = self.stored(number)
        return self._principals[number]

    def _number(self, principals: frozenset[str]) -> int:
        if principals not in self._numbers:
            self._numbers[principals] = self.intern(principals)
            self._principals[self._numbers[principals]] = principals
        return self._numbers[principals]


def hops_between(node: str, others: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> dict[str, int]:
    """Hops through the nearest common ancestor, from rows of a node, one of its ancestors and how far up that is."""
    heights: dict[str, dict[int, int]] = {}
    for start, ancestor, level in rows:
        heights.setdefault(start, {})[ancestor] = level
    own = heights.get(node, {})
    distances: dict[str, int] = {}
    for other in others:
        shared = [level + own[pk] for pk, level in heights.get(other, {}).items() if pk in own]
        if shared:
            distances[other] = min(shared)
    return distances


def best_pages(nodes: Sequence[int], shortlist: int, limit: int, scored: Scored) -> list[Hit]:
    """The pages that answer best: if there are many, those whose sketches promise most are compared exactly."""
    if len(nodes) > shortlist:
        promised = ((-score, node) for node, score in scored(nodes, "sketch"))
        nodes = sorted(node for _, node in heapq.nsmallest(shortlist, promised))
    hits = [Hit(key, score) for key, score in scored(nodes, "vectors")]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]
