"""Finding what links mean: by path, title, alias or id, among all sources of a path."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weftwork.ingest.fold import fold, fold_anchor
from weftwork.ingest.import_log import Details, Made

RANKS = {"path": 0, "title": 1, "alias": 2, "id": 3}


@dataclass(frozen=True, slots=True, order=True)
class _Called:
    """A node that has a name; the smallest is meant."""

    rank: int
    length: int
    key: str
    node: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A link that points nowhere yet."""

    key: str
    """The source that it stands in."""
    target: str
    what: str = ""
    """How that source is called in a report."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What the links of a source came to."""

    edges: tuple[Made, ...]
    links: int
    """Links that point somewhere."""
    unresolved: tuple[str, ...]
    """Targets that nothing is called by."""


class Names:
    """All names of all sources, and what each means."""

    def __init__(self, details: Mapping[str, Details], tops: Mapping[str, str]) -> None:
        self._details = details
        self._tops = tops
        self._called: dict[str, list[_Called]] = {}
        for key, record in details.items():
            for local, name, kind in record.names:
                called = _Called(RANKS[kind], len(key), key, whole(tops[key], local))
                self._called.setdefault(fold(name), []).append(called)
        for several in self._called.values():
            several.sort()

    def resolved(self, key: str) -> Resolved:
        """The edges that a source's own edges and links come to, and the links that point nowhere."""
        record, top = self._details[key], self._tops[key]
        edges = {
            (whole(top, source), whole(top, target), kind, label): weight
            for source, target, kind, label, weight in record.inner
        }
        unresolved: dict[str, None] = {}
        resolved = 0
        for local, names, anchor, kind, label, weight in record.links:
            found = self._meant(key, names)
            if found is None:
                unresolved[names[-1]] = None
                continue
            resolved += 1
            target = self._place(found, anchor)
            source = whole(top, local)
            if source != target:
                edges[source, target, kind, label] = weight
        return Resolved(tuple((*ends, weight) for ends, weight in edges.items()), resolved, tuple(unresolved))

    def _meant(self, key: str, names: Sequence[str]) -> _Called | None:
        folder = posixpath.dirname(key)
        for name in names:
            several = self._called.get(fold(name))
            if several:
                best = [each for each in several if each.rank == several[0].rank]
                return next((each for each in best if posixpath.dirname(each.key) == folder), best[0])
        return None

    def _place(self, found: _Called, anchor: str) -> str:
        """The place inside of a target that an anchor means, or the target itself."""
        top = self._tops[found.key]
        local = self._details[found.key].anchors.get(fold_anchor(anchor)) if anchor and found.node == top else None
        return found.node if local is None else whole(top, local)


def unique_titles(details: Mapping[str, Details], tops: Mapping[str, str]) -> dict[str, str]:
    """Titles and aliases as they are written, with the node that each means; one that several nodes have means none."""
    nodes: dict[str, set[str]] = {}
    written: dict[str, str] = {}
    for key, record in details.items():
        for local, name, kind in record.names:
            if kind in ("title", "alias"):
                nodes.setdefault(fold(name), set()).add(whole(tops[key], local))
                written.setdefault(fold(name), name)
    return {written[name]: next(iter(several)) for name, several in nodes.items() if len(several) == 1}


def whole(top: str, local: str) -> str:
    """A node's id, from its source's and its name there."""
    return f"{top}#{local}" if local else top
