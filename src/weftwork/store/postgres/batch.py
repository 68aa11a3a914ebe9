"""The writes of one transaction on one workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from weftwork.store.postgres import embeddings, words, write_queries
from weftwork.store.postgres.access import PostgresAccessLists
from weftwork.store.postgres.put import PostgresPutter, remove_details, remove_passages
from weftwork.store.postgres.session import Session
from weftwork.store.sql.batch import EdgeKey, SqlBatch

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

KEPT_COMMITS = 1_000
"""Versions of a workspace whose marks are kept: a lost COMMIT is one of the last."""
BEYOND = 2**63 - 1


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
        super().__init__(session, write_queries, access, PostgresPutter(session, access, now))
        self._committing = committing

    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors under the digests of their texts."""
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
        rows = self._session.rows(write_queries.LINK, **_columns(weights), weights=list(weights.values()))
        return int(rows[0][0])

    def _remove_edges(self, keys: Sequence[EdgeKey]) -> int:
        return int(self._session.rows(write_queries.UNLINK, **_columns(keys))[0][0])

    def _remove_nodes(self, nodes: Sequence[int]) -> None:
        session, numbers = self._session, list(nodes)
        words.remove(session, numbers)
        remove_passages(session, numbers, before=BEYOND)
        remove_details(session, numbers)
        for table in ("activity", "feedback", "usage"):
            session.run(f"DELETE FROM {table} WHERE workspace = %(ws)s AND node = ANY (%(n)s::bigint[])", n=numbers)
        for end in ("source", "target"):
            session.run(f"DELETE FROM edges WHERE workspace = %(ws)s AND {end} = ANY (%(n)s::bigint[])", n=numbers)
        session.run("DELETE FROM nodes WHERE workspace = %(ws)s AND pk = ANY (%(n)s::bigint[])", n=numbers)

    def _add_marks(self, group: str, marks: Mapping[str, str]) -> None:
        self._session.run(
            """INSERT INTO marks (workspace, topic, name, mark)
               SELECT %(ws)s, %(group)s, m.name, m.mark
               FROM unnest(%(names)s::text[], %(marks)s::text[]) AS m (name, mark)""",
            group=group,
            names=list(marks),
            marks=list(marks.values()),
        )


def _columns(keys: Iterable[EdgeKey]) -> dict[str, list[object]]:
    """Keys of edges, transposed to one array a column."""
    sources, targets, types, labels = (list(column) for column in zip(*keys, strict=True))
    return {"sources": sources, "targets": targets, "types": types, "labels": labels}
