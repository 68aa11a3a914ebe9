"""Turning partitions into foreign tables, and preparing the coordinator for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from psycopg import sql

from weftwork.store.postgres.cluster.servers import PREFIX
from weftwork.store.postgres.policies import FOLLOWING
from weftwork.store.postgres.schema import PARTITIONED, SCHEMA

if TYPE_CHECKING:
    from psycopg import Connection

_UNIQUE = """SELECT p.relname, i.indexrelid::regclass::text, c.conname FROM pg_index i
    JOIN pg_class p ON p.oid = i.indrelid LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype = 'p'
    WHERE i.indisunique AND p.relkind = 'p' AND p.relnamespace = 'weftwork'::regnamespace ORDER BY 1, 2"""
_OWN = """SELECT x.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i
    JOIN pg_class p ON p.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
    WHERE i.indisunique AND p.relkind = 'r' AND p.relispartition AND x.relispartition
      AND p.relnamespace = 'weftwork'::regnamespace ORDER BY 1"""
_SETTINGS = {"plan_cache_mode": "force_custom_plan", "enable_partitionwise_join": "on"}
"""Plans for one workspace, hence one server; joins are pushed down to it."""
_ALIKE = (
    "SELECT pg_get_functiondef(name::regproc) FROM unnest(ARRAY['weftwork_alike', 'weftwork_words_like']) AS f (name)"
)
_OPERATOR = re.compile(r"(\w\.\w+) % ([\w.]+)")


def prepare(here: Connection[Any]) -> None:
    """Allow foreign partitions: drop global unique indexes, and policies that query other tables."""
    if here.execute(_UNIQUE.encode()).fetchone() is None:
        return
    for name, definition in here.execute(_OWN.encode()).fetchall():
        # Local partitions keep unique indexes of their own, which were parts of the global ones.
        here.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}_own".encode())  # of a run that was stopped
        here.execute(definition.replace(f" INDEX {name} ", f" INDEX CONCURRENTLY {name}_own ", 1).encode())
    with here.transaction():
        here.execute("SET LOCAL lock_timeout TO '10s'")
        for table, index, constraint in here.execute(_UNIQUE.encode()).fetchall():
            here.execute(
                f"ALTER TABLE {table} DROP CONSTRAINT {constraint}".encode()
                if constraint
                else f"DROP INDEX {index}".encode()
            )
        for table in FOLLOWING:  # a subquery would be sent to the server for each row
            here.execute(f"ALTER POLICY reading ON {table} USING (workspace = (SELECT weftwork_workspace()))".encode())
        for (definition,) in here.execute(_ALIKE).fetchall():
            # The operator depends on a setting, so postgres_fdw does not push it down.
            here.execute(_OPERATOR.sub(r"similarity(\1, \2) >= minimum", definition).encode())
        for name, value in _SETTINGS.items():
            here.execute(
                sql.SQL("ALTER DATABASE {} SET {} TO {}").format(
                    sql.Identifier(here.info.dbname), sql.SQL(name), sql.SQL(value)
                )
            )


def hand_over(here: Connection[Any], part: int, parts: int, server: str) -> None:
    """Replace a partition by the foreign table on a server; a local one is dropped."""
    kind = here.execute("SELECT relkind FROM pg_class WHERE oid = %s::regclass", (f"workspaces_{part}",)).fetchone()
    old = "FOREIGN TABLE" if kind is not None and kind[0] in ("f", b"f") else "TABLE"
    for table in PARTITIONED:
        name = f"{table}_{part}"
        here.execute(f"DROP {old} {name}".encode())
        here.execute(
            f"""CREATE FOREIGN TABLE {name} PARTITION OF {table}
                FOR VALUES WITH (MODULUS {parts}, REMAINDER {part})
                SERVER {PREFIX}{server} OPTIONS (schema_name '{SCHEMA}', table_name '{name}')""".encode()
        )
