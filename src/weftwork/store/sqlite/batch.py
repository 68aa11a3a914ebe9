"""The writes of one transaction on one workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from weftwork.store.sql.batch import EdgeKey, SqlBatch, check_dimensions
from weftwork.store.sqlite import write_queries
from weftwork.store.sqlite.access import SqliteAccessLists
from weftwork.store.sqlite.put import SqlitePutter, digests_of, drop_orphans
from weftwork.store.sqlite.session import Session

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector


class SqliteBatch(SqlBatch):
    """Implements `weftwork.store.protocol.Batch`."""

    _session: Session

    def __init__(self, session: Session, *, default: frozenset[str], now: int) -> None:
        access = SqliteAccessLists(session, default)
        super().__init__(session, write_queries, access, SqlitePutter(session, access, now))

    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors under the digests of their texts."""
        stored = self._session.rows(
            "SELECT length(vector) / 4 FROM vectors WHERE workspace = :ws AND model = :model LIMIT 1", model=model
        )
        check_dimensions(model, vectors, stored[0][0] if stored else None)
        self._session.run_many(
            "INSERT OR REPLACE INTO vectors (workspace, model, digest, vector) VALUES (:ws, :model, :digest, :vector)",
            [
                {"model": model, "digest": digest, "vector": np.asarray(vector, dtype=np.float32).tobytes()}
                for digest, vector in vectors.items()
            ],
        )
        nodes = self._session.rows(
            """SELECT DISTINCT p.node FROM passages p CROSS JOIN nodes n ON n.pk = p.node
               WHERE n.workspace = :ws AND p.digest IN (SELECT value FROM json_each(:digests))""",
            digests=list(vectors),
        )
        self._log([node for (node,) in nodes])

    def _raise_version(self, mark: str) -> int:
        ((version,),) = self._session.rows(
            "UPDATE workspaces SET version = version + 1 WHERE id = :ws RETURNING version"
        )
        self._session.run(
            "INSERT INTO commits (workspace, version, mark) VALUES (:ws, :version, :mark)", version=version, mark=mark
        )
        return int(version)

    def _write_edges(self, weights: Mapping[EdgeKey, float]) -> int:
        connection, before = self._session.connection, self._session.connection.total_changes
        connection.executemany(
            """INSERT INTO edges (workspace, source, target, type, label, weight) VALUES (?, ?, ?, ?, ?, ?)
               ON CONFLICT DO UPDATE SET weight = excluded.weight WHERE weight != excluded.weight""",
            [(self._session.workspace, *key, weight) for key, weight in weights.items()],
        )
        return connection.total_changes - before

    def _remove_edges(self, keys: Sequence[EdgeKey]) -> int:
        connection, before = self._session.connection, self._session.connection.total_changes
        connection.executemany("DELETE FROM edges WHERE source = ? AND target = ? AND type = ? AND label = ?", keys)
        return connection.total_changes - before

    def _remove_nodes(self, nodes: Sequence[int]) -> None:
        digests = digests_of(self._session, nodes)
        self._session.run("DELETE FROM nodes WHERE pk IN (SELECT value FROM json_each(:nodes))", nodes=list(nodes))
        drop_orphans(self._session, digests)

    def _add_marks(self, group: str, marks: Mapping[str, str]) -> None:
        self._session.run_many(
            "INSERT INTO marks (workspace, topic, name, mark) VALUES (:ws, :group, :name, :mark)",
            [{"group": group, "name": name, "mark": mark} for name, mark in marks.items()],
        )
