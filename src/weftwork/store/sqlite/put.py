"""Inserting and replacing nodes: the rows of a call, written by statement."""

from __future__ import annotations

from collections.abc import Sequence

from weftwork.store.sql.access import AccessLists
from weftwork.store.sql.codec import indexed_pairs, searchable
from weftwork.store.sql.put import Draft, Putter
from weftwork.store.sqlite import write_queries
from weftwork.store.sqlite.session import Session
from weftwork.text.analysis import length
from weftwork.types import Node, Passage

ADD_TAG = "INSERT OR IGNORE INTO tags (workspace, tag, node) VALUES (?, ?, ?)"
ADD_FIELD = "INSERT OR IGNORE INTO fields (workspace, name, value, node) VALUES (?, ?, ?, ?)"


class SqlitePutter(Putter):
    """Writes nodes into one workspace, within one transaction."""

    _session: Session

    def __init__(self, session: Session, access: AccessLists, now: int) -> None:
        super().__init__(session, write_queries, access, now)

    def _take_numbers(self, count: int) -> int:
        return next_number(self._session, "nodes")

    def _write_nodes(self, drafts: Sequence[Draft]) -> None:
        self._session.connection.executemany(
            """INSERT INTO nodes (workspace, pk, id, type, title, parent, position, tags, fields, confidence,
                   conversation, created_at, updated_at, source, owner, access, acl, digest, valid_from,
                   valid_until, document, writer, origin)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (pk) DO UPDATE SET type = excluded.type, title = excluded.title,
                   parent = excluded.parent, position = excluded.position, tags = excluded.tags,
                   fields = excluded.fields, confidence = excluded.confidence,
                   conversation = excluded.conversation, created_at = excluded.created_at,
                   updated_at = excluded.updated_at, source = excluded.source, owner = excluded.owner,
                   access = excluded.access, acl = excluded.acl, digest = excluded.digest,
                   valid_from = excluded.valid_from, valid_until = excluded.valid_until,
                   document = excluded.document, writer = excluded.writer, origin = excluded.origin""",
            [(self._session.workspace, *self._node_row(draft)) for draft in drafts],
        )

    def _write_details(self, drafts: Sequence[Draft]) -> None:
        replaced = [draft.pk for draft in drafts if not draft.is_new]
        digests = digests_of(self._session, replaced)
        for table in ("tags", "fields", "passages", "page_vectors"):
            self._session.run(
                f"DELETE FROM {table} WHERE node IN (SELECT value FROM json_each(:nodes))", nodes=replaced
            )
        workspace = self._session.workspace
        self._session.connection.executemany(
            ADD_TAG, [(workspace, tag, draft.pk) for draft in drafts for tag in draft.entry.node.tags]
        )
        self._session.connection.executemany(
            ADD_FIELD,
            [(workspace, *pair, draft.pk) for draft in drafts for pair in indexed_pairs(draft.entry.node.fields)],
        )
        self._session.connection.executemany(
            """INSERT INTO passages (node, acl, ordinal, start, "end", text, tokens, words, digest, citation)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            [
                (
                    draft.pk,
                    draft.acl,
                    passage.ordinal,
                    passage.start,
                    passage.end,
                    passage.text,
                    passage.tokens,
                    word_count(draft.entry.node, passage),
                    passage.digest,
                    passage.citation,
                )
                for draft in drafts
                for passage in draft.entry.passages
            ],
        )
        drop_orphans(self._session, digests)


def word_count(node: Node, passage: Passage) -> int:
    """The length of a passage in words, as the index counts it."""
    return length(searchable(node, passage))


def next_number(session: Session, table: str) -> int:
    """The next key of an AUTOINCREMENT table; only the one writer may ask."""
    rows = session.rows("SELECT seq FROM sqlite_sequence WHERE name = :table", table=table)
    return int(rows[0][0]) + 1 if rows else 1


def digests_of(session: Session, nodes: Sequence[int]) -> list[str]:
    """Digests of all passages of these nodes."""
    rows = session.rows(
        "SELECT DISTINCT digest FROM passages WHERE node IN (SELECT value FROM json_each(:nodes))", nodes=list(nodes)
    )
    return [digest for (digest,) in rows]


def drop_orphans(session: Session, digests: Sequence[str]) -> None:
    """Remove the vectors of texts that are no longer in the workspace."""
    session.run(
        """DELETE FROM vectors WHERE workspace = :ws AND digest IN (SELECT value FROM json_each(:digests))
           AND NOT EXISTS (SELECT 1 FROM passages p CROSS JOIN nodes n ON n.pk = p.node
                           WHERE p.digest = vectors.digest AND n.workspace = :ws)""",
        digests=list(digests),
    )
