"""Embeddings of queries, stored so that a paid provider is not asked twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from weftwork.store.sql.codec import to_micros
from weftwork.store.sql.queries import StoreQueries
from weftwork.store.sql.session import Database, Session

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

MOST = 10_000
"""Vectors that are stored; the oldest go first."""


class SqlVectorCache:
    """Implements `weftwork.embed.cache.VectorCache`."""

    def __init__(self, database: Database, sql: StoreQueries, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._sql = sql
        self._clock = clock

    def get_many(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors that are known, by hash of text."""
        rows = self._database.ask(lambda session: session.rows(self._sql.CACHED, model=model, digests=list(hashes)))
        return {digest: np.frombuffer(blob, dtype=np.float32) for digest, blob in rows}

    def put_many(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store these vectors, and remove the oldest."""
        now = to_micros(self._clock())
        # In one order, so that two that write the same vectors at once cannot deadlock.
        rows = [
            {"model": model, "digest": digest, "vector": vector.tobytes(), "at": now}
            for digest, vector in sorted(vectors.items())
        ]

        def write(session: Session) -> None:
            session.run_many(self._sql.CACHE, rows)
            session.run(self._sql.TRIM_CACHE, most=MOST)

        self._database.do(write)
