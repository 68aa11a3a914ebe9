"""Moving workspaces and partitions between servers without losing a write.

A move holds a session lock on the coordinator, which writers respect and which ends with the connection. One
transaction switches the directory, or the catalogue, to the copy; until then the original is used. A killed move
has changed nothing that is read, and can be run again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from psycopg import errors

from weftwork.errors import NotFound, StoreBusy, StoreError
from weftwork.store.postgres.cluster.foreign import hand_over
from weftwork.store.postgres.cluster.layout import HERE
from weftwork.store.postgres.cluster.servers import Servers
from weftwork.store.postgres.schema import PARTITIONED
from weftwork.store.sql.errors import missing_workspace

if TYPE_CHECKING:
    from psycopg import Connection

Report = Callable[[str], None]
LOCK = 0x57454654_434C  # "WEFTCL": the advisory lock of cluster commands
PATIENCE = 60.0
"""Seconds to wait for writers, and for readers of the original."""
GLIMPSE = "1s"
"""Lock timeout while waiting for readers, who are blocked that long at most."""


def move_workspace(servers: Servers, name: str, to: str, report: Report) -> None:
    """Move a workspace to a server, or resume an earlier move."""
    here = servers.here
    if to not in servers.names():
        servers.to(to)  # says which there are
    row = here.execute("SELECT id, COALESCE(place, id), other FROM directory WHERE name = %s", (name,)).fetchone()
    if row is None:
        raise missing_workspace(name)
    number, place, other = row
    with _held(here, [number]):
        if other is not None and (_server(servers, place) == to or _server(servers, other) != to):
            _clear(servers, number, other)
            other = None
        if _server(servers, place) == to:
            report(f"{name} is on {to}")
            return
        if other is None:
            other = _draw(servers, to)
            here.execute("UPDATE directory SET other = %s WHERE id = %s", (other, number))
        copy(servers.to(_server(servers, place)), servers.to(to), place, other)
        with here.transaction():
            here.execute("UPDATE directory SET place = other, other = COALESCE(place, id) WHERE id = %s", (number,))
            switched = here.execute("SELECT pg_current_xact_id()::xid").fetchone()
    report(f"{name} is on {to}, its rows were compared")
    assert switched is not None
    _wait_for_readers(here, switched[0])
    _clear(servers, number, place)


def move_part(servers: Servers, part: int, to: str, report: Report) -> None:
    """Move a partition, with all workspaces in it, to a server."""
    here, parts = servers.here, servers.parts()
    if parts[part] == to:
        return
    source, target = servers.to(parts[part]), servers.to(to)
    deadline = time.monotonic() + PATIENCE
    while True:
        numbers = numbers_in(source, part)
        with _held(here, _owners(here, numbers)):
            _sweep(target, part, keeping=numbers)
            for number in numbers:
                copy(source, target, number, number)
            if _switched(servers, part, to, numbers):
                break
        if time.monotonic() > deadline:
            raise StoreBusy(f"part {part} could not be moved, since it is never at rest: run the command again")
    report(f"part {part} is on {to} with {len(numbers)} workspaces, their rows were compared")
    if parts[part] != HERE:
        _sweep(source, part)


def copy(source: Connection[Any], target: Connection[Any], old: int, new: int) -> None:
    """Copy a workspace's rows, table by table, and compare them; identical tables are skipped."""
    for table in PARTITIONED:
        rows = _digest(source, table, old)
        if _digest(target, table, new) == rows:
            continue
        with target.transaction():
            target.execute(f"DELETE FROM {table} WHERE workspace = %s".encode(), (new,))
            _stream(source, target, table, old, new)
            if _digest(target, table, new) != rows:
                raise StoreError(f"the copy of {table} differs from what was copied: nothing was moved, run it again")


def _stream(source: Connection[Any], target: Connection[Any], table: str, old: int, new: int) -> None:
    columns = _columns(source, table)
    query = f"COPY (SELECT {new}::bigint, {columns} FROM {table} WHERE workspace = {old}) TO STDOUT (FORMAT binary)"
    into = f"COPY {table} (workspace, {columns}) FROM STDIN (FORMAT binary)"
    with source.cursor().copy(query.encode()) as reading, target.cursor().copy(into.encode()) as writing:
        for block in reading:
            writing.write(block)


def _digest(connection: Connection[Any], table: str, number: int) -> tuple[Any, ...]:
    """The number of rows of a workspace in a table, and their checksum."""
    row = connection.execute(
        f"""SELECT count(*), COALESCE(sum(hashtextextended(ROW({_columns(connection, table)})::text, 0)), 0)
            FROM {table} WHERE workspace = %s""".encode(),
        (number,),
    ).fetchone()
    assert row is not None
    return tuple(row)


def _columns(connection: Connection[Any], table: str) -> str:
    """The columns of a table after the workspace's number."""
    rows = connection.execute(
        """SELECT quote_ident(attname) FROM pg_attribute
           WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'workspace'
           ORDER BY attnum""",
        (table,),
    )
    return ", ".join(row[0] for row in rows)


@contextmanager
def alone(here: Connection[Any]) -> Iterator[None]:
    """Exclude other commands that change the cluster."""
    row = here.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone()
    if row is None or not row[0]:
        raise StoreBusy("another weftwork cluster command is at work, or weftwork tune: run this one when it is done")
    try:
        yield
    finally:
        if not here.closed:
            here.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


@contextmanager
def _held(here: Connection[Any], owners: Sequence[int]) -> Iterator[None]:
    """Exclude writers from these workspaces, after waiting for active ones."""
    held: list[int] = []
    try:
        here.execute(f"SET lock_timeout TO {int(1000 * PATIENCE)}".encode())
        for owner in owners:
            here.execute("SELECT pg_advisory_lock(%s)", (-owner,))
            held.append(owner)
        yield
    except errors.LockNotAvailable as error:
        raise StoreBusy("a workspace is being written for too long to be moved: run the command again") from error
    finally:
        for owner in () if here.closed else held:
            here.execute("SELECT pg_advisory_unlock(%s)", (-owner,))


def _switched(servers: Servers, part: int, to: str, numbers: Collection[int]) -> bool:
    """Switch a partition to its copy, unless a workspace was added or dropped since."""
    here, parts = servers.here, servers.parts()
    try:
        with here.transaction():
            here.execute(f"SET LOCAL lock_timeout TO '{GLIMPSE}'".encode())
            # Readers and writers look into the directory first, so that there are none from now on.
            here.execute("LOCK TABLE directory IN ACCESS EXCLUSIVE MODE")
            if numbers_in(servers.to(parts[part]), part) != numbers:
                return False
            hand_over(here, part, len(parts), to)
            return True
    except errors.LockNotAvailable:
        return False


def numbers_in(connection: Connection[Any], part: int) -> list[int]:
    """The numbers of the workspaces in a partition, read on its server."""
    return [row[0] for row in connection.execute(f"SELECT workspace FROM workspaces_{part} ORDER BY 1".encode())]


def _owners(here: Connection[Any], numbers: Sequence[int]) -> list[int]:
    """The ids of the workspaces with these numbers, in the order in which they are locked."""
    rows = here.execute(
        "SELECT id FROM directory WHERE COALESCE(place, id) = ANY (%s::bigint[]) ORDER BY id", (list(numbers),)
    )
    return [row[0] for row in rows]


def _server(servers: Servers, number: int) -> str:
    """The server of the partition of a number."""
    return servers.parts()[_part(servers, number)]


def _part(servers: Servers, number: int) -> int:
    count = len(servers.parts())
    row = servers.here.execute(
        """SELECT part FROM generate_series(0, %s - 1) AS p (part)
           WHERE satisfies_hash_partition('weftwork.workspaces'::regclass, %s, part, %s::bigint)""",
        (count, count, number),
    ).fetchone()
    assert row is not None
    return int(row[0])


def _draw(servers: Servers, to: str) -> int:
    """A new number whose partition is on a server."""
    if to not in servers.parts().values():
        raise NotFound(f"{to!r} holds no part yet: give it some with  weftwork cluster apply")
    while True:
        row = servers.here.execute("SELECT nextval(pg_get_serial_sequence('weftwork.directory', 'id'))").fetchone()
        assert row is not None
        if _server(servers, row[0]) == to:
            return int(row[0])


def _clear(servers: Servers, owner: int, number: int) -> None:
    """Remove the orphaned rows of a number, and the number from the directory."""
    connection = servers.to(_server(servers, number))
    with connection.transaction():
        for table in PARTITIONED:
            connection.execute(f"DELETE FROM {table} WHERE workspace = %s".encode(), (number,))
    servers.here.execute("UPDATE directory SET other = NULL WHERE id = %s AND other = %s", (owner, number))


def _sweep(connection: Connection[Any], part: int, keeping: Sequence[int] = ()) -> None:
    """Remove the leftovers of an earlier move in a partition, or all of its rows."""
    with connection.transaction():
        for table in PARTITIONED:
            connection.execute(
                f"DELETE FROM {table}_{part} WHERE workspace <> ALL (%s::bigint[])".encode(), (list(keeping),)
            )


def _wait_for_readers(here: Connection[Any], switched: str) -> None:
    """Wait for all transactions that may have read the old directory."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        row = here.execute(
            """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
               AND backend_xmin IS NOT NULL AND age(backend_xmin) >= age(%s::text::xid)""",
            (str(switched),),
        ).fetchone()
        if row is not None and not row[0]:
            return
        time.sleep(0.05)
