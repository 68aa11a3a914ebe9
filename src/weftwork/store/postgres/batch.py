"""The writes of one transaction on one workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from weftwork.store.postgres import embeddings, words, write_queries
from weftwork.store.postgres.access import PostgresAccessLists
from weftwork.store.postgres.load import insert
from weftwork.store.postgres.put import PostgresPutter
from weftwork.store.postgres.session import Session
from weftwork.store.sql.batch import EdgeKey, SqlBatch

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

KEPT_COMMITS = 1_000
"""Versions of a workspace whose marks are kept: a lost COMMIT is one of the last."""


class PostgresBatch(SqlBatch):
    """Implements `weftwork.store.protocol.Batch`."""

    _session: Session

    def __init__(
        self,
        session: Session,
        *,
        default: frozenset[str],
        now: int,
        committing: Callable[[tuple[int, int, str]], None],
    ) -> None:
        access = PostgresAccessLists(session, default)
        self._rows = PostgresPutter(session, access, now)
        super().__init__(session, write_queries, access, self._rows)
        self._committing = committing
        self._vectors = 0

    @property
    def added(self) -> int:
        """The number of passages and vectors that were written."""
        return self._rows.added + self._vectors

    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors under the digests of their texts."""
        self._vectors += len(vectors)
        self._log(embeddings.put(self._session, model, vectors))

    def _raise_version(self, mark: str) -> int:
        session = self._session
        ((version,),) = session.rows(
            "UPDATE workspaces SET version = version + 1 WHERE workspace = %(ws)s RETURNING version"
        )
        session.run(
            "INSERT INTO commits (workspace, version, mark) VALUES (%(ws)s, %(version)s, %(mark)s)",
            version=version,
            mark=mark,
        )
        session.run("DELETE FROM commits WHERE workspace = %(ws)s AND version <= %(old)s", old=version - KEPT_COMMITS)
        self._committing((session.workspace, version, mark))
        return int(version)

    def _write_edges(self, weights: Mapping[EdgeKey, float]) -> int:
        return self._session.run(write_queries.LINK, **_columns(weights), weights=list(weights.values()))

    def _remove_edges(self, keys: Sequence[EdgeKey]) -> int:
        return self._session.run(write_queries.UNLINK, **_columns(keys))

    def _remove_nodes(self, nodes: Sequence[int]) -> None:
        # All else that belongs to a node goes with it, by foreign keys.
        words.remove(self._session, nodes)
        self._session.run(
            "DELETE FROM nodes WHERE workspace = %(ws)s AND pk = ANY (%(nodes)s::bigint[])", nodes=list(nodes)
        )

    def _add_marks(self, group: str, marks: Mapping[str, str]) -> None:
        insert(self._session, "marks", ("topic", "name", "mark"), [(group, *pair) for pair in marks.items()])


def _columns(keys: Iterable[EdgeKey]) -> dict[str, list[object]]:
    """Keys of edges, transposed to one array a column."""
    sources, targets, types, labels = (list(column) for column in zip(*keys, strict=True))
    return {"sources": sources, "targets": targets, "types": types, "labels": labels}
