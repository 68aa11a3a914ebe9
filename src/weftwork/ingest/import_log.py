"""The recorded state of a path's sources, written in the same transaction as their nodes.

There are two records for each source: a short one, by which an unchanged source is recognised without reading anything
else, and a long one with its names and links, which is loaded only when something changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from weftwork.store.protocol import Batch, Store

LACKS = "\x1f"
"""Stands in a fingerprint before each thing that is missing of a source."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """The short record of a source."""

    id: str
    """Of its top node; empty if nothing of it is stored."""
    fingerprint: str
    stamp: str = ""
    why: str = ""
    """The reason, if it was skipped."""

    @property
    def content(self) -> str:
        """The fingerprint of its content."""
        return self.fingerprint.partition(LACKS)[0]

    @property
    def lacks(self) -> frozenset[str]:
        """Parts of it that could not be read, and may be another time."""
        return frozenset(self.fingerprint.split(LACKS)[1:])

    def dump(self) -> str:
        """Serialise for the store."""
        return json.dumps([self.id, self.fingerprint, self.stamp, self.why], ensure_ascii=False)


LinkRecord = tuple[str, tuple[str, ...], str, str, str, float]
"""A link: source node, names of the target, anchor, and the edge's type, label and weight."""
EdgeRecord = tuple[str, str, str, str, float]
"""An edge: source, target, type, label, weight."""


@dataclass(slots=True)
class SourceDetails:
    """The long record. Nodes are named by their stored ids without the prefix of their source."""

    nodes: dict[str, str] = field(default_factory=dict)
    """Stored names by the connector's names: a block that was edited in place keeps its stored name."""
    names: list[tuple[str, str, str]] = field(default_factory=list)
    """Node, name, and kind of name."""
    anchors: dict[str, str] = field(default_factory=dict)
    links: list[LinkRecord] = field(default_factory=list)
    inner: list[EdgeRecord] = field(default_factory=list)
    """Edges that the connector itself made, between nodes of this source."""
    tags: dict[str, list[str]] = field(default_factory=dict)
    """The connector's tags, to distinguish them from tags that users added."""
    edges: list[EdgeRecord] = field(default_factory=list)
    """Edges that are in the store because of this source, by whole ids."""
    mentions: list[tuple[str, str, str]] = field(default_factory=list)
    """Source, target and the name that occurs, by whole ids; their edges are in the store, too."""

    def dump(self) -> str:
        """Serialise for the store."""
        parts = [
            self.nodes, self.names, self.anchors, self.links, self.inner, self.tags, self.edges, self.mentions,
        ]  # fmt: skip
        return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> SourceDetails:
        """Deserialise."""
        nodes, names, anchors, links, inner, tags, edges, mentions = json.loads(text)
        return cls(
            nodes,
            [tuple(row) for row in names],
            anchors,
            [(node, tuple(called), *rest) for node, called, *rest in links],
            [tuple(row) for row in inner],
            tags,
            [tuple(row) for row in edges],
            [tuple(row) for row in mentions],
        )


IMPORTS = "imports"
"""The group of marks with one for each path that was added: where it is, and which connector reads it."""


class ImportLog:
    """The records of one path in one workspace."""

    def __init__(self, store: Store, workspace: str, root: str) -> None:
        self._root = root
        self._store = store
        self._workspace = workspace
        self._short, self._long, self._whole = (f"{kind} {root}" for kind in ("sources", "details", "following"))
        self.states = {key: SourceState(*json.loads(text)) for key, text in store.marks(workspace, self._short).items()}
        self.whole = store.marks(workspace, self._whole)
        """Marks of the path as a whole: its location, and whether links are pending."""
        self.origin = ""
        """What the list of imports says of the path, as JSON; written with the first record."""

    def details(self) -> dict[str, SourceDetails]:
        """The long records by key."""
        return {key: SourceDetails.parse(text) for key, text in self._store.marks(self._workspace, self._long).items()}

    def note(
        self,
        batch: Batch,
        states: Mapping[str, SourceState | None],
        details: Mapping[str, SourceDetails | None],
        whole: Mapping[str, str | None],
    ) -> None:
        """Write records within a batch; None removes one."""
        batch.mark(self._short, {key: None if value is None else value.dump() for key, value in states.items()})
        batch.mark(self._long, {key: None if value is None else value.dump() for key, value in details.items()})
        batch.mark(self._whole, whole)
        if self.origin:
            batch.mark(IMPORTS, {self._root: self.origin})

    def clear(self, batch: Batch) -> None:
        """Remove all records of the path within a batch."""
        batch.mark(self._short, dict.fromkeys(self.states))
        batch.mark(self._long, dict.fromkeys(self._store.marks(self._workspace, self._long)))
        batch.mark(self._whole, dict.fromkeys(self.whole))
        batch.mark(IMPORTS, {self._root: None})


def by_fingerprint(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Group (key, fingerprint) pairs by fingerprint."""
    keys: dict[str, list[str]] = {}
    for key, fingerprint in pairs:
        keys.setdefault(fingerprint, []).append(key)
    return keys
