"""Connections to one SQLite file: a single writer, and as many readers as there are views."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.errors import StoreError
from weft.store.sqlite.schema import migrate, refuse_foreign

Tracer = Callable[[str], None]

PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "foreign_keys = ON",
    "cache_size = -65536",
    "mmap_size = 1073741824",
    "temp_store = MEMORY",
)
WAIT_SECONDS = 60
"""How long to wait for another process's write before giving up."""


class Connections:
    """Hands out connections; thread-safe."""

    def __init__(self, path: Path, tracer: Tracer | None = None) -> None:
        self.path = path
        self._tracer = tracer
        self._writing = threading.RLock()
        self._guard = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._writer = self._connect()
        with _closed_on_failure(self._writer, path):
            migrate(self._writer, str(path))

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(
                self.path,
                timeout=WAIT_SECONDS,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
        except sqlite3.Error as error:
            raise _explained(error, self.path) from error
        with _closed_on_failure(connection, self.path):
            refuse_foreign(connection, str(self.path))
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        connection.set_trace_callback(self._tracer)
        return connection

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """The writer, in a transaction; a nested block is a savepoint of the outer one."""
        with self._writing:
            self._refuse_closed()
            connection, nested = self._writer, self._writer.in_transaction
            try:
                connection.execute("SAVEPOINT nested" if nested else "BEGIN IMMEDIATE")
                yield connection
                connection.execute("RELEASE nested" if nested else "COMMIT")
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK TO nested" if nested else "ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise _explained(error, self.path) from error
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A reader that sees one snapshot until the block ends."""
        with self._guard:
            self._refuse_closed()
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            connection.execute("BEGIN")
            yield connection
        except sqlite3.Error as error:
            raise _explained(error, self.path) from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            with self._guard:
                if self._closed:
                    connection.close()
                else:
                    self._idle.append(connection)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} was closed: open it again")

    def close(self) -> None:
        """Close every idle connection; ones in use are closed when their block ends."""
        with self._writing, self._guard:
            self._closed = True
            for connection in (*self._idle, self._writer):
                connection.close()
            self._idle.clear()


@contextmanager
def _closed_on_failure(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Close a connection that cannot be used, and say why."""
    try:
        yield
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise _explained(error, path) from error
        raise


def _explained(error: sqlite3.Error, path: Path) -> StoreError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreError(f"{path} is being written by another process for over {WAIT_SECONDS} s: try again")
    if "not a database" in text or "malformed" in text:
        return StoreError(f"{path} is damaged or not a Weft store ({text}): restore it from a backup")
    if "unable to open" in text:
        return StoreError(f"{path} cannot be opened: check that the folder exists and may be written to")
    if "disk" in text or "full" in text:
        return StoreError(f"{path} cannot be written ({text}): free some space")
    return StoreError(f"{path}: {text}")
