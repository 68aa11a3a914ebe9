"""Inserting and replacing nodes: a whole call is prepared in memory and written by statement."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weftwork.errors import CycleError, InvalidInput
from weftwork.store.index.rows import Row
from weftwork.store.sqlite.access import AccessLists
from weftwork.store.sqlite.codec import digest_of, dump, field_pairs, ids, searchable_fields, to_micros
from weftwork.text.analysis import analyse
from weftwork.types import Entry, Node, Passage


@dataclass(slots=True)
class Draft:
    """A node on its way into the tables."""

    entry: Entry
    digest: str
    pk: int
    is_new: bool
    parent: int | None = None
    old_acl: int | None = None
    old_parent: int | None = None
    created: int = 0
    acl: int = 0


class Putter:
    """One call of `put` on one workspace."""

    def __init__(self, connection: sqlite3.Connection, workspace: int, access: AccessLists, now: int) -> None:
        self._connection = connection
        self._workspace = workspace
        self._access = access
        self._now = now

    def put(self, entries: Iterable[Entry]) -> list[int]:
        """Write what differs from what is stored; return the nodes that changed, subtrees included."""
        drafts = self._drafts(by_id(entries))
        if not drafts:
            return []
        self._resolve_parents(drafts)
        ordered = parents_first(drafts)
        for draft in ordered:
            self._work_out_access(draft, drafts)
        self._write_nodes(ordered)
        self._refuse_cycles(ordered)
        self._write_details(ordered)
        regained = [draft.pk for draft in ordered if not draft.is_new and draft.acl != draft.old_acl]
        return [draft.pk for draft in ordered] + self._access.spread(regained)

    def _drafts(self, entries: Mapping[str, Entry]) -> dict[str, Draft]:
        """Drafts for the entries that are new or differ, by id."""
        stored = {
            row[0]: row[1:]
            for row in self._connection.execute(
                """SELECT id, pk, digest, acl, parent, created_at FROM nodes
                   WHERE workspace = ? AND id IN (SELECT value FROM json_each(?))""",
                (self._workspace, ids(entries)),
            )
        }
        next_pk = next_number(self._connection, "nodes")
        drafts: dict[str, Draft] = {}
        for name, entry in entries.items():
            digest = digest_of(entry)
            if name not in stored:
                drafts[name] = Draft(entry, digest, next_pk, is_new=True, created=self._now)
                next_pk += 1
            elif stored[name][1] != digest:
                pk, _, acl, parent, created = stored[name]
                drafts[name] = Draft(entry, digest, pk, is_new=False, old_acl=acl, old_parent=parent, created=created)
        return drafts

    def _resolve_parents(self, drafts: Mapping[str, Draft]) -> None:
        wanted = {draft.entry.node.parent for draft in drafts.values()} - {None} - drafts.keys()
        stored = dict(
            self._connection.execute(
                "SELECT id, pk FROM nodes WHERE workspace = ? AND id IN (SELECT value FROM json_each(?))",
                (self._workspace, ids(wanted)),
            ).fetchall()
        )
        for draft in drafts.values():
            node = draft.entry.node
            if node.parent is None:
                continue
            draft.parent = drafts[node.parent].pk if node.parent in drafts else stored.get(node.parent)
            if draft.parent is None:
                raise InvalidInput(
                    f"parent {node.parent!r} of node {node.id!r} does not exist: add it before, or in the same call"
                )

    def _work_out_access(self, draft: Draft, drafts: Mapping[str, Draft]) -> None:
        node = draft.entry.node
        if draft.parent is None:
            parent_acl = None
        elif node.parent is not None and node.parent in drafts:
            parent_acl = drafts[node.parent].acl
        else:
            parent_acl = self._connection.execute("SELECT acl FROM nodes WHERE pk = ?", (draft.parent,)).fetchone()[0]
        draft.acl = self._access.effective(node.access, node.owner, parent_acl)

    def _write_nodes(self, drafts: Sequence[Draft]) -> None:
        self._connection.executemany(
            """INSERT INTO nodes (pk, workspace, id, type, title, parent, position, tags, fields, confidence,
                   conversation, created_at, updated_at, source, owner, access, acl, digest, valid_from,
                   valid_until)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (pk) DO UPDATE SET type = excluded.type, title = excluded.title,
                   parent = excluded.parent, position = excluded.position, tags = excluded.tags,
                   fields = excluded.fields, confidence = excluded.confidence,
                   conversation = excluded.conversation, created_at = excluded.created_at,
                   updated_at = excluded.updated_at, source = excluded.source, owner = excluded.owner,
                   access = excluded.access, acl = excluded.acl, digest = excluded.digest,
                   valid_from = excluded.valid_from, valid_until = excluded.valid_until""",
            [self._node_row(draft) for draft in drafts],
        )

    def _node_row(self, draft: Draft) -> tuple[object, ...]:
        node = draft.entry.node
        created = to_micros(node.created_at) if node.created_at else draft.created
        updated = to_micros(node.updated_at) if node.updated_at else max(self._now, created)
        return (
            draft.pk, self._workspace, node.id, node.type, node.title, draft.parent, node.position,
            dump(list(node.tags)), dump(dict(node.fields)), node.confidence, node.conversation, created, updated,
            node.source, node.owner, None if node.access is None else dump(sorted(node.access)), draft.acl,
            draft.digest, node.valid_from and to_micros(node.valid_from),
            node.valid_until and to_micros(node.valid_until),
        )  # fmt: skip

    def _refuse_cycles(self, drafts: Sequence[Draft]) -> None:
        """Only a node that was there before and got another parent can close a circle with stored ones."""
        for draft in drafts:
            if not draft.is_new and draft.parent not in (None, draft.old_parent):
                refuse_cycle(self._connection, draft.pk, draft.parent, draft.entry.node.id)

    def _write_details(self, drafts: Sequence[Draft]) -> None:
        replaced = [draft.pk for draft in drafts if not draft.is_new]
        digests = digests_of(self._connection, replaced)
        for table in ("tags", "fields", "passages", "page_vectors"):
            self._connection.execute(
                f"DELETE FROM {table} WHERE node IN (SELECT value FROM json_each(?))", (ids(replaced),)
            )
        self._connection.executemany(
            "INSERT OR IGNORE INTO tags (workspace, tag, node) VALUES (?, ?, ?)",
            [(self._workspace, tag, draft.pk) for draft in drafts for tag in draft.entry.node.tags],
        )
        self._connection.executemany(
            "INSERT OR IGNORE INTO fields (workspace, name, value, node) VALUES (?, ?, ?, ?)",
            [
                (self._workspace, name, value, draft.pk)
                for draft in drafts
                for name, value in field_pairs(draft.entry.node.fields)
            ],
        )
        self._connection.executemany(
            """INSERT INTO passages (node, acl, ordinal, start, "end", text, tokens, words, digest, citation)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            [_passage_row(draft, passage) for draft in drafts for passage in draft.entry.passages],
        )
        drop_orphans(self._connection, self._workspace, digests)


def _passage_row(draft: Draft, passage: Passage) -> tuple[object, ...]:
    words = len(analyse(searchable(draft.entry.node, passage)))
    return (
        draft.pk, draft.acl, passage.ordinal, passage.start, passage.end, passage.text, passage.tokens, words,
        passage.digest, passage.citation,
    )  # fmt: skip


def searchable(node: Node, passage: Passage) -> str:
    """The same text that the index will take, so that lengths agree."""
    fields = " ".join(searchable_fields(dump(dict(node.fields)))) if node.fields else ""
    return Row(
        0, 0, 0, passage.ordinal, node.type, node.title, node.source, passage.text, node.tags, fields, 0, None, None, ""
    ).searchable  # fmt: skip


def by_id(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The entries by the ids of their nodes, each of which may stand there once."""
    found: dict[str, Entry] = {}
    for entry in entries:
        if entry.node.id in found:
            raise InvalidInput(f"node {entry.node.id!r} stands twice in one call: give each node its own id")
        found[entry.node.id] = entry
    return found


def parents_first(drafts: Mapping[str, Draft]) -> list[Draft]:
    """Drafts ordered so that each follows its parent; a circle among them is refused."""
    ordered: list[Draft] = []
    placed: set[str] = set()
    for name in drafts:
        chain: list[str] = []
        current: str | None = name
        while current is not None and current in drafts and current not in placed:
            if current in chain:
                raise CycleError(f"node {current!r} would be its own ancestor: give it another parent")
            chain.append(current)
            current = drafts[current].entry.node.parent
        for each in reversed(chain):
            ordered.append(drafts[each])
            placed.add(each)
    return ordered


def refuse_cycle(connection: sqlite3.Connection, pk: int, parent: int | None, name: str) -> None:
    """Raise if a node is found above its own parent."""
    row = connection.execute(
        """WITH RECURSIVE up (pk) AS (
               VALUES (?1) UNION SELECT n.parent FROM up CROSS JOIN nodes n ON n.pk = up.pk WHERE n.parent IS NOT NULL
           ) SELECT 1 FROM up WHERE pk = ?2""",
        (parent, pk),
    ).fetchone()
    if row is not None:
        raise CycleError(f"node {name!r} would be its own ancestor: give it another parent")


def next_number(connection: sqlite3.Connection, table: str) -> int:
    """The next key of an AUTOINCREMENT table; only the one writer may ask."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return 1 if row is None else int(row[0]) + 1


def digests_of(connection: sqlite3.Connection, nodes: Sequence[int]) -> list[str]:
    """Digests of all passages of these nodes."""
    rows = connection.execute(
        "SELECT DISTINCT digest FROM passages WHERE node IN (SELECT value FROM json_each(?))", (ids(nodes),)
    )
    return [row[0] for row in rows]


def drop_orphans(connection: sqlite3.Connection, workspace: int, digests: Sequence[str]) -> None:
    """Forget the vectors of texts that are no longer in the workspace."""
    connection.execute(
        """DELETE FROM vectors WHERE workspace = ?1 AND digest IN (SELECT value FROM json_each(?2))
           AND NOT EXISTS (SELECT 1 FROM passages p CROSS JOIN nodes n ON n.pk = p.node
                           WHERE p.digest = vectors.digest AND n.workspace = ?1)""",
        (workspace, ids(digests)),
    )


def stored_access(text: str | None) -> frozenset[str] | None:
    """A node's own list as it stands in its row."""
    return None if text is None else frozenset(json.loads(text))
