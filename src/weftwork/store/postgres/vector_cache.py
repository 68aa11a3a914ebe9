"""Embeddings of queries, kept in the database so that a paid provider is not asked twice, whichever server asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from weftwork.store.postgres.connection import Connections
from weftwork.store.sqlite.codec import to_micros
from weftwork.store.sqlite.vector_cache import MOST

if TYPE_CHECKING:
    from psycopg import Connection

    from weftwork.embed.protocol import Vector


class PostgresVectorCache:
    """Implements `weftwork.embed.cache.VectorCache`."""

    def __init__(self, connections: Connections, clock: Callable[[], datetime]) -> None:
        self._connections = connections
        self._clock = clock

    def get_many(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors that are known, by hash of text."""
        rows = self._connections.ask(
            lambda connection: connection.execute(
                "SELECT digest, vector FROM embedding_cache WHERE model = %s AND digest = ANY (%s::text[])",
                (model, list(hashes)),
            ).fetchall()
        )
        return {digest: np.frombuffer(blob, dtype=np.float32) for digest, blob in rows}

    def put_many(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep these vectors, and let the oldest go."""
        now = to_micros(self._clock())
        rows = [(model, digest, vector.tobytes(), now) for digest, vector in sorted(vectors.items())]

        def write(connection: Connection[Any]) -> None:
            with connection.cursor() as cursor:
                cursor.executemany(
                    """INSERT INTO embedding_cache (model, digest, vector, at) VALUES (%s, %s, %s, %s)
                       ON CONFLICT (model, digest) DO UPDATE SET vector = excluded.vector, at = excluded.at""",
                    rows,
                )
            connection.execute(
                """DELETE FROM embedding_cache WHERE (model, digest) IN (
                       SELECT model, digest FROM embedding_cache ORDER BY at DESC, model, digest OFFSET %s)""",
                (MOST,),
            )

        self._connections.do(write)
