"""Statements of the store itself; see `weftwork.store.sql.queries.StoreQueries`."""

from __future__ import annotations

WORKSPACES = "SELECT name FROM workspaces ORDER BY name"
WORKSPACE = "SELECT id FROM workspaces WHERE name = :name"
USERS = """SELECT u.name, m.team FROM users u LEFT JOIN members m ON m.workspace = u.workspace AND m.user = u.name
    WHERE u.workspace = :ws ORDER BY u.name, m.team"""
NODE_IDS = "SELECT id FROM nodes WHERE workspace = :ws AND id IN (SELECT value FROM json_each(:names))"
FIELDS = "SELECT fields FROM nodes WHERE workspace = :ws AND id = :name"
CHILD_IDS = "SELECT n.id FROM nodes p JOIN nodes n ON n.parent = p.pk WHERE p.workspace = :ws AND p.id = :name"
NODE_LISTS = "SELECT id, acl FROM nodes WHERE workspace = :ws AND id IN (SELECT value FROM json_each(:names))"
PARENT_ID = "SELECT p.id FROM nodes n JOIN nodes p ON p.pk = n.parent WHERE n.workspace = :ws AND n.id = :name"
MARKS = "SELECT name, mark FROM marks WHERE workspace = :ws AND topic = :group ORDER BY name"
DIGESTS = """SELECT digest FROM vectors
    WHERE workspace = :ws AND model = :model AND digest IN (SELECT value FROM json_each(:digests))"""
VECTOR_COUNTS = "SELECT model, COUNT(*) FROM vectors WHERE workspace = :ws GROUP BY model"
PAGES_WITHOUT_VECTORS = """SELECT n.id, (SELECT d.id FROM nodes d WHERE d.pk = n.parent), (SELECT group_concat(text, '')
        FROM (SELECT text FROM passages WHERE node = n.pk ORDER BY ordinal)), n.fields
    FROM nodes n WHERE n.workspace = :ws AND n.type = 'document_page'
      AND NOT EXISTS (SELECT 1 FROM page_vectors v WHERE v.workspace = :ws AND v.model = :model AND v.node = n.pk)
    ORDER BY n.pk LIMIT :limit"""

CONTEXT = "SELECT kept FROM contexts WHERE workspace = :ws AND user = :user AND thread = :thread AND name = :name"
KEEP_CONTEXT = """INSERT OR REPLACE INTO contexts (workspace, user, thread, name, kept, at)
    VALUES (:ws, :user, :thread, :name, :record, :at)"""
TRIM_CONTEXTS = """DELETE FROM contexts WHERE workspace = :ws AND user = :user AND (thread, name) IN (
        SELECT thread, name FROM contexts WHERE workspace = :ws AND user = :user
        ORDER BY at DESC, name LIMIT -1 OFFSET :most)"""

_RECEIPT = "SELECT id, user, thread, at, record FROM receipts WHERE workspace = :ws"
RECEIPT = f"{_RECEIPT} AND id = :id"
RECEIPTS = f"""{_RECEIPT} AND (:user IS NULL OR user = :user) AND (:thread IS NULL OR thread = :thread)
    ORDER BY at DESC, id DESC LIMIT :limit"""
PUT_RECEIPT = """INSERT OR REPLACE INTO receipts (workspace, id, user, thread, at, record)
    VALUES (:ws, :id, :user, :thread, :at, :record)"""
TRIM_RECEIPTS = """DELETE FROM receipts WHERE workspace = :ws AND id IN (
        SELECT id FROM receipts WHERE workspace = :ws ORDER BY at DESC, id DESC LIMIT -1 OFFSET :most)"""
REMOVE_RECEIPTS = """DELETE FROM receipts WHERE workspace = :ws
    AND (:any OR id IN (SELECT value FROM json_each(:ids))) AND (:user IS NULL OR user = :user)"""
GIVEN = """SELECT g.given FROM nodes n JOIN given g ON g.node = n.pk
    WHERE n.workspace = :ws AND n.id = :name AND g.user = :user"""
PUT_GIVEN = """INSERT OR REPLACE INTO given (node, user, given, at)
    SELECT pk, :user, :given, :at FROM nodes WHERE workspace = :ws AND id = :name"""

_KEY = """SELECT k.id, k.digest, k.user, k.scope, k.created_at, k.name, k.expires_at, k.revoked_at,
        (SELECT json_group_array(w.name) FROM key_workspaces c JOIN workspaces w ON w.id = c.workspace
         WHERE c.key = k.id), k.used_at
    FROM keys k"""
KEYS = f"{_KEY} ORDER BY k.created_at, k.id"
KEY = f"{_KEY} WHERE k.digest = :digest"
REMOVE_KEY = "DELETE FROM keys WHERE id = :id"
NOTE_KEY_USE = "UPDATE keys SET used_at = :at WHERE id = :id"
REMOVE_KEY_WORKSPACES = "DELETE FROM key_workspaces WHERE key = :id"
ADD_KEY = """INSERT INTO keys (id, digest, user, scope, name, created_at, expires_at, revoked_at, used_at)
    VALUES (:id, :digest, :user, :scope, :name, :created_at, :expires_at, :revoked_at,
        :used_at)"""
ADD_KEY_WORKSPACES = "INSERT INTO key_workspaces (key, workspace) SELECT :id, value FROM json_each(:workspaces)"
_JOB = """SELECT j.id, w.name, j.user, j.state, j.created_at, j.updated_at, j.details
    FROM jobs j JOIN workspaces w ON w.id = j.workspace"""
JOB = f"{_JOB} WHERE j.id = :id"
JOBS = f"{_JOB} WHERE j.state IN (SELECT value FROM json_each(:states)) ORDER BY j.created_at, j.id"
JOBS_OF = f"""{_JOB} WHERE j.workspace = :workspace AND (:any OR j.user = :user)
    ORDER BY j.created_at DESC, j.id"""
PUT_JOB = """INSERT OR REPLACE INTO jobs (id, workspace, user, state, created_at, updated_at, details)
    VALUES (:id, :workspace, :user, :state, :created_at, :updated_at, :details)"""
TRIM_JOBS = """DELETE FROM jobs WHERE id IN (
        SELECT id FROM jobs
        WHERE workspace = :workspace AND state NOT IN (SELECT value FROM json_each(:unfinished))
        ORDER BY updated_at DESC, id LIMIT -1 OFFSET :most)"""

CACHED = """SELECT digest, vector FROM embedding_cache
    WHERE model = :model AND digest IN (SELECT value FROM json_each(:digests))"""
CACHE = """INSERT OR REPLACE INTO embedding_cache (model, digest, vector, at)
    VALUES (:model, :digest, :vector, :at)"""
TRIM_CACHE = """DELETE FROM embedding_cache WHERE rowid IN
    (SELECT rowid FROM embedding_cache ORDER BY at DESC, rowid DESC LIMIT -1 OFFSET :most)"""

ADD_AUDIT = """INSERT INTO audit (at, workspace, user, key, address, request, action, details)
    VALUES (:at, :workspace, :user, :key, :address, :request, :action, :details)"""
AUDIT = """SELECT id, at, workspace, user, key, address, request, action, details FROM audit
    WHERE id > :after AND (:any OR workspace = :workspace) ORDER BY id LIMIT :limit"""
COUNT_AUDIT = "SELECT COUNT(*) FROM audit WHERE at < :before"
DROP_AUDIT = "DELETE FROM audit WHERE at < :before"
