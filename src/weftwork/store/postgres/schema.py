"""Tables, as named migrations: each runs and is recorded in one transaction, under an advisory lock.

Tables of a workspace have its number first in the primary key and in every foreign key, so that Citus can distribute
them by it (`citus.py`). Each workspace has one writer at a time (its row in `directory` is locked), so the writer
maintains the counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from weftwork.errors import StoreError
from weftwork.store.postgres.policies import APPLICATION, FUNCTIONS, GRANTS, ROLE, SERVICE, policies_for

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "weftwork"
_TEXT = re.compile(r"\btext(?=(?: NOT NULL)?(?: DEFAULT '\w+')?,)")
LOCK = 0x57454654  # "WEFT": the advisory lock of migrations

_WORKSPACE = "FOREIGN KEY (workspace) REFERENCES workspaces ON DELETE CASCADE"
_NODE = "FOREIGN KEY (workspace, node) REFERENCES nodes ON DELETE CASCADE"

TABLES: dict[str, str] = {
    "workspaces": """version bigint NOT NULL DEFAULT 0, access text NOT NULL,
        next_node bigint NOT NULL DEFAULT 1, next_passage bigint NOT NULL DEFAULT 1,
        next_list bigint NOT NULL DEFAULT 1, next_model bigint NOT NULL DEFAULT 1, PRIMARY KEY (workspace)""",
    "users": f"name text NOT NULL, PRIMARY KEY (workspace, name), {_WORKSPACE}",
    "members": """who text NOT NULL, team text NOT NULL, PRIMARY KEY (workspace, who, team),
        FOREIGN KEY (workspace, who) REFERENCES users ON DELETE CASCADE""",
    "acls": f"""id bigint NOT NULL, principals text NOT NULL, digest text NOT NULL,
        passages bigint NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0, PRIMARY KEY (workspace, id),
        {_WORKSPACE}""",
    "acl_principals": """principal text NOT NULL, acl bigint NOT NULL, PRIMARY KEY (workspace, principal, acl),
        FOREIGN KEY (workspace, acl) REFERENCES acls ON DELETE CASCADE""",
    "nodes": f"""pk bigint NOT NULL, id text NOT NULL, type text NOT NULL, title text NOT NULL, parent bigint,
        position bigint NOT NULL, tags text NOT NULL, fields text NOT NULL, confidence float8, conversation text,
        created_at bigint NOT NULL, updated_at bigint NOT NULL, source text NOT NULL, owner text, access text,
        acl bigint NOT NULL, digest text NOT NULL, valid_from bigint, valid_until bigint, document bigint,
        title_key text NOT NULL, source_key text NOT NULL, writer text, origin text NOT NULL DEFAULT 'written',
        PRIMARY KEY (workspace, pk), {_WORKSPACE}""",
    "tags": f"tag text NOT NULL, node bigint NOT NULL, PRIMARY KEY (workspace, node, tag), {_NODE}",
    "fields": f"""name text NOT NULL, value text NOT NULL, head text NOT NULL, node bigint NOT NULL,
        ordinal bigint NOT NULL, PRIMARY KEY (workspace, node, ordinal), {_NODE}""",
    "passages": f"""key bigint NOT NULL, node bigint NOT NULL, acl bigint NOT NULL, ordinal bigint NOT NULL,
        start bigint NOT NULL, "end" bigint NOT NULL, text text NOT NULL, tokens bigint NOT NULL,
        words bigint NOT NULL, digest text NOT NULL, citation text NOT NULL, lexemes tsvector NOT NULL,
        PRIMARY KEY (workspace, key), {_NODE}""",
    # Rows hold the postings of 4,096 passages: see `words.py`.
    "words": f"""acl bigint NOT NULL, block int NOT NULL, postings bigint[] NOT NULL, term text NOT NULL,
        PRIMARY KEY (workspace, term, acl, block), {_WORKSPACE}""",
    "vocabulary": f"""word text NOT NULL, acl bigint NOT NULL, passages bigint NOT NULL,
        PRIMARY KEY (workspace, word, acl), {_WORKSPACE}""",
    "models": f"""name text NOT NULL, model bigint NOT NULL, dimensions int NOT NULL,
        PRIMARY KEY (workspace, name), {_WORKSPACE}""",
    "embeddings": """model bigint NOT NULL, key bigint NOT NULL, node bigint NOT NULL, acl bigint NOT NULL,
        bits varbit, vector vector NOT NULL, PRIMARY KEY (workspace, model, key),
        FOREIGN KEY (workspace, key) REFERENCES passages ON DELETE CASCADE""",
    "page_vectors": f"""model text NOT NULL, node bigint NOT NULL, width int NOT NULL, sketch bytea NOT NULL,
        vectors bytea NOT NULL, PRIMARY KEY (workspace, model, node), {_NODE}""",
    "edges": """source bigint NOT NULL, target bigint NOT NULL, type text NOT NULL, label text NOT NULL,
        weight float8 NOT NULL, PRIMARY KEY (workspace, source, target, type, label),
        FOREIGN KEY (workspace, source) REFERENCES nodes ON DELETE CASCADE,
        FOREIGN KEY (workspace, target) REFERENCES nodes ON DELETE CASCADE""",
    "changes": f"""node bigint NOT NULL, version bigint NOT NULL, id text NOT NULL, acl bigint NOT NULL,
        deleted boolean NOT NULL, PRIMARY KEY (workspace, node), {_WORKSPACE}""",
    "commits": f"version bigint NOT NULL, mark text NOT NULL, PRIMARY KEY (workspace, version), {_WORKSPACE}",
    "activity": f"""who text NOT NULL, kind text NOT NULL, node bigint NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (workspace, who, kind, node), {_NODE}""",
    "feedback": f"""node bigint NOT NULL, who text NOT NULL, query text NOT NULL, useful boolean NOT NULL,
        at bigint NOT NULL, PRIMARY KEY (workspace, node, who, query), {_NODE}""",
    "usage": f"""node bigint NOT NULL, who text NOT NULL, used bigint NOT NULL,
        PRIMARY KEY (workspace, node, who), {_NODE}""",
    "contexts": f"""who text NOT NULL, thread text NOT NULL, name text NOT NULL, kept text NOT NULL,
        at bigint NOT NULL, PRIMARY KEY (workspace, who, thread, name), {_WORKSPACE}""",
    "marks": f"""topic text NOT NULL, name text NOT NULL, mark text NOT NULL,
        PRIMARY KEY (workspace, topic, name), {_WORKSPACE}""",
    "waiting": f"""model text NOT NULL, digest text NOT NULL, PRIMARY KEY (workspace, model, digest),
        {_WORKSPACE}""",
    "receipts": f"""id text NOT NULL, who text NOT NULL, thread text NOT NULL, at bigint NOT NULL, record text NOT NULL,
        PRIMARY KEY (workspace, id), {_WORKSPACE}""",
    "given": f"""node bigint NOT NULL, who text NOT NULL, given text NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (workspace, node, who), {_NODE}""",
}
"""Tables of a workspace, with their columns after its number; text has the collation "C"."""

_DIRECTORY = """
    CREATE TABLE directory (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE
    );
    CREATE TABLE keys (
        id text COLLATE "C" PRIMARY KEY, digest text COLLATE "C" NOT NULL UNIQUE, who text NOT NULL,
        scope text NOT NULL, name text NOT NULL, created_at bigint NOT NULL, expires_at bigint, revoked_at bigint,
        used_at bigint
    );
    CREATE TABLE key_workspaces (
        key text COLLATE "C" NOT NULL REFERENCES keys ON DELETE CASCADE,
        workspace bigint NOT NULL REFERENCES directory ON DELETE CASCADE, PRIMARY KEY (key, workspace)
    );
    CREATE TABLE jobs (
        id text COLLATE "C" PRIMARY KEY, workspace bigint NOT NULL REFERENCES directory ON DELETE CASCADE,
        who text NOT NULL, state text NOT NULL,
        created_at bigint NOT NULL, updated_at bigint NOT NULL, details text NOT NULL
    );
    CREATE INDEX jobs_workspace ON jobs (workspace, state, updated_at);
    CREATE INDEX key_workspaces_workspace ON key_workspaces (workspace);
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
    CREATE INDEX nodes_origin ON nodes (workspace, origin) WHERE origin <> 'written';
    CREATE INDEX nodes_conversation ON nodes (workspace, conversation, created_at, pk) WHERE conversation IS NOT NULL;
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
    CREATE INDEX embeddings_key ON embeddings (workspace, key);
    CREATE INDEX page_vectors_node ON page_vectors (workspace, node);
    CREATE INDEX edges_target ON edges (workspace, target, source, type, label);
    CREATE INDEX changes_version ON changes (workspace, version);
    CREATE INDEX activity_recent ON activity (workspace, who, kind, at);
    CREATE INDEX activity_node ON activity (workspace, node);
    CREATE INDEX feedback_latest ON feedback (workspace, who, at);
    CREATE INDEX contexts_at ON contexts (workspace, who, at);
    CREATE INDEX receipts_at ON receipts (workspace, at, id);
"""

_EXTENSIONS = """
    CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
    CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
    CREATE EXTENSION IF NOT EXISTS btree_gin SCHEMA public;
"""


def _tables() -> str:
    columns = {name: _TEXT.sub('text COLLATE "C"', text) for name, text in TABLES.items()}
    return "\n".join(f"CREATE TABLE {name} (workspace bigint NOT NULL, {text});" for name, text in columns.items())


_AUDIT = """
    -- What users and administrators did; no content. Names and not numbers: it outlives what it tells of.
    CREATE TABLE audit (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, workspace text NOT NULL,
        who text NOT NULL, key text NOT NULL, address text NOT NULL, request text NOT NULL, action text NOT NULL,
        details text NOT NULL
    );
    CREATE INDEX audit_at ON audit (at);
    CREATE FUNCTION audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the audit log is append-only';
    END $$;
    CREATE TRIGGER audit_kept BEFORE UPDATE ON audit FOR EACH ROW EXECUTE FUNCTION audit_kept();
    ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
    CREATE POLICY audit_service ON audit USING (weftwork_all()) WITH CHECK (weftwork_all());
"""

MIGRATIONS: dict[str, str] = {
    "0001_first_release": "\n".join(
        (_EXTENSIONS, _DIRECTORY, _tables(), _INDEXES, FUNCTIONS, policies_for(*TABLES, *SERVICE), _AUDIT, ROLE)
    ),
}


def migrate(connection: Connection[Any]) -> None:
    """Bring a database to the newest schema; safe when many processes do it at once."""
    if _missing(connection):
        _migrate(connection)
    with _alone(connection):
        waiting = connection.execute(
            """SELECT 1 FROM pg_roles r JOIN pg_class c ON c.relnamespace = %s::regnamespace
               WHERE r.rolname = %s AND c.relkind = 'r'
                 AND pg_has_role(c.relowner, 'MEMBER') AND NOT has_table_privilege(r.oid, c.oid, 'UPDATE') LIMIT 1""",
            (SCHEMA, APPLICATION),
        ).fetchone()
        if waiting is not None:
            connection.execute(GRANTS.encode())


def _migrate(connection: Connection[Any]) -> None:
    with _alone(connection):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {SCHEMA}.migrations (name text PRIMARY KEY)")
    for name, steps in MIGRATIONS.items():
        with _alone(connection):
            if name in _missing(connection):
                connection.execute(steps.encode())
                connection.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))


@contextmanager
def _alone(connection: Connection[Any]) -> Iterator[None]:
    """A transaction that no other process migrates beside; settings are its own, for the sake of poolers."""
    with connection.transaction():
        # Locked before the first look: a second process finds everything done.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute(f"SET LOCAL search_path TO {SCHEMA}, public".encode())
        yield


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
