"""HNSW indexes for partitions that are too large to be compared row by row.

They are built on request only: they slow down writes, and most workspaces are small enough without. An index spans the
workspaces of a partition, so that the recall of a search can depend on rows that its viewer may not see.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from weftwork.errors import StoreError
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.cluster.layout import HERE
from weftwork.store.postgres.cluster.moving import alone
from weftwork.store.postgres.cluster.servers import Servers, translated_errors

if TYPE_CHECKING:
    from psycopg import Connection

FEW = 20_000
"""The number of vectors of a partition up to which it gets no index."""
WIDEST = 4_000
"""The maximum of dimensions that pgvector can index."""
OLDEST = (0, 8)
"""The first version of pgvector with iterative index scans."""
POLL_SECONDS = 0.5

_PARTS = """SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'weftwork.embeddings'::regclass AND c.relkind = 'r'
    ORDER BY substring(c.relname FROM '[0-9]+$')::int"""
_VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
_LENGTHS = "SELECT length(bits), count(*) FROM {part} WHERE bits IS NOT NULL GROUP BY 1 ORDER BY 1"
_IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
# Normalised, since other vectors may exceed the range of half precision.
_MAKE = """CREATE INDEX CONCURRENTLY {name} ON {part}
    USING hnsw ((l2_normalize(vector)::halfvec({width})) halfvec_cosine_ops)
    WITH (m = 16, ef_construction = 100) WHERE vector_dims(vector) = {width} AND bits IS NOT NULL"""
_PROGRESS = """SELECT COALESCE(
        tuples_done / NULLIF(tuples_total, 0)::float8, blocks_done / NULLIF(blocks_total, 0)::float8)
    FROM pg_stat_progress_create_index WHERE pid = %s"""

Progress = Callable[[str, float], None]
"""Called with the name of an index and the share of it that is built."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """A partition of the table of vectors, and its index."""

    server: str
    part: str
    dimensions: int
    vectors: int
    made: bool
    """False if the index existed before."""
    seconds: float

    def as_dict(self) -> dict[str, object]:
        """Return the values for JSON."""
        return asdict(self)


def tune(url: str, *, memory: str, fewest: int = FEW, progress: Progress = lambda what, share: None) -> Iterator[Tuned]:
    """Build missing indexes on all servers of a cluster, concurrently with reads and writes; resumable."""
    address = parse(url)
    # One at a time: a second run would mistake an index that is being built for the remains of a stopped run.
    with Servers(address) as servers, translated_errors(address.place), alone(servers.here):
        for name in (HERE, *servers.names()):
            with translated_errors(servers.place(name)):
                connection = servers.to(name)
                _check(connection, servers.place(name))
                connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (memory,))
                for part, size in _large(connection, fewest):
                    yield _tuned(connection, name, part, size, progress)


def _large(connection: Connection[Any], fewest: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The partitions that need an index, with its dimensions and number of vectors."""
    for (part,) in connection.execute(_PARTS).fetchall():
        for width, vectors in connection.execute(_LENGTHS.format(part=part).encode()).fetchall():
            if vectors > fewest and width <= WIDEST:
                yield part, (width, vectors)


def _check(connection: Connection[Any], place: str) -> None:
    row = connection.execute(_VERSION).fetchone()
    version = "0" if row is None else str(row[0])
    if tuple(map(int, version.split(".")[:2])) < OLDEST:
        raise StoreError(f"{place} has pgvector {version}: install 0.8 or later, and ALTER EXTENSION vector UPDATE")


def _tuned(connection: Connection[Any], server: str, part: str, size: tuple[int, int], progress: Progress) -> Tuned:
    width, vectors = size
    name = f"{part}_nearest_{width}"
    started = time.monotonic()
    valid = connection.execute(_IS_VALID, (name,)).fetchone()
    made = valid is None or not valid[0]
    if made:
        if valid is not None:  # of a run that was stopped
            connection.execute(f"DROP INDEX CONCURRENTLY {name}".encode())
        _make(connection, name, _MAKE.format(name=name, part=part, width=width), progress)
    return Tuned(server, part, width, vectors, made, round(time.monotonic() - started, 1))


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
