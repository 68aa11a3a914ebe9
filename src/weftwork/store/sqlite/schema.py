"""Tables, as named migrations: each runs in one transaction together with its own record."""

from __future__ import annotations

import sqlite3

from weftwork.errors import StoreError

APPLICATION_ID = 0x57454654  # "WEFT", so that `file` and we can tell the file from any other database

_FIRST = """
    CREATE TABLE workspaces (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        version INTEGER NOT NULL DEFAULT 0,
        access TEXT NOT NULL
    ) STRICT;
    CREATE TABLE users (
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        name TEXT NOT NULL,
        PRIMARY KEY (workspace, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE members (
        workspace INTEGER NOT NULL,
        user TEXT NOT NULL,
        team TEXT NOT NULL,
        PRIMARY KEY (workspace, user, team),
        FOREIGN KEY (workspace, user) REFERENCES users ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE acls (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        principals TEXT NOT NULL,
        passages INTEGER NOT NULL DEFAULT 0,
        words INTEGER NOT NULL DEFAULT 0,
        UNIQUE (workspace, principals)
    ) STRICT;
    CREATE TABLE acl_principals (
        workspace INTEGER NOT NULL,
        principal TEXT NOT NULL,
        acl INTEGER NOT NULL REFERENCES acls ON DELETE CASCADE,
        PRIMARY KEY (workspace, principal, acl)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX acl_principals_acl ON acl_principals (acl);
    CREATE TABLE nodes (
        pk INTEGER PRIMARY KEY AUTOINCREMENT,
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        id TEXT NOT NULL,
        type TEXT NOT NULL,
        title TEXT NOT NULL,
        parent INTEGER REFERENCES nodes DEFERRABLE INITIALLY DEFERRED,
        -- What it is a part of for a reader: itself for a page, file or thread, nothing for a folder.
        document INTEGER,
        position INTEGER NOT NULL,
        tags TEXT NOT NULL,
        fields TEXT NOT NULL,
        confidence REAL,
        conversation TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        valid_from INTEGER,
        valid_until INTEGER,
        source TEXT NOT NULL,
        owner TEXT,
        access TEXT,
        acl INTEGER NOT NULL,
        digest TEXT NOT NULL,
        writer TEXT,
        origin TEXT NOT NULL DEFAULT 'written',
        UNIQUE (workspace, id)
    ) STRICT;
    CREATE INDEX nodes_children ON nodes (parent, position, pk);
    CREATE INDEX nodes_document ON nodes (document);
    CREATE INDEX nodes_recent ON nodes (workspace, updated_at);
    CREATE INDEX nodes_title ON nodes (workspace, title COLLATE NOCASE);
    CREATE INDEX nodes_source ON nodes (workspace, source COLLATE NOCASE) WHERE source != '';
    CREATE INDEX nodes_conversation ON nodes (workspace, conversation, created_at, pk) WHERE conversation IS NOT NULL;
    CREATE INDEX nodes_beginning ON nodes (workspace, valid_from) WHERE valid_from IS NOT NULL;
    CREATE INDEX nodes_ending ON nodes (workspace, valid_until) WHERE valid_until IS NOT NULL;
    CREATE INDEX nodes_origin ON nodes (workspace, origin) WHERE origin != 'written';
    CREATE TABLE tags (
        workspace INTEGER NOT NULL,
        tag TEXT NOT NULL,
        node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        PRIMARY KEY (workspace, tag, node)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tags_node ON tags (node);
    CREATE TABLE fields (
        workspace INTEGER NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        PRIMARY KEY (workspace, name, value, node)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX fields_node ON fields (node);
    CREATE TABLE passages (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        acl INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        start INTEGER NOT NULL,
        "end" INTEGER NOT NULL,
        text TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        words INTEGER NOT NULL,
        digest TEXT NOT NULL,
        citation TEXT NOT NULL,
        UNIQUE (node, ordinal)
    ) STRICT;
    CREATE INDEX passages_digest ON passages (digest);
    CREATE INDEX passages_citation ON passages (citation);
    -- Totals by access list, from which a viewer's own ranking statistics are summed up.
    CREATE TRIGGER passages_added AFTER INSERT ON passages BEGIN
        UPDATE acls SET passages = passages + 1, words = words + NEW.words WHERE id = NEW.acl;
    END;
    CREATE TRIGGER passages_removed AFTER DELETE ON passages BEGIN
        UPDATE acls SET passages = passages - 1, words = words - OLD.words WHERE id = OLD.acl;
    END;
    CREATE TRIGGER passages_moved AFTER UPDATE OF acl ON passages WHEN NEW.acl != OLD.acl BEGIN
        UPDATE acls SET passages = passages - 1, words = words - OLD.words WHERE id = OLD.acl;
        UPDATE acls SET passages = passages + 1, words = words + NEW.words WHERE id = NEW.acl;
    END;
    CREATE TABLE edges (
        workspace INTEGER NOT NULL,
        source INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        target INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        type TEXT NOT NULL,
        label TEXT NOT NULL,
        weight REAL NOT NULL,
        PRIMARY KEY (source, target, type, label)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX edges_target ON edges (target, source, type, label);
    CREATE TABLE vectors (
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        model TEXT NOT NULL,
        digest TEXT NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (workspace, digest, model)
    ) STRICT;
    CREATE TABLE changes (
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        node INTEGER NOT NULL,
        version INTEGER NOT NULL,
        id TEXT NOT NULL,
        acl INTEGER NOT NULL,
        deleted INTEGER NOT NULL,
        PRIMARY KEY (workspace, node)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX changes_version ON changes (workspace, version);
    CREATE TABLE activity (
        workspace INTEGER NOT NULL,
        user TEXT NOT NULL,
        kind TEXT NOT NULL,
        node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        at INTEGER NOT NULL,
        PRIMARY KEY (workspace, user, kind, node)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX activity_recent ON activity (workspace, user, kind, at);
    CREATE INDEX activity_node ON activity (node);
    CREATE TABLE feedback (
        node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        user TEXT NOT NULL,
        query TEXT NOT NULL,
        useful INTEGER NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (node, user, query)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX feedback_latest ON feedback (user, at);
    CREATE TABLE usage (
        node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        user TEXT NOT NULL,
        used INTEGER NOT NULL,
        PRIMARY KEY (node, user)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE embedding_cache (
        model TEXT NOT NULL,
        digest TEXT NOT NULL,
        vector BLOB NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (model, digest)
    ) STRICT;
    CREATE INDEX embedding_cache_at ON embedding_cache (at);
    -- A random mark for each version: versions are counted again after a backup is restored, marks are not.
    CREATE TABLE commits (
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        version INTEGER NOT NULL,
        mark TEXT NOT NULL,
        PRIMARY KEY (workspace, version)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE contexts (
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        user TEXT NOT NULL,
        thread TEXT NOT NULL,
        name TEXT NOT NULL,
        kept TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (workspace, user, thread, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX contexts_at ON contexts (workspace, user, at);
    -- Derived from document pages: what is missing is made again before the next search.
    CREATE TABLE page_vectors (
        workspace INTEGER NOT NULL,
        model TEXT NOT NULL,
        node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        width INTEGER NOT NULL,
        sketch BLOB NOT NULL,
        vectors BLOB NOT NULL,
        PRIMARY KEY (workspace, model, node)
    ) STRICT;
    CREATE INDEX page_vectors_node ON page_vectors (node);
    CREATE INDEX nodes_pages ON nodes (workspace) WHERE type = 'document_page';
    CREATE TABLE keys (
        id TEXT PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        user TEXT NOT NULL,
        scope TEXT NOT NULL,
        name TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER,
        revoked_at INTEGER,
        used_at INTEGER
    ) STRICT, WITHOUT ROWID;
    -- By number, not by name: a workspace that is made again under a name is another one.
    CREATE TABLE key_workspaces (
        key TEXT NOT NULL REFERENCES keys ON DELETE CASCADE,
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        PRIMARY KEY (key, workspace)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX key_workspaces_workspace ON key_workspaces (workspace);
    CREATE TABLE jobs (
        id TEXT PRIMARY KEY,
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        user TEXT NOT NULL,
        state TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        details TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX jobs_workspace ON jobs (workspace, state, updated_at);
    CREATE TABLE marks (
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        topic TEXT NOT NULL,
        name TEXT NOT NULL,
        mark TEXT NOT NULL,
        PRIMARY KEY (workspace, topic, name)
    ) STRICT;
    CREATE TABLE receipts (
        workspace INTEGER NOT NULL REFERENCES workspaces ON DELETE CASCADE,
        id TEXT NOT NULL,
        user TEXT NOT NULL,
        thread TEXT NOT NULL,
        at INTEGER NOT NULL,
        record TEXT NOT NULL,
        PRIMARY KEY (workspace, id)
    ) STRICT;
    CREATE INDEX receipts_at ON receipts (workspace, at, id);
    CREATE TABLE given (
        node INTEGER NOT NULL REFERENCES nodes ON DELETE CASCADE,
        user TEXT NOT NULL,
        given TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (node, user)
    ) STRICT;
    -- What users and administrators did; no content. Names and not numbers: it outlives what it tells of.
    CREATE TABLE audit (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        workspace TEXT NOT NULL,
        user TEXT NOT NULL,
        key TEXT NOT NULL,
        address TEXT NOT NULL,
        request TEXT NOT NULL,
        action TEXT NOT NULL,
        details TEXT NOT NULL
    ) STRICT;
    CREATE INDEX audit_at ON audit (at);
    CREATE TRIGGER audit_kept BEFORE UPDATE ON audit BEGIN
        SELECT RAISE(ABORT, 'the audit log is append-only');
    END;
"""

MIGRATIONS: dict[str, str] = {"0001_first_release": _FIRST}


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Bring a database to the newest schema; safe when several processes do it at once."""
    if _application(connection) == APPLICATION_ID and not _missing(connection, path):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) STRICT")
        connection.execute("COMMIT")
        for name in _missing(connection, path):
            _apply(connection, name)
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def refuse_newer(connection: sqlite3.Connection, path: str) -> None:
    """Raise StoreError if the file has tables of a newer version of the program."""
    _missing(connection, path)


def refuse_foreign(connection: sqlite3.Connection, path: str) -> None:
    """Raise StoreError if this is another program's database; call it before the first write."""
    # In one snapshot: between two, another process may make the tables of a new store.
    connection.execute("BEGIN")
    tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    application = _application(connection)
    connection.execute("ROLLBACK")
    if application not in (0, APPLICATION_ID) or (application == 0 and tables):
        raise StoreError(f"{path} is a database of another program: choose another file")


def _application(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _missing(connection: sqlite3.Connection, path: str) -> list[str]:
    """Names of pending migrations; raise StoreError if the file is of a newer version."""
    try:
        done = {row[0] for row in connection.execute("SELECT name FROM migrations")}
    except sqlite3.OperationalError:
        done = set()
    unknown = sorted(done - MIGRATIONS.keys())
    if unknown:
        raise StoreError(
            f"{path} was written by a newer version of Weftwork ({unknown[-1]}): upgrade with  pip install -U weftwork"
        )
    return [name for name in MIGRATIONS if name not in done]


def _apply(connection: sqlite3.Connection, name: str) -> None:
    """Run and record one migration in one transaction; skip it if another process has."""
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("SELECT 1 FROM migrations WHERE name = ?", (name,)).fetchone() is None:
        for statement in _statements(MIGRATIONS[name]):
            connection.execute(statement)
        connection.execute("INSERT INTO migrations (name) VALUES (?)", (name,))
    connection.execute("COMMIT")


def _statements(script: str) -> list[str]:
    """Split a script into whole statements, triggers included (executescript would commit first)."""
    statements, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending.strip())
            pending = ""
    return [statement for statement in statements if statement]
