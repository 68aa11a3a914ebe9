"""Writing the rows of a store again without Weftwork: what its insertion cannot cost less than."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tantivy import Document, Index, SchemaBuilder

from weftwork.embed.protocol import EmbeddingProvider
from weftwork.store.sqlite.connection import Connections

HEAP = 100_000_000
Rows = list[tuple[Any, ...]]

OF_NODES = {
    "nodes": "SELECT t.* FROM nodes t WHERE t.pk BETWEEN ? AND ?",
    "tags": "SELECT t.* FROM tags t WHERE t.node BETWEEN ? AND ?",
    "fields": "SELECT t.* FROM fields t WHERE t.node BETWEEN ? AND ?",
    "passages": "SELECT t.* FROM passages t WHERE t.node BETWEEN ? AND ?",
    "vectors": """SELECT DISTINCT t.* FROM vectors t JOIN passages p ON p.digest = t.digest
                  WHERE p.node BETWEEN ? AND ?""",
    "edges": "SELECT t.* FROM edges t WHERE t.source BETWEEN ? AND ?",
    "changes": "SELECT t.* FROM changes t WHERE t.node BETWEEN ? AND ?",
}
"""The rows that come with some nodes, by table, in the order in which they can be written."""
SHARED = ("workspaces", "users", "members", "acls", "acl_principals")


@dataclass(frozen=True, slots=True)
class Tables:
    """All rows of a store, in the batches in which they were written."""

    shared: Mapping[str, Rows]
    batches: Sequence[Mapping[str, Rows]]
    texts: Sequence[list[str]]
    """What was embedded, by batch."""
    documents: Sequence[dict[str, Any]]
    """What a full-text index needs to know of each passage."""

    @classmethod
    def read(cls, path: Path, workspace: str) -> Tables:
        """Read a store that was written by one batch for each version of the workspace."""
        connections = Connections(path)
        with connections.read() as connection:
            shared = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in SHARED}
            spans = connection.execute(
                """SELECT MIN(c.node), MAX(c.node) FROM changes c JOIN workspaces w ON w.id = c.workspace
                   WHERE w.name = ? GROUP BY c.version ORDER BY c.version""",
                (workspace,),
            ).fetchall()
            batches = [
                {table: connection.execute(query, span).fetchall() for table, query in OF_NODES.items()}
                for span in spans
            ]
            texts = [
                connection.execute(
                    """SELECT n.title || char(10) || p.text FROM passages p JOIN nodes n ON n.pk = p.node
                       WHERE p.node BETWEEN ? AND ? ORDER BY p.key""",
                    span,
                ).fetchall()
                for span in spans
            ]
            rows = connection.execute(
                """SELECT p.key, p.node, p.acl, n.updated_at, n.title || char(10) || p.text
                   FROM passages p JOIN nodes n ON n.pk = p.node ORDER BY p.key"""
            ).fetchall()
        connections.close()
        names = ("key", "node", "acl", "updated", "body")
        documents = [dict(zip(names, row, strict=True)) for row in rows]
        return cls(shared, batches, [[text for (text,) in part] for part in texts], documents)

    def insert(self, path: Path, *, vectors: bool) -> None:
        """Write the rows into a new database with the same schema."""
        connections = Connections(path)
        with connections.write() as connection:
            for table, rows in self.shared.items():
                _insert(connection, table, rows)
            # The triggers on passages count these up again.
            connection.execute("UPDATE acls SET passages = 0, words = 0")
        for batch in self.batches:
            with connections.write() as connection:
                for table, rows in batch.items():
                    if vectors or table != "vectors":
                        _insert(connection, table, rows)
        connections.close()


def _insert(connection: Any, table: str, rows: Rows) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        # A text that stands in two batches has one vector.
        connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)


def embed(provider: EmbeddingProvider, texts: Sequence[list[str]]) -> None:
    """Embed batch by batch."""
    for part in texts:
        provider.embed_batch(part)


def index(folder: Path, documents: Sequence[dict[str, Any]]) -> None:
    """Add all documents to a new index and commit once."""
    builder = SchemaBuilder()
    for name in ("key", "node", "acl"):
        builder.add_unsigned_field(name, indexed=name != "key", fast=name != "node")
    builder.add_integer_field("updated", fast=True)
    builder.add_text_field("body", tokenizer_name="en_stem", index_option="position")
    schema = builder.build()
    folder.mkdir()
    writer = Index(schema, path=str(folder)).writer(HEAP, num_threads=1)
    for document in documents:
        writer.add_document(Document.from_dict(document, schema))
    writer.commit()
    writer.wait_merging_threads()
