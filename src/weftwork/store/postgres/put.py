"""Inserting and replacing nodes: a whole call is prepared in memory and written by statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weftwork.errors import CycleError, InvalidInput
from weftwork.store.postgres import words
from weftwork.store.postgres.access import AccessLists, take_numbers
from weftwork.store.postgres.codec import HEAD_LENGTH, folded, lexemes
from weftwork.store.postgres.load import insert
from weftwork.store.sqlite.codec import digest_of, dump, field_pairs, to_micros
from weftwork.store.sqlite.put import Draft, by_id, parents_first, searchable
from weftwork.types import Entry

if TYPE_CHECKING:
    from psycopg import Connection

NODE_COLUMNS = (
    "workspace pk id type title parent position tags fields confidence conversation created_at updated_at source owner "
    "access acl digest valid_from valid_until title_key source_key"
).split()
PASSAGE_COLUMNS = 'workspace key node acl ordinal start "end" text tokens words digest citation lexemes'.split()
DETAILS = ("tags", "fields", "page_vectors")
"""What goes when its node is written again, beside its passages."""


class Putter:
    """One call of `put` on one workspace."""

    def __init__(self, connection: Connection[Any], workspace: int, access: AccessLists, now: int) -> None:
        self._connection = connection
        self._workspace = workspace
        self._access = access
        self._now = now

    def put(self, entries: Iterable[Entry]) -> list[int]:
        """Write what differs from what is stored; return the nodes that changed, subtrees included."""
        drafts = self._drafts(by_id(entries))
        if not drafts:
            return []
        acls = self._resolve_parents(drafts)
        ordered = parents_first(drafts)
        for draft in ordered:
            node = draft.entry.node
            above = drafts.get(node.parent) if node.parent is not None else None
            draft.acl = self._access.effective(node.access, node.owner, above.acl if above else acls.get(draft.parent))
        self._write_nodes(ordered)
        self._refuse_cycles(ordered)
        self._write_details(ordered)
        regained = [draft.pk for draft in ordered if not draft.is_new and draft.acl != draft.old_acl]
        return [draft.pk for draft in ordered] + self._access.spread(regained)

    def _drafts(self, entries: Mapping[str, Entry]) -> dict[str, Draft]:
        """Drafts for the entries that are new or differ, by id."""
        rows = self._connection.execute(
            """SELECT id, pk, digest, acl, parent, created_at FROM nodes
               WHERE workspace = %s AND id = ANY (%s::text[])""",
            (self._workspace, list(entries)),
        )
        stored = {row[0]: row[1:] for row in rows}
        new = [name for name in entries if name not in stored]
        next_pk = take_numbers(self._connection, self._workspace, "node", len(new)) if new else 0
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

    def _resolve_parents(self, drafts: Mapping[str, Draft]) -> dict[int | None, int]:
        """Give each draft the number of its parent; the lists of those parents that are stored, by number."""
        wanted = {draft.entry.node.parent for draft in drafts.values()} - {None} - drafts.keys()
        rows = self._connection.execute(
            "SELECT id, pk, acl FROM nodes WHERE workspace = %s AND id = ANY (%s::text[])",
            (self._workspace, sorted(name for name in wanted if name is not None)),
        ).fetchall()
        stored = {row[0]: row[1] for row in rows}
        for draft in drafts.values():
            node = draft.entry.node
            if node.parent is None:
                continue
            draft.parent = drafts[node.parent].pk if node.parent in drafts else stored.get(node.parent)
            if draft.parent is None:
                raise InvalidInput(
                    f"parent {node.parent!r} of node {node.id!r} does not exist: add it before, or in the same call"
                )
        return {row[1]: row[2] for row in rows}

    def _write_nodes(self, drafts: Sequence[Draft]) -> None:
        replaced = [draft.pk for draft in drafts if not draft.is_new]
        if replaced:
            self._connection.execute(
                "DELETE FROM nodes WHERE workspace = %s AND pk = ANY (%s::bigint[])", (self._workspace, replaced)
            )
        insert(self._connection, "nodes", NODE_COLUMNS, [self._node_row(draft) for draft in drafts])

    def _node_row(self, draft: Draft) -> tuple[object, ...]:
        node = draft.entry.node
        created = to_micros(node.created_at) if node.created_at else draft.created
        updated = to_micros(node.updated_at) if node.updated_at else max(self._now, created)
        return (
            self._workspace, draft.pk, node.id, node.type, node.title, draft.parent, node.position,
            dump(list(node.tags)), dump(dict(node.fields)), node.confidence, node.conversation, created, updated,
            node.source, node.owner, None if node.access is None else dump(sorted(node.access)), draft.acl,
            draft.digest, node.valid_from and to_micros(node.valid_from),
            node.valid_until and to_micros(node.valid_until), folded(node.title), folded(node.source),
        )  # fmt: skip

    def _refuse_cycles(self, drafts: Sequence[Draft]) -> None:
        """Only a node that was there before and got another parent can close a circle with stored ones."""
        for draft in drafts:
            if not draft.is_new and draft.parent not in (None, draft.old_parent):
                refuse_cycle(self._connection, self._workspace, draft.pk, draft.parent, draft.entry.node.id)

    def _write_details(self, drafts: Sequence[Draft]) -> None:
        replaced = [draft.pk for draft in drafts if not draft.is_new]
        self._remove_details(replaced)
        tags = [(self._workspace, tag, draft.pk) for draft in drafts for tag in dict.fromkeys(draft.entry.node.tags)]
        insert(self._connection, "tags", ("workspace", "tag", "node"), tags)
        fields = [
            (self._workspace, name, value, value[:HEAD_LENGTH], draft.pk, ordinal)
            for draft in drafts
            for ordinal, (name, value) in enumerate(field_pairs(draft.entry.node.fields))
        ]
        insert(self._connection, "fields", ("workspace", "name", "value", "head", "node", "ordinal"), fields)
        first = self._write_passages(drafts)
        remove_passages(self._connection, self._workspace, replaced, before=first)
        words.file(self._connection, self._workspace, [draft.pk for draft in drafts])

    def _remove_details(self, replaced: list[int]) -> None:
        if not replaced:
            return
        words.remove(self._connection, self._workspace, replaced)
        for table in DETAILS:
            self._connection.execute(
                f"DELETE FROM {table} WHERE workspace = %s AND node = ANY (%s::bigint[])".encode(),
                (self._workspace, replaced),
            )

    def _write_passages(self, drafts: Sequence[Draft]) -> int:
        """Add the passages, with the vectors of those whose texts have one; the first of their keys."""
        count = sum(len(draft.entry.passages) for draft in drafts)
        first = key = take_numbers(self._connection, self._workspace, "passage", count)
        rows: list[tuple[object, ...]] = []
        for draft in drafts:
            for each in draft.entry.passages:
                found, length = lexemes(searchable(draft.entry.node, each))
                rows.append((
                    self._workspace, key, draft.pk, draft.acl, each.ordinal, each.start, each.end, each.text,
                    each.tokens, length, each.digest, each.citation, found,
                ))  # fmt: skip
                key += 1
        insert(self._connection, "passages", PASSAGE_COLUMNS, rows)
        # From a passage with the same text, be it the one that this one replaces and that is still there.
        self._connection.execute(
            """INSERT INTO embeddings (workspace, model, key, node, acl, bits, vector)
               SELECT DISTINCT ON (e.model, p.key) %(ws)s, e.model, p.key, p.node, p.acl, e.bits, e.vector
               FROM passages p
               JOIN passages o ON o.workspace = %(ws)s AND o.digest = p.digest AND o.key < %(first)s
               JOIN embeddings e ON e.workspace = %(ws)s AND e.key = o.key
               WHERE p.workspace = %(ws)s AND p.key >= %(first)s""",
            {"ws": self._workspace, "first": first},
        )
        return first


def remove_passages(connection: Connection[Any], workspace: int, nodes: Sequence[int], *, before: int) -> None:
    """Remove the passages of nodes, and their vectors, as far as their keys are below a number."""
    if not nodes:
        return
    for table in ("embeddings", "passages"):
        connection.execute(
            f"DELETE FROM {table} WHERE workspace = %s AND node = ANY (%s::bigint[]) AND key < %s".encode(),
            (workspace, list(nodes), before),
        )


def refuse_cycle(connection: Connection[Any], workspace: int, pk: int, parent: int | None, name: str) -> None:
    """Raise if a node is found above its own parent."""
    row = connection.execute(
        """WITH RECURSIVE up (pk) AS (
               SELECT %(parent)s::bigint UNION
               SELECT n.parent FROM up JOIN nodes n ON n.workspace = %(ws)s AND n.pk = up.pk WHERE n.parent IS NOT NULL
           ) SELECT 1 FROM up WHERE pk = %(pk)s""",
        {"ws": workspace, "parent": parent, "pk": pk},
    ).fetchone()
    if row is not None:
        raise CycleError(f"node {name!r} would be its own ancestor: give it another parent")
