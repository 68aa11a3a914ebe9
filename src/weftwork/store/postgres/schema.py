"""Tables, as named migrations: each runs and is recorded in one transaction, under an advisory lock.

Tables of a workspace have its number first in the primary key and are hash-partitioned by it. There are no foreign keys
and no triggers, since a partition may be a foreign table. Each workspace has one writer at a time (its row in
`directory` is locked), so the writer maintains the counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weftwork.errors import StoreError
from weftwork.store.postgres.policies import APPLICATION, FUNCTIONS, GRANTS, POLICIES, ROLE

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "weftwork"
_TEXT = re.compile(r"\btext(?=(?: NOT NULL)?,)")
LOCK = 0x57454654  # "WEFT": the advisory lock of migrations

PARTITIONED: dict[str, str] = {
    "workspaces": """version bigint NOT NULL DEFAULT 0, access text NOT NULL,
        next_node bigint NOT NULL DEFAULT 1, next_passage bigint NOT NULL DEFAULT 1,
        next_list bigint NOT NULL DEFAULT 1, next_model bigint NOT NULL DEFAULT 1, PRIMARY KEY (workspace)""",
    "users": "name text NOT NULL, PRIMARY KEY (workspace, name)",
    "members": "who text NOT NULL, team text NOT NULL, PRIMARY KEY (workspace, who, team)",
    "acls": """id bigint NOT NULL, principals text NOT NULL, digest text NOT NULL,
        passages bigint NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0, PRIMARY KEY (workspace, id)""",
    "acl_principals": "principal text NOT NULL, acl bigint NOT NULL, PRIMARY KEY (workspace, principal, acl)",
    "nodes": """pk bigint NOT NULL, id text NOT NULL, type text NOT NULL, title text NOT NULL, parent bigint,
        position bigint NOT NULL, tags text NOT NULL, fields text NOT NULL, confidence float8, conversation text,
        created_at bigint NOT NULL, updated_at bigint NOT NULL, source text NOT NULL, owner text, access text,
        acl bigint NOT NULL, digest text NOT NULL, valid_from bigint, valid_until bigint, document bigint,
        title_key text NOT NULL, source_key text NOT NULL, PRIMARY KEY (workspace, pk)""",
    "tags": "tag text NOT NULL, node bigint NOT NULL, PRIMARY KEY (workspace, node, tag)",
    "fields": """name text NOT NULL, value text NOT NULL, head text NOT NULL, node bigint NOT NULL,
        ordinal bigint NOT NULL, PRIMARY KEY (workspace, node, ordinal)""",
    "passages": """key bigint NOT NULL, node bigint NOT NULL, acl bigint NOT NULL, ordinal bigint NOT NULL,
        start bigint NOT NULL, "end" bigint NOT NULL, text text NOT NULL, tokens bigint NOT NULL,
        words bigint NOT NULL, digest text NOT NULL, citation text NOT NULL, lexemes tsvector NOT NULL,
        PRIMARY KEY (workspace, key)""",
    "words": """key int NOT NULL, node int NOT NULL, acl int NOT NULL, length int NOT NULL,
        frequency smallint NOT NULL, step smallint NOT NULL, term text NOT NULL,
        PRIMARY KEY (workspace, term, key) INCLUDE (node, acl, frequency, step, length)""",
    "vocabulary": """word text NOT NULL, acl bigint NOT NULL, passages bigint NOT NULL,
        PRIMARY KEY (workspace, word, acl)""",
    "models": """name text NOT NULL, model bigint NOT NULL, dimensions int NOT NULL,
        PRIMARY KEY (workspace, name)""",
    "embeddings": """model bigint NOT NULL, key bigint NOT NULL, node bigint NOT NULL, acl bigint NOT NULL,
        bits varbit, vector vector NOT NULL, PRIMARY KEY (workspace, model, key)""",
    "page_vectors": """model text NOT NULL, node bigint NOT NULL, width int NOT NULL, sketch bytea NOT NULL,
        vectors bytea NOT NULL, PRIMARY KEY (workspace, model, node)""",
    "edges": """source bigint NOT NULL, target bigint NOT NULL, type text NOT NULL, label text NOT NULL,
        weight float8 NOT NULL, PRIMARY KEY (workspace, source, target, type, label)""",
    "changes": """node bigint NOT NULL, version bigint NOT NULL, id text NOT NULL, acl bigint NOT NULL,
        deleted boolean NOT NULL, PRIMARY KEY (workspace, node)""",
    "commits": "version bigint NOT NULL, mark text NOT NULL, PRIMARY KEY (workspace, version)",
    "activity": """who text NOT NULL, kind text NOT NULL, node bigint NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (workspace, who, kind, node)""",
    "feedback": """node bigint NOT NULL, who text NOT NULL, useful boolean NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (workspace, node, who)""",
    "usage": "node bigint NOT NULL, who text NOT NULL, used bigint NOT NULL, PRIMARY KEY (workspace, node, who)",
    "contexts": """who text NOT NULL, thread text NOT NULL, name text NOT NULL, kept text NOT NULL,
        at bigint NOT NULL, PRIMARY KEY (workspace, who, thread, name)""",
    "marks": """topic text NOT NULL, name text NOT NULL, mark text NOT NULL,
        PRIMARY KEY (workspace, topic, name)""",
}
"""Tables of a workspace, with their columns after its number; text has the collation "C"."""

_DIRECTORY = """
    CREATE TABLE directory (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE,
        -- The number of its rows where that is not the id, since it was moved; and one from or to which it is moving.
        place bigint UNIQUE, other bigint
    );
    CREATE TABLE keys (
        id text COLLATE "C" PRIMARY KEY, digest text COLLATE "C" NOT NULL UNIQUE, who text NOT NULL,
        scope text NOT NULL, name text NOT NULL, created_at bigint NOT NULL, expires_at bigint, revoked_at bigint
    );
    CREATE TABLE key_workspaces (
        key text COLLATE "C" NOT NULL, workspace bigint NOT NULL, PRIMARY KEY (key, workspace)
    );
    CREATE TABLE jobs (
        id text COLLATE "C" PRIMARY KEY, workspace bigint NOT NULL, who text NOT NULL, state text NOT NULL,
        created_at bigint NOT NULL, updated_at bigint NOT NULL, details text NOT NULL
    );
    CREATE INDEX jobs_workspace ON jobs (workspace, state, updated_at);
    -- Texts that wait for a vector. No part of a workspace, which may be on a server where locks cannot be skipped.
    CREATE TABLE waiting (
        workspace bigint NOT NULL, model text COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL,
        PRIMARY KEY (workspace, model, digest)
    );
    CREATE TABLE embedding_cache (
        model text NOT NULL, digest text NOT NULL, vector bytea NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (model, digest)
    );
    CREATE INDEX embedding_cache_at ON embedding_cache (at);
"""

_INDEXES = """
    CREATE UNIQUE INDEX acls_digest ON acls (workspace, digest);
    CREATE INDEX acl_principals_acl ON acl_principals (workspace, acl);
    CREATE UNIQUE INDEX nodes_id ON nodes (workspace, id);
    CREATE INDEX nodes_children ON nodes (workspace, parent, position, pk);
    CREATE INDEX nodes_document ON nodes (workspace, document);
    CREATE INDEX nodes_recent ON nodes (workspace, updated_at);
    CREATE INDEX nodes_acl ON nodes (workspace, acl);
    CREATE INDEX nodes_title ON nodes (workspace, title_key);
    CREATE INDEX nodes_source ON nodes (workspace, source_key) WHERE source_key <> '';
    CREATE INDEX nodes_beginning ON nodes (workspace, valid_from) WHERE valid_from IS NOT NULL;
    CREATE INDEX nodes_ending ON nodes (workspace, valid_until) WHERE valid_until IS NOT NULL;
    CREATE INDEX nodes_pages ON nodes (workspace, pk) WHERE type = 'document_page';
    CREATE INDEX nodes_title_grams ON nodes USING gin (workspace, title gin_trgm_ops);
    CREATE INDEX nodes_source_grams ON nodes USING gin (workspace, source gin_trgm_ops) WHERE source <> '';
    CREATE INDEX tags_tag ON tags (workspace, tag, node);
    CREATE INDEX fields_head ON fields (workspace, name, head, node);
    CREATE INDEX passages_node ON passages (workspace, node, ordinal);
    CREATE INDEX passages_digest ON passages (workspace, digest);
    CREATE INDEX passages_citation ON passages (workspace, citation);
    CREATE INDEX vocabulary_grams ON vocabulary USING gin (workspace, word gin_trgm_ops);
    CREATE INDEX embeddings_bits ON embeddings (workspace, model, acl) INCLUDE (key, node, bits);
    CREATE INDEX embeddings_node ON embeddings (workspace, node);
    CREATE INDEX page_vectors_node ON page_vectors (workspace, node);
    CREATE INDEX edges_target ON edges (workspace, target, source, type, label);
    CREATE INDEX changes_version ON changes (workspace, version);
    CREATE INDEX activity_recent ON activity (workspace, who, kind, at);
    CREATE INDEX activity_node ON activity (workspace, node);
    CREATE INDEX contexts_at ON contexts (workspace, who, at);
"""

_EXTENSIONS = """
    CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
    CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
    CREATE EXTENSION IF NOT EXISTS btree_gin SCHEMA public;
"""

MIGRATIONS: dict[str, str] = {
    "0001_first_release": "\n".join((_EXTENSIONS, _DIRECTORY, "{tables}", _INDEXES, FUNCTIONS, POLICIES, ROLE))
}


def migrate(connection: Connection[Any], partitions: int) -> None:
    """Bring a database to the newest schema; safe when many processes do it at once."""
    if _missing(connection):
        _migrate(connection, partitions)
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        waiting = connection.execute(
            """SELECT 1 FROM pg_roles r JOIN pg_class c ON c.relnamespace = %s::regnamespace
               WHERE r.rolname = %s AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                 AND pg_has_role(c.relowner, 'MEMBER') AND NOT has_table_privilege(r.oid, c.oid, 'UPDATE') LIMIT 1""",
            (SCHEMA, APPLICATION),
        ).fetchone()
        if waiting is not None:
            connection.execute(GRANTS.encode())


def _migrate(connection: Connection[Any], partitions: int) -> None:
    with connection.transaction():
        # Locked before the first look: a second process finds everything done.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {SCHEMA}.migrations (name text PRIMARY KEY)")
    for name, steps in MIGRATIONS.items():
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            if name in _missing(connection):
                script = steps.replace("{tables}", _tables(partitions))
                connection.execute(script.encode())
                connection.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))


def is_set_up(connection: Connection[Any]) -> bool:
    """True if the database has our schema."""
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.migrations",)).fetchone()
    return row is not None and bool(row[0])


def _missing(connection: Connection[Any]) -> list[str]:
    """Names of pending migrations; raise StoreError if the database is of a newer version."""
    if not is_set_up(connection):
        return list(MIGRATIONS)
    done = {row[0] for row in connection.execute(f"SELECT name FROM {SCHEMA}.migrations")}
    unknown = sorted(done - MIGRATIONS.keys())
    if unknown:
        raise StoreError(
            f"the database was written by a newer version of Weftwork ({unknown[-1]}): "
            "upgrade with  pip install -U weftwork"
        )
    return [name for name in MIGRATIONS if name not in done]


def _tables(partitions: int) -> str:
    """The partitioned tables with their partitions."""
    return "\n".join(_table(name, columns, partitions) for name, columns in PARTITIONED.items())


def _table(name: str, columns: str, partitions: int) -> str:
    compared = _TEXT.sub('text COLLATE "C"', columns)
    parts = (
        f"CREATE TABLE {name}_{number} PARTITION OF {name} FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number});"
        for number in range(partitions)
    )
    table = f"CREATE TABLE {name} (workspace bigint NOT NULL, {compared}) PARTITION BY HASH (workspace);"
    return "\n".join((table, *parts))
