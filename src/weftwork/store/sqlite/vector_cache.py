"""Embeddings of queries, kept on disk so that a paid provider is not asked twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from weftwork.store.sqlite.codec import ids, to_micros
from weftwork.store.sqlite.connection import Connections

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

MOST = 10_000
"""Vectors that are kept; the oldest go first."""


class SqliteVectorCache:
    """Implements `weftwork.embed.cache.VectorCache`."""

    def __init__(self, connections: Connections, clock: Callable[[], datetime]) -> None:
        self._connections = connections
        self._clock = clock

    def get_many(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors that are known, by hash of text."""
        with self._connections.read() as connection:
            rows = connection.execute(
                """SELECT digest, vector FROM embedding_cache
                   WHERE model = ? AND digest IN (SELECT value FROM json_each(?))""",
                (model, ids(hashes)),
            )
            return {digest: np.frombuffer(blob, dtype=np.float32) for digest, blob in rows}

    def put_many(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep these vectors, and let the oldest go."""
        now = to_micros(self._clock())
        with self._connections.write() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO embedding_cache (model, digest, vector, at) VALUES (?, ?, ?, ?)",
                [(model, digest, vector.tobytes(), now) for digest, vector in vectors.items()],
            )
            connection.execute(
                """DELETE FROM embedding_cache WHERE rowid IN
                   (SELECT rowid FROM embedding_cache ORDER BY at DESC, rowid DESC LIMIT -1 OFFSET ?)""",
                (MOST,),
            )
