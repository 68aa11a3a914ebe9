"""Distribution of the tables over the workers of a Citus cluster, by workspace.

All tables of a workspace are co-located, so that each statement goes to one worker. The directory of workspaces, keys,
jobs and the cache of query embeddings stay on the coordinator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weftwork.errors import StoreError
from weftwork.store.postgres.address import Address
from weftwork.store.postgres.owner import owner_connection
from weftwork.store.postgres.policies import APPLICATION, policies
from weftwork.store.postgres.schema import LOCK, SCHEMA, TABLES

if TYPE_CHECKING:
    from psycopg import Connection

SHARDS = 32
"""Citus's own default."""
EXTENSIONS = ("vector", "pg_trgm", "btree_gin")
FIRST = "workspaces"
"""The table with which all others are co-located."""

_HAS_CITUS = "SELECT 1 FROM pg_extension WHERE extname = 'citus'"
_WORKERS = """SELECT nodename || ':' || nodeport FROM pg_dist_node
    WHERE isactive AND shouldhaveshards AND noderole = 'primary' ORDER BY nodeid"""
_ON_WORKERS = """SELECT w.nodename || ':' || w.nodeport, w.success, w.result FROM run_command_on_workers(
    'SELECT string_agg(extname, '','') FROM pg_extension') w"""
_IS_DISTRIBUTED = "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass(%s)"
_FOREIGN_KEYS = """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype = 'f' AND conrelid = ANY (%s::text[]::regclass[]) ORDER BY conrelid::regclass::text, conname"""


def distribute(
    address: Address, *, shards: int = SHARDS, dry_run: bool = False, say: Callable[[str], None] = lambda line: None
) -> bool:
    """Distribute the tables in one transaction, or only say the statements; False if it was done before."""
    with owner_connection(address) as connection:
        _check(connection, address.place)
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            if connection.execute(_IS_DISTRIBUTED, (FIRST,)).fetchone() is not None:
                return False
            say("BEGIN;")
            for statement in statements(connection, shards):
                say(statement)
                if not dry_run:
                    connection.execute(statement.encode())
            say("COMMIT;")
    return True


def statements(connection: Connection[Any], shards: int) -> list[str]:
    """The statements that distribute the tables, in their order."""
    keys = connection.execute(_FOREIGN_KEYS, (list(TABLES),)).fetchall()
    others = [table for table in TABLES if table != FIRST]
    return [
        f"SET LOCAL search_path TO {SCHEMA}, public;",
        "SET LOCAL citus.multi_shard_modify_mode TO 'sequential';",
        # The coordinator connects to workers as the role of the statement.
        f"ALTER ROLE {APPLICATION} LOGIN;",
        f"ALTER DATABASE {_quoted(connection.info.dbname)} SET citus.propagate_set_commands TO 'local';",
        *(f"ALTER TABLE {table} DROP CONSTRAINT {name};" for table, name, _ in keys),
        *(statement for table in TABLES for statement in _policies(table)),
        f"SELECT create_distributed_table('{FIRST}', 'workspace', shard_count => {shards});",
        *(f"SELECT create_distributed_table('{table}', 'workspace', colocate_with => '{FIRST}');" for table in others),
        *(f"ALTER TABLE {table} ADD CONSTRAINT {name} {text};" for table, name, text in keys),
    ]


def _policies(table: str) -> tuple[str, ...]:
    dropped = (f"DROP POLICY {name} ON {table};" for name in ("reading", "writing"))
    return (*dropped, *policies(subqueries=False)[table])


def _check(connection: Connection[Any], place: str) -> None:
    """Raise StoreError with the remedy if the database cannot be distributed."""
    if connection.execute(_HAS_CITUS).fetchone() is None:
        raise StoreError(f"{place} is no coordinator of Citus: run  CREATE EXTENSION citus  on all nodes first")
    if not connection.execute(_WORKERS).fetchall():
        raise StoreError(f"{place} has no workers: add them with  SELECT citus_add_node('host', 5432)")
    for worker, answered, text in connection.execute(_ON_WORKERS).fetchall():
        if not answered:
            raise StoreError(f"worker {worker} does not answer ({text}): all workers must run")
        missing = [name for name in EXTENSIONS if name not in (text or "").split(",")]
        if missing:
            raise StoreError(f"worker {worker} lacks {', '.join(missing)}: run  CREATE EXTENSION {missing[0]}  there")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
