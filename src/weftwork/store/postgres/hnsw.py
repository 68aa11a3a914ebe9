"""HNSW indexes for workspaces that are too large to be compared row by row.

They are built on request only: they slow down writes, and most workspaces are small enough without. Each workspace has
an index of its own, so that the recall of a search depends on nothing of another one; it can depend on rows of the same
workspace that its viewer may not see. On Citus the index is one of the distributed table, and moves with its shard.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from weftwork.errors import StoreBusy, StoreError
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.owner import owner_connection
from weftwork.store.postgres.session import nearest_index

if TYPE_CHECKING:
    from psycopg import Connection

FEW = 20_000
"""The number of vectors of a workspace up to which it gets no index."""
WIDEST = 4_000
"""The maximum of dimensions that pgvector can index."""
OLDEST = (0, 8)
"""The first version of pgvector with iterative index scans."""
POLL_SECONDS = 0.5
LOCK = 0x57454655
"""The advisory lock of `tune`."""

_VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
_SIZES = """SELECT workspace, length(bits), count(*) FROM embeddings WHERE bits IS NOT NULL
    GROUP BY 1, 2 HAVING count(*) > %s ORDER BY 1, 2"""
_IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
# Normalised, since other vectors may exceed the range of half precision.
_MAKE = """CREATE INDEX CONCURRENTLY {name} ON embeddings
    USING hnsw ((l2_normalize(vector)::halfvec({width})) halfvec_cosine_ops)
    WITH (m = 16, ef_construction = 100)
    WHERE workspace = {workspace} AND vector_dims(vector) = {width} AND bits IS NOT NULL"""
_PROGRESS = """SELECT COALESCE(
        tuples_done / NULLIF(tuples_total, 0)::float8, blocks_done / NULLIF(blocks_total, 0)::float8)
    FROM pg_stat_progress_create_index WHERE pid = %s"""

Progress = Callable[[str, float], None]
"""Called with the name of an index and the share of it that is built."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """A workspace with many vectors, and their index."""

    workspace: str
    dimensions: int
    vectors: int
    made: bool
    """False if the index existed before."""
    seconds: float

    def as_dict(self) -> dict[str, object]:
        """Return the values for JSON."""
        return asdict(self)


def tune(url: str, *, memory: str, fewest: int = FEW, progress: Progress = lambda what, share: None) -> Iterator[Tuned]:
    """Build missing indexes, concurrently with reads and writes; resumable."""
    address = parse(url)
    # One run at a time: a second run would mistake an index that is being built for the remains of a stopped run.
    with owner_connection(address) as connection, alone(connection):
        _check(connection, address.place)
        connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (memory,))
        names = dict(connection.execute("SELECT id, name FROM directory").fetchall())
        for workspace, width, vectors in connection.execute(_SIZES, (fewest,)).fetchall():
            if workspace in names and width <= WIDEST:
                started = time.monotonic()
                made = _made(connection, workspace, width, progress)
                yield Tuned(names[workspace], width, vectors, made, round(time.monotonic() - started, 1))


@contextmanager
def alone(connection: Connection[Any]) -> Iterator[None]:
    """Hold the lock of `tune`, or raise StoreBusy."""
    row = connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone()
    if row is None or not row[0]:
        raise StoreBusy("another `weftwork tune` is at work on this database: wait for it to end")
    try:
        yield
    finally:
        if not connection.broken:
            connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def _check(connection: Connection[Any], place: str) -> None:
    row = connection.execute(_VERSION).fetchone()
    version = "0" if row is None else str(row[0])
    if tuple(map(int, version.split(".")[:2])) < OLDEST:
        raise StoreError(f"{place} has pgvector {version}: install 0.8 or later, and ALTER EXTENSION vector UPDATE")


def _made(connection: Connection[Any], workspace: int, width: int, progress: Progress) -> bool:
    """Build an index if there is no valid one; True if it was built."""
    name = nearest_index(workspace, width)
    valid = connection.execute(_IS_VALID, (name,)).fetchone()
    if valid is not None and valid[0]:
        return False
    if valid is not None:  # of a run that was stopped
        connection.execute(f"DROP INDEX CONCURRENTLY {name}".encode())
    _make(connection, name, _MAKE.format(name=name, workspace=workspace, width=width), progress)
    return True


def _make(connection: Connection[Any], name: str, statement: str, progress: Progress) -> None:
    """Run a statement and report its progress; on an exception, cancel it on the server."""
    with _beside(connection) as other, ThreadPoolExecutor(1) as thread:
        running = thread.submit(connection.execute, statement.encode())
        try:
            while True:
                try:
                    running.result(POLL_SECONDS)
                    return
                except StillRunning:
                    row = other.execute(_PROGRESS, (connection.info.backend_pid,)).fetchone()
                    progress(name, 0.0 if row is None or row[0] is None else float(row[0]))
        except BaseException:
            connection.cancel_safe()
            raise


def _beside(connection: Connection[Any]) -> Connection[Any]:
    """A second connection to the same server."""
    return type(connection).connect(connection.info.dsn, password=connection.info.password or None, autocommit=True)
