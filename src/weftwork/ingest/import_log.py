"""What is remembered of the sources of a path, in the store and in the same transaction as their nodes.

There are two records for each source: a short one, by which an unchanged source is told without reading anything
else, and a long one with its names and links, which is looked at only when something changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from weftwork.store.protocol import Batch, Store


@dataclass(frozen=True, slots=True)
class Kept:
    """The short record of a source."""

    id: str
    """Of its top node; empty if nothing of it is stored."""
    fingerprint: str
    stamp: str = ""
    why: str = ""
    """Why it was skipped, if it was."""

    def dump(self) -> str:
        """As the store keeps it."""
        return json.dumps([self.id, self.fingerprint, self.stamp, self.why], ensure_ascii=False)


Wanted = tuple[str, tuple[str, ...], str, str, str, float]
"""A link: the node it stands in, what its target may be called, an anchor, and type, label and weight of its edge."""
Made = tuple[str, str, str, str, float]
"""An edge: source, target, type, label, weight."""


@dataclass(slots=True)
class Details:
    """The long record. Nodes are called by the names under which they are stored, without their source's id."""

    nodes: dict[str, str] = field(default_factory=dict)
    """What the connector calls each node, and its name here: a block that was edited in its place keeps the old one."""
    names: list[tuple[str, str, str]] = field(default_factory=list)
    """Node, what links may call it, and what kind of name that is."""
    anchors: dict[str, str] = field(default_factory=dict)
    links: list[Wanted] = field(default_factory=list)
    inner: list[Made] = field(default_factory=list)
    """Edges that the connector itself made, between nodes of this source."""
    tags: dict[str, list[str]] = field(default_factory=dict)
    """What the connector said, to be told from tags that somebody else gave."""
    edges: list[Made] = field(default_factory=list)
    """Edges that are in the store because of this source, by whole ids."""
    mentions: list[tuple[str, str, str]] = field(default_factory=list)
    """Source, target and the name that occurs, by whole ids; their edges are in the store, too."""

    def dump(self) -> str:
        """As the store keeps it."""
        parts = [
            self.nodes, self.names, self.anchors, self.links, self.inner, self.tags, self.edges, self.mentions,
        ]  # fmt: skip
        return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> Details:
        """The record as it was kept."""
        nodes, names, anchors, links, inner, tags, edges, mentions = json.loads(text)
        return cls(
            nodes,
            [tuple(each) for each in names],
            anchors,
            [(node, tuple(called), *rest) for node, called, *rest in links],
            [tuple(each) for each in inner],
            tags,
            [tuple(each) for each in edges],
            [tuple(each) for each in mentions],
        )


class ImportLog:
    """The records of one path in one workspace."""

    def __init__(self, store: Store, workspace: str, root: str) -> None:
        self._store = store
        self._workspace = workspace
        self._short, self._long, self._whole = (f"{kind} {root}" for kind in ("sources", "details", "following"))
        self.kept = {key: Kept(*json.loads(text)) for key, text in store.marks(workspace, self._short).items()}
        self.whole = store.marks(workspace, self._whole)
        """What holds for the path as a whole: where it lies, and whether links are still to be resolved."""

    def details(self) -> dict[str, Details]:
        """All long records, by key."""
        return {key: Details.parse(text) for key, text in self._store.marks(self._workspace, self._long).items()}

    def note(
        self,
        batch: Batch,
        kept: Mapping[str, Kept | None],
        details: Mapping[str, Details | None],
        whole: Mapping[str, str | None],
    ) -> None:
        """Keep records in a batch; None forgets one."""
        batch.mark(self._short, {key: None if value is None else value.dump() for key, value in kept.items()})
        batch.mark(self._long, {key: None if value is None else value.dump() for key, value in details.items()})
        batch.mark(self._whole, whole)


def by_fingerprint(kept: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Keys by the fingerprint that they have, given as (key, fingerprint)."""
    found: dict[str, list[str]] = {}
    for key, fingerprint in kept:
        found.setdefault(fingerprint, []).append(key)
    return found
