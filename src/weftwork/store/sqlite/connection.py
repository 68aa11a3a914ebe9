"""Connections to one SQLite file: a single writer, and as many readers as there are views."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from weftwork.errors import InvalidInput, StoreError, WeftError
from weftwork.store.sql.session import Tracer
from weftwork.store.sqlite.schema import migrate, refuse_foreign, refuse_newer

PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "foreign_keys = ON",
    "cache_size = -65536",
    "mmap_size = 1073741824",
    "temp_store = MEMORY",
)
EXPLAINED = (sqlite3.Error, UnicodeEncodeError)
WAIT_SECONDS = 60
"""Time to wait for another process's write."""
PAUSE_SECONDS = 0.01
CHECKPOINT_SECONDS = 1.0
"""Time from a write to the checkpoint of the write-ahead log, in which many writes may come together."""


class Connections:
    """Hands out connections; thread-safe."""

    def __init__(self, path: Path, tracer: Tracer | None = None) -> None:
        self.path = path
        self._tracer = tracer
        self._writing = threading.RLock()
        self._guard = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self.checkpointer: threading.Timer | None = None
        """Waits to bring the write-ahead log into the file, if something was written since it last did."""
        self._schema = 0
        _create_private(path)
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
                _carry_out(connection, pragma)
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
                if not nested:
                    self._refuse_newer(connection)
                yield connection
                connection.execute("RELEASE nested" if nested else "COMMIT")
                if not nested and self.checkpointer is None:
                    self.checkpointer = threading.Timer(CHECKPOINT_SECONDS, self._checkpoint)
                    self.checkpointer.daemon = True
                    self.checkpointer.start()
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK TO nested" if nested else "ROLLBACK")
                if isinstance(error, EXPLAINED):
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
        except EXPLAINED as error:
            raise _explained(error, self.path) from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            with self._guard:
                if self._closed:
                    connection.close()
                else:
                    self._idle.append(connection)

    def _refuse_newer(self, connection: sqlite3.Connection) -> None:
        """Raise StoreError if a newer version of the program has changed the tables meanwhile."""
        ((schema,),) = connection.execute("PRAGMA schema_version")
        if schema != self._schema:
            refuse_newer(connection, str(self.path))
            self._schema = schema

    def _checkpoint(self) -> None:
        """Bring the write-ahead log into the file: less is lost with the log, or in a bare copy."""
        with self._writing:
            self.checkpointer = None
            if not self._closed:
                with suppress(sqlite3.OperationalError):  # another process is at it, or the disk is full
                    self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def compact(self) -> None:
        """Write the file anew, and empty the write-ahead log; raise StoreError while others hold it."""
        with self._writing:
            self._refuse_closed()
            try:
                self._writer.execute("VACUUM")
                ((busy, _, _),) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                raise _explained(error, self.path) from error
            if busy:
                raise StoreError(f"{self.path} is being read by another process, and was not compacted: try again")

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} was closed: open it again")

    def close(self) -> None:
        """Close every idle connection; ones in use are closed when their block ends."""
        with self._writing, self._guard:
            self._closed = True
            if self.checkpointer is not None:
                self.checkpointer.cancel()
            for connection in (*self._idle, self._writer):
                connection.close()
            self._idle.clear()


def _create_private(path: Path) -> None:
    """Create the file for its owner alone, unless it is there; what SQLite puts beside it is as private as it is."""
    with suppress(OSError):  # it exists, or SQLite says better why it cannot
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _carry_out(connection: sqlite3.Connection, pragma: str) -> None:
    """Run a pragma, with retries while the file is busy.

    SQLite's own busy timeout does not cover the change to WAL while another process writes.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            connection.execute(f"PRAGMA {pragma}")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                raise
            time.sleep(PAUSE_SECONDS)


@contextmanager
def _closed_on_failure(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Close the connection if the block raises, and translate the error."""
    try:
        yield
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise _explained(error, path) from error
        raise


REASONS = {
    "locked": f"is being written by another process for over {WAIT_SECONDS} s: try again",
    "not a database": "is damaged or not a Weftwork store ({error}): restore it from a backup",
    "malformed": "is damaged or not a Weftwork store ({error}): restore it from a backup",
    "unable to open": "cannot be opened: check that the folder exists and may be written to",
    "readonly": "may not be written to: change its permissions, or work on a copy",
    "full": "cannot be written ({error}): free some space",
    "disk I/O": "cannot be read or written ({error}): check its disk, and free some space",
}
"""Parts of SQLite's messages, and the explanation of each."""


def _explained(error: sqlite3.Error | UnicodeEncodeError, path: Path) -> WeftError:
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput(f"{error.object!r} is not text that can be kept ({error.reason}): correct its characters")
    for words, reason in REASONS.items():
        if words in str(error):
            return StoreError(f"{path} {reason.format(error=error)}")
    return StoreError(f"{path}: {error}")
