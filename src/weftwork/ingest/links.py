"""Link resolution by path, title, alias or id, among all sources of a path."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from weftwork.ingest.fold import fold, fold_anchor
from weftwork.ingest.import_log import EdgeRecord, SourceDetails

RANKS = {"path": 0, "title": 1, "alias": 2, "id": 3}


@dataclass(frozen=True, slots=True, order=True)
class _Called:
    """A node that has a name; the smallest wins."""

    rank: int
    length: int
    key: str
    node: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A link whose target does not exist yet."""

    key: str
    """The source that it stands in."""
    target: str
    what: str = ""
    """The source's display name."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The edges of a source's links, and the unresolved targets."""

    edges: tuple[EdgeRecord, ...]
    pointing: frozenset[int]
    """Places of the links that point somewhere."""
    unresolved: tuple[str, ...]
    """Targets that nothing is called by."""

    @property
    def links(self) -> int:
        """The number of links that point somewhere."""
        return len(self.pointing)

    def __or__(self, other: Resolved) -> Resolved:
        """The links of the same source as resolved among other targets as well."""
        missing = tuple(name for name in self.unresolved if name in other.unresolved)
        return Resolved(tuple(dict.fromkeys((*self.edges, *other.edges))), self.pointing | other.pointing, missing)


class Names:
    """The index of the names of all sources, or of those with these keys."""

    def __init__(
        self, details: Mapping[str, SourceDetails], tops: Mapping[str, str], among: Collection[str] | None = None
    ) -> None:
        self._details = details
        self._tops = tops
        self._called: dict[str, list[_Called]] = {}
        for key, record in details.items():
            if among is not None and key not in among:
                continue
            for local, name, kind in record.names:
                called = _Called(RANKS[kind], len(key), key, whole(tops[key], local))
                self._called.setdefault(fold(name), []).append(called)
        for several in self._called.values():
            several.sort()

    def resolved(self, key: str) -> Resolved:
        """Resolve the edges and links of a source."""
        record, top = self._details[key], self._tops[key]
        edges = {
            (whole(top, source), whole(top, target), kind, label): weight
            for source, target, kind, label, weight in record.inner
        }
        unresolved: dict[str, None] = {}
        pointing: set[int] = set()
        for place, (local, names, anchor, kind, label, weight) in enumerate(record.links):
            target_name = self._meant(key, names)
            if target_name is None:
                unresolved[names[-1]] = None
                continue
            pointing.add(place)
            target = self._place(target_name, anchor)
            source = whole(top, local)
            if source != target:
                edges[source, target, kind, label] = weight
        return Resolved(
            tuple((*ends, weight) for ends, weight in edges.items()), frozenset(pointing), tuple(unresolved)
        )

    def _meant(self, key: str, names: Sequence[str]) -> _Called | None:
        folder = posixpath.dirname(key)
        for name in names:
            several = self._called.get(fold(name))
            if several:
                best = [candidate for candidate in several if candidate.rank == several[0].rank]
                return next((candidate for candidate in best if posixpath.dirname(candidate.key) == folder), best[0])
        return None

    def _place(self, target: _Called, anchor: str) -> str:
        """The node inside a target that an anchor names, or the target itself."""
        top = self._tops[target.key]
        local = self._details[target.key].anchors.get(fold_anchor(anchor)) if anchor and target.node == top else None
        return target.node if local is None else whole(top, local)


def unique_titles(details: Mapping[str, SourceDetails], tops: Mapping[str, str]) -> dict[str, str]:
    """Titles and aliases with their node, written with the most capitals; ambiguous ones are left out.

    A note "Dash" in dash.md is called by both names; the former tells it from a dash of vinegar.
    """
    nodes: dict[str, set[str]] = {}
    written: dict[str, str] = {}
    for key, record in details.items():
        for local, name, kind in record.names:
            if kind in ("title", "alias"):
                nodes.setdefault(fold(name), set()).add(whole(tops[key], local))
                written[fold(name)] = max(written.get(fold(name), name), name, key=_capitals)
    return {written[name]: next(iter(several)) for name, several in nodes.items() if len(several) == 1}


def _capitals(name: str) -> int:
    return sum(letter.isupper() for letter in name)


def whole(top: str, local: str) -> str:
    """The id of a node from its source's id and its local name."""
    return f"{top}#{local}" if local else top
