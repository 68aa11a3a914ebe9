"""Inserting and replacing nodes, with everything that is derived from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weftwork.store.postgres import words, write_queries
from weftwork.store.postgres.access import take_numbers
from weftwork.store.postgres.codec import HEAD_LENGTH, folded, lexemes
from weftwork.store.postgres.load import insert
from weftwork.store.postgres.session import Session
from weftwork.store.sql.access import AccessLists
from weftwork.store.sql.codec import indexed_pairs, searchable
from weftwork.store.sql.put import Draft, Putter

NODE_COLUMNS = (
    "pk id type title parent position tags fields confidence conversation created_at updated_at source owner "
    "access acl digest valid_from valid_until document writer origin title_key source_key"
).split()
PASSAGE_COLUMNS = 'key node acl ordinal start "end" text tokens words digest citation lexemes'.split()
TAG_COLUMNS = ("tag", "node")
FIELD_COLUMNS = ("name", "value", "head", "node", "ordinal")


class PostgresPutter(Putter):
    """Writes nodes into one workspace, within one transaction."""

    _session: Session

    def __init__(self, session: Session, access: AccessLists, now: int) -> None:
        super().__init__(session, write_queries, access, now)
        self.added = 0
        """The number of passages that were written."""

    def _take_numbers(self, count: int) -> int:
        return take_numbers(self._session, "node", count)

    def _write_nodes(self, drafts: Sequence[Draft]) -> None:
        rows = [
            (*self._node_row(draft), folded(draft.entry.node.title), folded(draft.entry.node.source))
            for draft in drafts
        ]
        insert(self._session, "nodes", NODE_COLUMNS, rows, key=("pk",))

    def _write_details(self, drafts: Sequence[Draft]) -> None:
        replaced = [draft.pk for draft in drafts if not draft.is_new]
        if replaced:
            words.remove(self._session, replaced)
            remove_details(self._session, replaced)
        tags = [(tag, draft.pk) for draft in drafts for tag in dict.fromkeys(draft.entry.node.tags)]
        insert(self._session, "tags", TAG_COLUMNS, tags)
        fields = [row for draft in drafts for row in field_rows(draft.pk, draft.entry.node.fields)]
        insert(self._session, "fields", FIELD_COLUMNS, fields)
        first = self._write_passages(drafts)
        remove_passages(self._session, replaced, before=first)
        words.file(self._session, [draft.pk for draft in drafts])

    def _write_passages(self, drafts: Sequence[Draft]) -> int:
        """Insert the passages, with known vectors of their texts; return the first of their keys."""
        count = sum(len(draft.entry.passages) for draft in drafts)
        self.added += count
        first = key = take_numbers(self._session, "passage", count)
        rows: list[tuple[object, ...]] = []
        for draft in drafts:
            for passage in draft.entry.passages:
                vector, length = lexemes(searchable(draft.entry.node, passage))
                rows.append((
                    key, draft.pk, draft.acl, passage.ordinal, passage.start, passage.end, passage.text,
                    passage.tokens, length, passage.digest, passage.citation, vector,
                ))  # fmt: skip
                key += 1
        insert(self._session, "passages", PASSAGE_COLUMNS, rows)
        # Copied from a passage with the same text, possibly the one that is replaced and not yet removed.
        self._session.run(
            """INSERT INTO embeddings (workspace, model, key, node, acl, bits, vector)
               SELECT DISTINCT ON (e.model, p.key) p.workspace, e.model, p.key, p.node, p.acl, e.bits, e.vector
               FROM passages p
               JOIN passages o ON o.workspace = %(ws)s AND o.digest = p.digest AND o.key < %(first)s
               JOIN embeddings e ON e.workspace = %(ws)s AND e.key = o.key
               WHERE p.workspace = %(ws)s AND p.key >= %(first)s""",
            first=first,
        )
        return first


def field_rows(node: int, fields: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """The fields of a node, in the order of FIELD_COLUMNS."""
    for ordinal, (name, value) in enumerate(indexed_pairs(fields)):
        yield name, value, value[:HEAD_LENGTH], node, ordinal


def remove_details(session: Session, nodes: Sequence[int]) -> None:
    """Remove tags, fields and page vectors of nodes."""
    for table in ("tags", "fields", "page_vectors"):
        session.run(
            f"DELETE FROM {table} WHERE workspace = %(ws)s AND node = ANY (%(nodes)s::bigint[])", nodes=list(nodes)
        )


def remove_passages(session: Session, nodes: Sequence[int], *, before: int) -> None:
    """Remove the passages of nodes with keys below a number, and with them their vectors."""
    if nodes:
        session.run(
            "DELETE FROM passages WHERE workspace = %(ws)s AND node = ANY (%(nodes)s::bigint[]) AND key < %(before)s",
            nodes=list(nodes),
            before=before,
        )
