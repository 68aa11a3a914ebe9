"""Statements of the store itself; see `weftwork.store.sql.queries.StoreQueries`."""

from __future__ import annotations

from weftwork.store.postgres.read_queries import TEXT

WORKSPACES = "SELECT name FROM directory ORDER BY name"
WORKSPACE = "SELECT id FROM directory WHERE name = %(name)s"
USERS = """SELECT u.name, m.team FROM users u LEFT JOIN members m ON m.workspace = %(ws)s AND m.who = u.name
    WHERE u.workspace = %(ws)s ORDER BY u.name, m.team"""
NODE_IDS = "SELECT id FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])"
FIELDS = "SELECT fields FROM nodes WHERE workspace = %(ws)s AND id = %(name)s"
CHILD_IDS = """SELECT n.id FROM nodes p JOIN nodes n ON n.workspace = %(ws)s AND n.parent = p.pk
    WHERE p.workspace = %(ws)s AND p.id = %(name)s"""
NODE_LISTS = "SELECT id, acl FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])"
PARENT_ID = """SELECT p.id FROM nodes n JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent
    WHERE n.workspace = %(ws)s AND n.id = %(name)s"""
MARKS = "SELECT name, mark FROM marks WHERE workspace = %(ws)s AND topic = %(group)s ORDER BY name"
DIGESTS = """SELECT DISTINCT p.digest FROM passages p
    JOIN embeddings e ON e.workspace = %(ws)s AND e.key = p.key
    JOIN models m ON m.workspace = %(ws)s AND m.model = e.model AND m.name = %(model)s
    WHERE p.workspace = %(ws)s AND p.digest = ANY (%(digests)s::text[])"""
VECTOR_COUNTS = """SELECT m.name, (SELECT COUNT(*) FROM embeddings e WHERE e.workspace = %(ws)s AND e.model = m.model)
    FROM models m WHERE m.workspace = %(ws)s"""
PAGES_WITHOUT_VECTORS = f"""SELECT n.id, d.id, {TEXT}, n.fields
    FROM nodes n LEFT JOIN nodes d ON d.workspace = %(ws)s AND d.pk = n.parent
    WHERE n.workspace = %(ws)s AND n.type = 'document_page' AND NOT EXISTS (
        SELECT 1 FROM page_vectors v WHERE v.workspace = %(ws)s AND v.model = %(model)s AND v.node = n.pk)
    ORDER BY n.pk LIMIT %(limit)s"""

CONTEXT = """SELECT kept FROM contexts
    WHERE workspace = %(ws)s AND who = %(user)s AND thread = %(thread)s AND name = %(name)s"""
KEEP_CONTEXT = """INSERT INTO contexts (workspace, who, thread, name, kept, at)
    VALUES (%(ws)s, %(user)s, %(thread)s, %(name)s, %(record)s, %(at)s)
    ON CONFLICT (workspace, who, thread, name) DO UPDATE SET kept = excluded.kept, at = excluded.at"""
TRIM_CONTEXTS = """DELETE FROM contexts WHERE workspace = %(ws)s AND who = %(user)s AND (thread, name) IN (
        SELECT thread, name FROM contexts WHERE workspace = %(ws)s AND who = %(user)s
        ORDER BY at DESC, name OFFSET %(most)s)"""

_RECEIPT = "SELECT id, who, thread, at, record FROM receipts WHERE workspace = %(ws)s"
RECEIPT = f"{_RECEIPT} AND id = %(id)s"
RECEIPTS = f"""{_RECEIPT} AND (%(user)s::text IS NULL OR who = %(user)s)
    AND (%(thread)s::text IS NULL OR thread = %(thread)s) ORDER BY at DESC, id DESC LIMIT %(limit)s"""
PUT_RECEIPT = """INSERT INTO receipts (workspace, id, who, thread, at, record)
    VALUES (%(ws)s, %(id)s, %(user)s, %(thread)s, %(at)s, %(record)s)
    ON CONFLICT (workspace, id) DO UPDATE SET who = excluded.who, thread = excluded.thread, at = excluded.at,
        record = excluded.record"""
TRIM_RECEIPTS = """DELETE FROM receipts WHERE workspace = %(ws)s AND id IN (
        SELECT id FROM receipts WHERE workspace = %(ws)s ORDER BY at DESC, id DESC OFFSET %(most)s)"""
REMOVE_RECEIPTS = """DELETE FROM receipts WHERE workspace = %(ws)s
    AND (%(any)s OR id = ANY (%(ids)s::text[])) AND (%(user)s::text IS NULL OR who = %(user)s)"""
GIVEN = """SELECT g.given FROM nodes n JOIN given g ON g.workspace = %(ws)s AND g.node = n.pk
    WHERE n.workspace = %(ws)s AND n.id = %(name)s AND g.who = %(user)s"""
PUT_GIVEN = """INSERT INTO given (workspace, node, who, given, at)
    SELECT workspace, pk, %(user)s, %(given)s, %(at)s FROM nodes WHERE workspace = %(ws)s AND id = %(name)s
    ON CONFLICT (workspace, node, who) DO UPDATE SET given = excluded.given, at = excluded.at"""

_KEY = """SELECT k.id, k.digest, k.who, k.scope, k.created_at, k.name, k.expires_at, k.revoked_at,
        (SELECT COALESCE(json_agg(d.name), '[]')::text
         FROM key_workspaces c JOIN directory d ON d.id = c.workspace WHERE c.key = k.id), k.used_at
    FROM keys k"""
KEYS = f"{_KEY} ORDER BY k.created_at, k.id"
KEY = f"{_KEY} WHERE k.digest = %(digest)s"
REMOVE_KEY = "DELETE FROM keys WHERE id = %(id)s"
NOTE_KEY_USE = "UPDATE keys SET used_at = %(at)s WHERE id = %(id)s"
REMOVE_KEY_WORKSPACES = "DELETE FROM key_workspaces WHERE key = %(id)s"
ADD_KEY = """INSERT INTO keys (id, digest, who, scope, name, created_at, expires_at, revoked_at, used_at)
    VALUES (%(id)s, %(digest)s, %(user)s, %(scope)s, %(name)s, %(created_at)s, %(expires_at)s, %(revoked_at)s,
        %(used_at)s)"""
ADD_KEY_WORKSPACES = "INSERT INTO key_workspaces (key, workspace) SELECT %(id)s, unnest(%(workspaces)s::bigint[])"
_JOB = """SELECT j.id, d.name, j.who, j.state, j.created_at, j.updated_at, j.details
    FROM jobs j JOIN directory d ON d.id = j.workspace"""
JOB = f"{_JOB} WHERE j.id = %(id)s"
JOBS = f"{_JOB} WHERE j.state = ANY (%(states)s::text[]) ORDER BY j.created_at, j.id"
JOBS_OF = f"""{_JOB} WHERE j.workspace = %(workspace)s AND (%(any)s OR j.who = %(user)s)
    ORDER BY j.created_at DESC, j.id"""
PUT_JOB = """INSERT INTO jobs (id, workspace, who, state, created_at, updated_at, details)
    VALUES (%(id)s, %(workspace)s, %(user)s, %(state)s, %(created_at)s, %(updated_at)s, %(details)s)
    ON CONFLICT (id) DO UPDATE SET workspace = excluded.workspace, who = excluded.who, state = excluded.state,
        created_at = excluded.created_at, updated_at = excluded.updated_at, details = excluded.details"""
TRIM_JOBS = """DELETE FROM jobs WHERE id IN (
        SELECT id FROM jobs WHERE workspace = %(workspace)s AND state <> ALL (%(unfinished)s::text[])
        ORDER BY updated_at DESC, id OFFSET %(most)s)"""

CACHED = "SELECT digest, vector FROM embedding_cache WHERE model = %(model)s AND digest = ANY (%(digests)s::text[])"
CACHE = """INSERT INTO embedding_cache (model, digest, vector, at)
    VALUES (%(model)s, %(digest)s, %(vector)s, %(at)s)
    ON CONFLICT (model, digest) DO UPDATE SET vector = excluded.vector, at = excluded.at"""
TRIM_CACHE = """DELETE FROM embedding_cache WHERE (model, digest) IN (
        SELECT model, digest FROM embedding_cache ORDER BY at DESC, model, digest OFFSET %(most)s)"""

ADD_AUDIT = """INSERT INTO audit (at, workspace, who, key, address, request, action, details)
    VALUES (%(at)s, %(workspace)s, %(user)s, %(key)s, %(address)s, %(request)s, %(action)s, %(details)s)"""
AUDIT = """SELECT id, at, workspace, who, key, address, request, action, details FROM audit
    WHERE id > %(after)s AND (%(any)s OR workspace = %(workspace)s) ORDER BY id LIMIT %(limit)s"""
COUNT_AUDIT = "SELECT COUNT(*) FROM audit WHERE at < %(before)s"
DROP_AUDIT = "DELETE FROM audit WHERE at < %(before)s"
