"""The writes of one transaction on one workspace."""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import numpy as np

from weftwork.errors import DimensionError, InvalidInput, NotFound
from weftwork.store.sqlite.access import AccessLists, assign
from weftwork.store.sqlite.codec import dump, ids, to_micros
from weftwork.store.sqlite.pages import put as put_pages
from weftwork.store.sqlite.put import Putter, digests_of, drop_orphans, refuse_cycle, stored_access
from weftwork.types import EVERYONE, Edge, Entry

if TYPE_CHECKING:
    from weftwork.embed.protocol import Matrix, Vector


class SqliteBatch:
    """Implements `weftwork.store.protocol.Batch`."""

    def __init__(self, connection: sqlite3.Connection, workspace: int, default: frozenset[str], now: int) -> None:
        self._connection = connection
        self._workspace = workspace
        self._access = AccessLists(connection, workspace, default)
        self._now = now
        self._version = 0
        """The version that this batch makes, once it wrote: one within it may have made another before."""
        self.removed: set[str] = set()
        """Ids of the nodes that were removed, for what is kept of them outside of the database."""

    def put(self, entries: Iterable[Entry], *, keep_access: bool = False) -> int:
        """Insert or replace nodes; parents may be in the same call, in any order. Count the changed."""
        if keep_access:
            entries = self._with_lists(list(entries))
        changed = Putter(self._connection, self._workspace, self._access, self._now).put(entries)
        self._log(changed)
        return len(changed)

    def _with_lists(self, entries: list[Entry]) -> list[Entry]:
        """The entries, with their stored owner and list where they name none."""
        rows = self._connection.execute(
            """SELECT id, owner, access FROM nodes WHERE workspace = ? AND (access IS NOT NULL OR owner IS NOT NULL)
               AND id IN (SELECT value FROM json_each(?))""",
            (self._workspace, ids(entry.node.id for entry in entries)),
        )
        stored = {name: (owner, stored_access(access)) for name, owner, access in rows}
        return [
            Entry(
                replace(
                    entry.node,
                    owner=entry.node.owner or stored[entry.node.id][0],
                    access=stored[entry.node.id][1] if entry.node.access is None else entry.node.access,
                ),
                entry.passages,
            )
            if entry.node.id in stored
            else entry
            for entry in entries
        ]

    def rewrite(self, entries: Iterable[Entry]) -> int:
        """Replace nodes that exist, where they are: parent, position, owner and access list stay. Count the changed."""
        wanted = list(entries)
        rows = self._connection.execute(
            """SELECT n.id, p.id, n.position, n.owner, n.access FROM nodes n LEFT JOIN nodes p ON p.pk = n.parent
               WHERE n.workspace = ? AND n.id IN (SELECT value FROM json_each(?))""",
            (self._workspace, ids(entry.node.id for entry in wanted)),
        )
        places = {row[0]: row[1:] for row in rows}
        kept = []
        for entry in wanted:
            if entry.node.id not in places:
                raise NotFound(f"node {entry.node.id!r} does not exist in this workspace: check its id")
            parent, position, owner, access = places[entry.node.id]
            node = replace(entry.node, parent=parent, position=position, owner=owner, access=stored_access(access))
            kept.append(Entry(node, entry.passages))
        return self.put(kept)

    def link(self, edges: Iterable[Edge]) -> int:
        """Insert or replace edges between existing nodes; count the changed."""
        wanted = list(edges)
        numbers = self._numbers({end for edge in wanted for end in (edge.source, edge.target)})
        rows = []
        for edge in wanted:
            for end in (edge.source, edge.target):
                if end not in numbers:
                    raise NotFound(f"node {end!r} of an edge does not exist: add it before the edge")
            if not isinstance(edge.weight, (int, float)) or not math.isfinite(edge.weight):
                raise InvalidInput(
                    f"the edge from {edge.source!r} to {edge.target!r} has the weight {edge.weight!r}: give a number"
                )
            rows.append(
                (
                    self._workspace,
                    numbers[edge.source],
                    numbers[edge.target],
                    edge.type,
                    edge.label,
                    edge.weight,
                )
            )
        before = self._connection.total_changes
        self._connection.executemany(
            """INSERT INTO edges (workspace, source, target, type, label, weight) VALUES (?, ?, ?, ?, ?, ?)
               ON CONFLICT DO UPDATE SET weight = excluded.weight WHERE weight != excluded.weight""",
            rows,
        )
        return self._touched(self._connection.total_changes - before)

    def unlink(self, edges: Iterable[Edge]) -> int:
        """Remove edges; those that do not exist are ignored."""
        wanted = list(edges)
        numbers = self._numbers({end for edge in wanted for end in (edge.source, edge.target)})
        before = self._connection.total_changes
        self._connection.executemany(
            "DELETE FROM edges WHERE source = ? AND target = ? AND type = ? AND label = ?",
            [(numbers.get(e.source), numbers.get(e.target), e.type, e.label) for e in wanted],
        )
        return self._touched(self._connection.total_changes - before)

    def remove(self, ids_: Iterable[str]) -> int:
        """Remove nodes with everything below them; unknown ids are ignored. Count the removed."""
        numbers = self._numbers(set(ids_))
        rows = self._connection.execute(
            """WITH RECURSIVE below (pk) AS (
                   SELECT value FROM json_each(?) UNION SELECT n.pk FROM below CROSS JOIN nodes n ON n.parent = below.pk
               ) SELECT pk, id FROM below JOIN nodes USING (pk)""",
            (ids(numbers.values()),),
        ).fetchall()
        doomed = [row[0] for row in rows]
        if not doomed:
            return 0
        self.removed.update(row[1] for row in rows)
        self._log(doomed, deleted=True)
        digests = digests_of(self._connection, doomed)
        self._connection.execute("DELETE FROM nodes WHERE pk IN (SELECT value FROM json_each(?))", (ids(doomed),))
        drop_orphans(self._connection, self._workspace, digests)
        return len(doomed)

    def move(self, node: str, parent: str | None, position: int = 0) -> None:
        """Hang a subtree elsewhere; what it inherits changes with it."""
        pk = self._number(node)
        above = None if parent is None else self._number(parent)
        refuse_cycle(self._connection, pk, above, node)
        self._connection.execute(
            "UPDATE nodes SET parent = ?, position = ?, digest = '' WHERE pk = ?", (above, position, pk)
        )
        self._settle(pk)

    def set_access(self, node: str, access: frozenset[str] | None) -> None:
        """Give a node its own list, or None to inherit again."""
        pk = self._number(node)
        text = None if access is None else dump(sorted(access))
        self._connection.execute("UPDATE nodes SET access = ?, digest = '' WHERE pk = ?", (text, pk))
        self._settle(pk)

    def set_validity(self, node: str, start: datetime | None, end: datetime | None) -> None:
        """Say from when and until when a node holds; nothing else about it changes."""
        pk = self._number(node)
        limits = [None if moment is None else to_micros(moment) for moment in (start, end)]
        self._connection.execute(
            "UPDATE nodes SET valid_from = ?, valid_until = ?, digest = '' WHERE pk = ?", (*limits, pk)
        )
        self._log([pk])

    def _settle(self, pk: int) -> None:
        """Work out the access of a node and of all below it, after its place or its list changed."""
        own, owner, parent_acl, acl = self._connection.execute(
            """SELECT n.access, n.owner, p.acl, n.acl FROM nodes n LEFT JOIN nodes p ON p.pk = n.parent
               WHERE n.pk = ?""",
            (pk,),
        ).fetchone()
        wanted = self._access.effective(stored_access(own), owner, parent_acl)
        changed = [pk]
        if wanted != acl:
            assign(self._connection, pk, wanted)
            changed += self._access.spread([pk])
        self._log(changed)

    def add_user(self, user: str, groups: Iterable[str] = ()) -> None:
        """Make a user known to the workspace and set the groups that they belong to."""
        if not user or user == EVERYONE or user.startswith("group:"):
            raise InvalidInput(f"{user!r} cannot be a user's name: use a name that is not '*' or 'group:…'")
        key = (self._workspace, user)
        teams = sorted({group.removeprefix("group:") for group in groups})
        added = self._connection.execute("INSERT OR IGNORE INTO users (workspace, name) VALUES (?, ?)", key).rowcount
        rows = self._connection.execute(
            "SELECT team FROM members WHERE workspace = ? AND user = ? ORDER BY team", key
        ).fetchall()
        if not added and [row[0] for row in rows] == teams:
            return
        self._connection.execute("DELETE FROM members WHERE workspace = ? AND user = ?", key)
        self._connection.executemany(
            "INSERT INTO members (workspace, user, team) VALUES (?, ?, ?)", [(*key, team) for team in teams]
        )
        self._touched(1)

    def record(self, user: str, node: str, kind: Literal["view", "edit"], at: datetime) -> None:
        """Note that a user saw or changed a node."""
        self._connection.execute(
            """INSERT INTO activity (workspace, user, kind, node, at) VALUES (?, ?, ?, ?, ?)
               ON CONFLICT DO UPDATE SET at = MAX(at, excluded.at)""",
            (self._workspace, self._user(user), kind, self._number(node), to_micros(at)),
        )
        self._touched(1)

    def give_feedback(self, user: str, node: str, useful: bool, at: datetime) -> None:
        """Note whether a node helped; a user's later word on it replaces the earlier one."""
        self._connection.execute(
            "INSERT OR REPLACE INTO feedback (node, user, useful, at) VALUES (?, ?, ?, ?)",
            (self._number(node), self._user(user), int(useful), to_micros(at)),
        )
        self._touched(1)

    def count_use(self, user: str, nodes: Iterable[str]) -> None:
        """Note that an answer used these nodes."""
        self._connection.executemany(
            "INSERT INTO usage (node, user, used) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET used = used + 1",
            [(self._number(node), self._user(user)) for node in nodes],
        )
        self._touched(1)

    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors under the digests of their texts."""
        self._refuse_lengths(model, vectors)
        self._connection.executemany(
            "INSERT OR REPLACE INTO vectors (workspace, model, digest, vector) VALUES (?, ?, ?, ?)",
            [
                (self._workspace, model, digest, np.asarray(vector, dtype=np.float32).tobytes())
                for digest, vector in vectors.items()
            ],
        )
        rows = self._connection.execute(
            """SELECT DISTINCT p.node FROM passages p CROSS JOIN nodes n ON n.pk = p.node
               WHERE n.workspace = ? AND p.digest IN (SELECT value FROM json_each(?))""",
            (self._workspace, ids(vectors)),
        ).fetchall()
        self._log([row[0] for row in rows])

    def mark(self, group: str, marks: Mapping[str, str | None]) -> None:
        """Keep texts under names of a group, None to forget one; the workspace is as it was before."""
        self._connection.executemany(
            "DELETE FROM marks WHERE workspace = ? AND topic = ? AND name = ?",
            [(self._workspace, group, name) for name in marks],
        )
        self._connection.executemany(
            "INSERT INTO marks (workspace, topic, name, mark) VALUES (?, ?, ?, ?)",
            [(self._workspace, group, name, mark) for name, mark in marks.items() if mark is not None],
        )

    def put_page_vectors(self, model: str, pages: Mapping[str, Matrix], read_at: int) -> None:
        """Keep the vectors of pages, by the ids of their nodes, as far as these are what they were at a version."""
        numbers = self._numbers(set(pages))
        rows = self._connection.execute(
            "SELECT id FROM changes WHERE workspace = ? AND version > ? AND node IN (SELECT value FROM json_each(?))",
            (self._workspace, read_at, ids(numbers.values())),
        )
        for (name,) in rows.fetchall():
            numbers.pop(name, None)
        put_pages(self._connection, self._workspace, model, {numbers[name]: pages[name] for name in sorted(numbers)})
        self._touched(len(numbers))

    def _refuse_lengths(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """All vectors of a model have one length: a search could not compare others."""
        row = self._connection.execute(
            "SELECT length(vector) / 4 FROM vectors WHERE workspace = ? AND model = ? LIMIT 1", (self._workspace, model)
        ).fetchone()
        shapes = [np.shape(vector) for vector in vectors.values()]
        wanted = shapes[:1] if row is None else [(row[0],)]
        for shape in shapes:
            if len(shape) != 1 or shape != wanted[0]:
                raise DimensionError(
                    f"a vector of the shape {shape} cannot be kept with those of {model!r}, which have "
                    f"{wanted[0]}: embed with the same model, or give the other one another name"
                )

    def _numbers(self, names: set[str]) -> dict[str, int]:
        rows = self._connection.execute(
            "SELECT id, pk FROM nodes WHERE workspace = ? AND id IN (SELECT value FROM json_each(?))",
            (self._workspace, ids(sorted(names))),
        )
        return dict(rows.fetchall())

    def _number(self, node: str) -> int:
        found = self._numbers({node})
        if node not in found:
            raise NotFound(f"node {node!r} does not exist in this workspace: check its id")
        return found[node]

    def _user(self, user: str) -> str:
        row = self._connection.execute(
            "SELECT 1 FROM users WHERE workspace = ? AND name = ?", (self._workspace, user)
        ).fetchone()
        if row is None:
            raise NotFound(f"user {user!r} does not exist in this workspace: add them with  weftwork users add {user}")
        return user

    def _log(self, nodes: list[int], *, deleted: bool = False) -> None:
        """Enter nodes into the change log, from which the indexes are brought up to date."""
        if not nodes:
            return
        self._touched(1)
        self._connection.execute(
            """INSERT OR REPLACE INTO changes (workspace, node, version, id, acl, deleted)
               SELECT workspace, pk, ?, id, acl, ? FROM nodes WHERE pk IN (SELECT value FROM json_each(?))""",
            (self._version, int(deleted), ids(nodes)),
        )

    def _touched(self, count: int) -> int:
        """Raise the workspace's version, once in a batch, if anything was written."""
        if count and not self._version:
            key = (self._workspace,)
            row = self._connection.execute("SELECT version + 1 FROM workspaces WHERE id = ?", key).fetchone()
            self._version = row[0]
            self._connection.execute("UPDATE workspaces SET version = ? WHERE id = ?", (self._version, *key))
            self._connection.execute(
                "INSERT INTO commits (workspace, version, mark) VALUES (?, ?, ?)",
                (self._workspace, self._version, os.urandom(8).hex()),
            )
        return count
