"""Connections that call a tracer with each statement, its values included."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import ClientCursor, Connection, Cursor, Pipeline

from weftwork.store.sql.session import Tracer


def client_cursor(connection: Connection[Any]) -> ClientCursor[Any]:
    """A cursor that binds values on the client, so that a statement is planned for them."""
    return getattr(connection, "client_cursor_factory", ClientCursor)(connection)


def traced_connections(tracer: Tracer) -> type[Connection[Any]]:
    """A class of connections that trace statements; pipelined ones stand between two comments."""

    class TracedClientCursor(ClientCursor[Any]):
        def execute(self, query: Any, params: Any = None, **more: Any) -> TracedClientCursor:
            tracer(self.mogrify(query, params))
            return super().execute(query, params, **more)

    class TracedCursor(Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **more: Any) -> TracedCursor:
            tracer(ClientCursor(self.connection).mogrify(query, params))
            return super().execute(query, params, **more)

        def executemany(self, query: Any, params_seq: Any, **more: Any) -> None:
            rows = list(params_seq)
            for row in rows:
                tracer(ClientCursor(self.connection).mogrify(query, row))
            super().executemany(query, rows, **more)

    class TracedConnection(Connection[Any]):
        client_cursor_factory = TracedClientCursor

        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            self.cursor_factory = TracedCursor

        @contextmanager
        def pipeline(self) -> Iterator[Pipeline]:
            tracer("-- pipelined")
            with super().pipeline() as pipeline:
                yield pipeline
            tracer("-- end")

    return TracedConnection
