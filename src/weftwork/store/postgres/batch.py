"""The writes of one transaction on one workspace."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from weftwork.errors import InvalidInput, NotFound
from weftwork.store.postgres import embeddings, words
from weftwork.store.postgres.access import AccessLists, assign
from weftwork.store.postgres.pages import put as put_pages
from weftwork.store.postgres.put import DETAILS, Putter, refuse_cycle, remove_passages
from weftwork.store.sqlite.codec import dump, to_micros
from weftwork.store.sqlite.put import stored_access
from weftwork.types import EVERYONE, Edge, Entry

if TYPE_CHECKING:
    from psycopg import Connection

    from weftwork.embed.protocol import Matrix, Vector

KEPT_COMMITS = 1_000
"""Versions of a workspace whose marks are kept: what was lost while it committed is one of the last."""
BEYOND = 2**63 - 1


class PostgresBatch:
    """Implements `weftwork.store.protocol.Batch`."""

    def __init__(
        self,
        connection: Connection[Any],
        workspace: int,
        *,
        default: frozenset[str],
        now: int,
        committing: Callable[[tuple[int, int, str]], None],
    ) -> None:
        self._connection = connection
        self._workspace = workspace
        self._access = AccessLists(connection, workspace, default)
        self._now = now
        self._version = 0
        """The version that this batch makes, once it wrote: one within it may have made another before."""
        self._committing = committing
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
        rows = self._rows(
            """SELECT id, owner, access FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])""",
            names=[entry.node.id for entry in entries],
        )
        stored = {name: (owner, stored_access(access)) for name, owner, access in rows}
        found = []
        for entry in entries:
            owner, access = stored.get(entry.node.id, (None, None))
            given = entry.node.access
            kept = replace(entry.node, owner=entry.node.owner or owner, access=access if given is None else given)
            found.append(Entry(kept, entry.passages))
        return found

    def rewrite(self, entries: Iterable[Entry]) -> int:
        """Replace nodes that exist, where they are: parent, position, owner and access list stay. Count the changed."""
        wanted = list(entries)
        rows = self._rows(
            """SELECT n.id, p.id, n.position, n.owner, n.access
               FROM nodes n LEFT JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent
               WHERE n.workspace = %(ws)s AND n.id = ANY (%(names)s::text[])""",
            names=[entry.node.id for entry in wanted],
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
        for edge in wanted:
            for end in (edge.source, edge.target):
                if end not in numbers:
                    raise NotFound(f"node {end!r} of an edge does not exist: add it before the edge")
            if not isinstance(edge.weight, (int, float)) or not math.isfinite(edge.weight):
                raise InvalidInput(
                    f"the edge from {edge.source!r} to {edge.target!r} has the weight {edge.weight!r}: give a number"
                )
        # The last of several that differ in weight alone is the one that counts.
        last = {(numbers[e.source], numbers[e.target], e.type, e.label): float(e.weight) for e in wanted}
        rows = self._edges(_LINK, last, weights=list(last.values())) if last else []
        return self._touched(sum(row[0] for row in rows))

    def unlink(self, edges: Iterable[Edge]) -> int:
        """Remove edges; those that do not exist are ignored."""
        wanted = list(edges)
        numbers = self._numbers({end for edge in wanted for end in (edge.source, edge.target)})
        known = [e for e in wanted if e.source in numbers and e.target in numbers]
        keys = {(numbers[e.source], numbers[e.target], e.type, e.label): None for e in known}
        return self._touched(sum(row[0] for row in self._edges(_UNLINK, keys)) if keys else 0)

    def _edges(
        self, query: str, keys: Mapping[tuple[int, int, str, str], object], **more: object
    ) -> list[tuple[Any, ...]]:
        sources, targets, types, labels = (list(column) for column in zip(*keys, strict=True))
        return self._rows(query, sources=sources, targets=targets, types=types, labels=labels, **more)

    def remove(self, ids: Iterable[str]) -> int:
        """Remove nodes with everything below them; unknown ids are ignored. Count the removed."""
        rows = self._rows(
            """WITH RECURSIVE below (pk, id) AS (
                   SELECT pk, id FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])
                   UNION SELECT n.pk, n.id FROM below CROSS JOIN LATERAL (
                       SELECT c.pk, c.id FROM nodes c WHERE c.workspace = %(ws)s AND c.parent = below.pk OFFSET 0) n
               ) SELECT pk, id FROM below""",
            names=sorted(set(ids)),
        )
        doomed = [row[0] for row in rows]
        if not doomed:
            return 0
        self.removed.update(row[1] for row in rows)
        self._log(doomed, deleted=True)
        words.remove(self._connection, self._workspace, doomed)
        remove_passages(self._connection, self._workspace, doomed, before=BEYOND)
        for table in (*DETAILS, "activity", "feedback", "usage"):
            self._run(f"DELETE FROM {table} WHERE workspace = %(ws)s AND node = ANY (%(n)s::bigint[])", n=doomed)
        for end in ("source", "target"):
            self._run(f"DELETE FROM edges WHERE workspace = %(ws)s AND {end} = ANY (%(n)s::bigint[])", n=doomed)
        self._run("DELETE FROM nodes WHERE workspace = %(ws)s AND pk = ANY (%(n)s::bigint[])", n=doomed)
        return len(doomed)

    def move(self, node: str, parent: str | None, position: int = 0) -> None:
        """Hang a subtree elsewhere; what it inherits changes with it."""
        pk = self._number(node)
        above = None if parent is None else self._number(parent)
        refuse_cycle(self._connection, self._workspace, pk, above, node)
        self._update(pk, parent=above, position=position)
        self._settle(pk)

    def set_access(self, node: str, access: frozenset[str] | None) -> None:
        """Give a node its own list, or None to inherit again."""
        pk = self._number(node)
        self._update(pk, access=None if access is None else dump(sorted(access)))
        self._settle(pk)

    def set_validity(self, node: str, start: datetime | None, end: datetime | None) -> None:
        """Say from when and until when a node holds; nothing else about it changes."""
        pk = self._number(node)
        first, last = (None if moment is None else to_micros(moment) for moment in (start, end))
        self._update(pk, valid_from=first, valid_until=last)
        self._log([pk])

    def _update(self, pk: int, **values: object) -> None:
        """Change columns of a node; whoever writes it again finds that it differs."""
        columns = ", ".join(f"{name} = %({name})s" for name in values)
        self._run(f"UPDATE nodes SET {columns}, digest = '' WHERE workspace = %(ws)s AND pk = %(pk)s", pk=pk, **values)

    def _settle(self, pk: int) -> None:
        """Work out the access of a node and of all below it, after its place or its list changed."""
        own, owner, parent_acl, acl = self._rows(
            """SELECT n.access, n.owner, p.acl, n.acl
               FROM nodes n LEFT JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent
               WHERE n.workspace = %(ws)s AND n.pk = %(pk)s""",
            pk=pk,
        )[0]
        wanted = self._access.effective(stored_access(own), owner, parent_acl)
        changed = [pk]
        if wanted != acl:
            assign(self._connection, self._workspace, {pk: wanted})
            changed += self._access.spread([pk])
        self._log(changed)

    def add_user(self, user: str, groups: Iterable[str] = ()) -> None:
        """Make a user known to the workspace and set the groups that they belong to."""
        if not user or user == EVERYONE or user.startswith("group:"):
            raise InvalidInput(f"{user!r} cannot be a user's name: use a name that is not '*' or 'group:…'")
        teams = sorted({group.removeprefix("group:") for group in groups})
        known = self._rows("SELECT 1 FROM users WHERE workspace = %(ws)s AND name = %(user)s", user=user)
        rows = self._rows("SELECT team FROM members WHERE workspace = %(ws)s AND who = %(user)s", user=user)
        if known and sorted(row[0] for row in rows) == teams:
            return
        if not known:
            self._run("INSERT INTO users (workspace, name) VALUES (%(ws)s, %(user)s)", user=user)
        self._run("DELETE FROM members WHERE workspace = %(ws)s AND who = %(user)s", user=user)
        self._run(
            """INSERT INTO members (workspace, who, team)
               SELECT %(ws)s, %(user)s, team FROM unnest(%(teams)s::text[]) AS t (team)""",
            user=user,
            teams=teams,
        )
        self._touched(1)

    def record(self, user: str, node: str, kind: Literal["view", "edit"], at: datetime) -> None:
        """Note that a user saw or changed a node."""
        values = {"user": self._user(user), "kind": kind, "node": self._number(node), "at": to_micros(at)}
        where = "WHERE workspace = %(ws)s AND who = %(user)s AND kind = %(kind)s AND node = %(node)s"
        if not self._run(f"UPDATE activity SET at = GREATEST(at, %(at)s) {where}", **values):
            self._run("INSERT INTO activity VALUES (%(ws)s, %(user)s, %(kind)s, %(node)s, %(at)s)", **values)
        self._touched(1)

    def give_feedback(self, user: str, node: str, useful: bool, at: datetime) -> None:
        """Note whether a node helped; a user's later word on it replaces the earlier one."""
        values = {"node": self._number(node), "user": self._user(user), "useful": bool(useful), "at": to_micros(at)}
        where = "WHERE workspace = %(ws)s AND node = %(node)s AND who = %(user)s"
        if not self._run(f"UPDATE feedback SET useful = %(useful)s, at = %(at)s {where}", **values):
            self._run("INSERT INTO feedback VALUES (%(ws)s, %(node)s, %(user)s, %(useful)s, %(at)s)", **values)
        self._touched(1)

    def count_use(self, user: str, nodes: Iterable[str]) -> None:
        """Note that an answer used these nodes."""
        where = "WHERE workspace = %(ws)s AND node = %(node)s AND who = %(user)s"
        for name in nodes:
            values = {"node": self._number(name), "user": self._user(user)}
            if not self._run(f"UPDATE usage SET used = used + 1 {where}", **values):
                self._run("INSERT INTO usage VALUES (%(ws)s, %(node)s, %(user)s, 1)", **values)
        self._touched(1)

    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors under the digests of their texts."""
        self._log(embeddings.put(self._connection, self._workspace, model, vectors))

    def put_page_vectors(self, model: str, pages: Mapping[str, Matrix], read_at: int) -> None:
        """Keep the vectors of pages, by the ids of their nodes, as far as these are what they were at a version."""
        numbers = self._numbers(set(pages))
        rows = self._rows(
            """SELECT id FROM changes
               WHERE workspace = %(ws)s AND version > %(since)s AND node = ANY (%(nodes)s::bigint[])""",
            since=read_at,
            nodes=list(numbers.values()),
        )
        for (name,) in rows:
            numbers.pop(name, None)
        kept = {numbers[name]: pages[name] for name in sorted(numbers)}
        put_pages(self._connection, self._workspace, model, kept)
        self._touched(len(numbers))

    def mark(self, group: str, marks: Mapping[str, str | None]) -> None:
        """Keep texts under names of a group, None to forget one; the workspace is as it was before."""
        self._run(
            "DELETE FROM marks WHERE workspace = %(ws)s AND topic = %(group)s AND name = ANY (%(names)s::text[])",
            group=group,
            names=list(marks),
        )
        kept = {name: mark for name, mark in marks.items() if mark is not None}
        self._run(
            """INSERT INTO marks (workspace, topic, name, mark)
               SELECT %(ws)s, %(group)s, m.name, m.mark
               FROM unnest(%(names)s::text[], %(marks)s::text[]) AS m (name, mark)""",
            group=group,
            names=list(kept),
            marks=list(kept.values()),
        )

    def _rows(self, query: str, /, **values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(query.encode(), {"ws": self._workspace, **values}).fetchall()

    def _run(self, statement: str, /, **values: object) -> int:
        return self._connection.execute(statement.encode(), {"ws": self._workspace, **values}).rowcount

    def _numbers(self, names: set[str]) -> dict[str, int]:
        rows = self._rows(
            "SELECT id, pk FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])", names=sorted(names)
        )
        return {name: number for name, number in rows}

    def _number(self, node: str) -> int:
        found = self._numbers({node})
        if node not in found:
            raise NotFound(f"node {node!r} does not exist in this workspace: check its id")
        return found[node]

    def _user(self, user: str) -> str:
        if not self._rows("SELECT 1 FROM users WHERE workspace = %(ws)s AND name = %(user)s", user=user):
            raise NotFound(f"user {user!r} does not exist in this workspace: add them with  weftwork users add {user}")
        return user

    def _log(self, nodes: list[int], *, deleted: bool = False) -> None:
        """Enter nodes into the change log."""
        if not nodes:
            return
        self._touched(1)
        self._run("DELETE FROM changes WHERE workspace = %(ws)s AND node = ANY (%(nodes)s::bigint[])", nodes=nodes)
        self._run(
            """INSERT INTO changes (workspace, node, version, id, acl, deleted)
               SELECT workspace, pk, %(version)s, id, acl, %(deleted)s FROM nodes
               WHERE workspace = %(ws)s AND pk = ANY (%(nodes)s::bigint[])""",
            version=self._version,
            deleted=deleted,
            nodes=nodes,
        )

    def _touched(self, count: int) -> int:
        """Raise the workspace's version, once in a batch, if anything was written."""
        if count and not self._version:
            raised = "UPDATE workspaces SET version = version + 1 WHERE workspace = %(ws)s RETURNING version"
            self._version = self._rows(raised)[0][0]
            mark = os.urandom(8).hex()
            values = {"version": self._version, "mark": mark, "old": self._version - KEPT_COMMITS}
            self._run("INSERT INTO commits VALUES (%(ws)s, %(version)s, %(mark)s)", **values)
            self._run("DELETE FROM commits WHERE workspace = %(ws)s AND version <= %(old)s", **values)
            self._committing((self._workspace, self._version, mark))
        return count


_GIVEN = "unnest(%(sources)s::bigint[], %(targets)s::bigint[], %(types)s::text[], %(labels)s::text[]"
_SAME = """e.workspace = %(ws)s AND e.source = g.source AND e.target = g.target AND e.type = g.type
    AND e.label = g.label"""
_LINK = f"""WITH given AS MATERIALIZED (
        SELECT * FROM {_GIVEN}, %(weights)s::float8[]) AS g (source, target, type, label, weight)
    ), changed AS (
        UPDATE edges e SET weight = g.weight FROM given g WHERE {_SAME} AND e.weight <> g.weight RETURNING 1
    ), added AS (
        INSERT INTO edges (workspace, source, target, type, label, weight)
        SELECT %(ws)s, g.source, g.target, g.type, g.label, g.weight FROM given g
        WHERE NOT EXISTS (SELECT 1 FROM edges e WHERE {_SAME}) RETURNING 1
    ) SELECT (SELECT count(*) FROM changed) + (SELECT count(*) FROM added)"""
_UNLINK = f"""WITH gone AS (
        DELETE FROM edges e USING {_GIVEN}) AS g (source, target, type, label) WHERE {_SAME} RETURNING 1
    ) SELECT count(*) FROM gone"""
