"""Statements of erasure; see `weftwork.store.sql.queries.ErasureQueries`."""

from __future__ import annotations

KNOWN = {
    "groups": """SELECT json_object('group', team) FROM members WHERE workspace = :ws AND user = :user ORDER BY team""",
    "nodes": """SELECT json_object('node', id, 'type', type, 'owner', owner, 'writer', writer) FROM nodes
        WHERE workspace = :ws AND (owner = :user OR writer = :user) ORDER BY id""",
    "access": """SELECT json_object('node', n.id) FROM acl_principals p JOIN nodes n ON n.workspace = :ws
            AND n.acl = p.acl
        WHERE p.workspace = :ws AND p.principal = :user AND n.owner IS NOT :user ORDER BY n.id""",
    "activity": """SELECT json_object('node', n.id, 'kind', a.kind, 'at', a.at) FROM activity a
        JOIN nodes n ON n.pk = a.node WHERE n.workspace = :ws AND a.user = :user ORDER BY n.id, a.kind""",
    "feedback": """SELECT json_object('node', n.id, 'useful', a.useful, 'at', a.at, 'query', a.query) FROM feedback a
        JOIN nodes n ON n.pk = a.node WHERE n.workspace = :ws AND a.user = :user ORDER BY n.id, a.query""",
    "usage": """SELECT json_object('node', n.id, 'used', a.used) FROM usage a
        JOIN nodes n ON n.pk = a.node WHERE n.workspace = :ws AND a.user = :user ORDER BY n.id""",
    "receipts": """SELECT json_object('id', id, 'at', at, 'record', record) FROM receipts
        WHERE workspace = :ws AND user = :user ORDER BY at, id""",
    "given": """SELECT json_object('thread', n.id, 'at', a.at, 'record', a.given) FROM given a
        JOIN nodes n ON n.pk = a.node WHERE n.workspace = :ws AND a.user = :user ORDER BY n.id""",
    "contexts": """SELECT json_object('id', name, 'thread', thread, 'at', at, 'record', kept) FROM contexts
        WHERE workspace = :ws AND user = :user ORDER BY at, name""",
    "jobs": """SELECT json_object('id', id, 'state', state, 'created_at', created_at, 'details', details) FROM jobs
        WHERE workspace = :ws AND user = :user ORDER BY created_at, id""",
    "keys": """SELECT json_object('id', id, 'name', name, 'scope', scope, 'created_at', created_at, 'expires_at',
            expires_at,
            'revoked_at', revoked_at, 'used_at', used_at) FROM keys
        WHERE user = :user AND id IN (SELECT key FROM key_workspaces WHERE workspace = :ws) ORDER BY created_at, id""",
    "audit": """SELECT json_object('at', at, 'action', action, 'address', address, 'key', key, 'details',
            details) FROM audit
        WHERE workspace = (SELECT name FROM workspaces WHERE id = :ws) AND user = :user ORDER BY id""",
}
OWN_LISTS = "SELECT id, access FROM nodes WHERE workspace = :ws AND access IS NOT NULL ORDER BY id"
BELOW = """WITH RECURSIVE below (pk, id) AS (
        SELECT pk, id FROM nodes WHERE workspace = :ws AND id IN (SELECT value FROM json_each(:names))
        UNION SELECT n.pk, n.id FROM below CROSS JOIN nodes n WHERE n.parent = below.pk
    ) SELECT id FROM below"""
CITATIONS = """SELECT p.citation FROM nodes n JOIN passages p ON p.node = n.pk
    WHERE n.workspace = :ws AND n.id IN (SELECT value FROM json_each(:names))"""
EXPIRED = """WITH RECURSIVE kept (pk, parent) AS (
        SELECT pk, parent FROM nodes WHERE workspace = :ws AND updated_at >= :before
        UNION SELECT n.pk, n.parent FROM kept JOIN nodes n ON n.pk = kept.parent
    ) SELECT id FROM nodes WHERE workspace = :ws AND type = :kind AND updated_at < :before
        AND pk NOT IN (SELECT pk FROM kept)"""
FORGET_USER = {
    "activity": "DELETE FROM activity WHERE workspace = :ws AND user = :user",
    "feedback": "DELETE FROM feedback WHERE node IN (SELECT pk FROM nodes WHERE workspace = :ws) AND user = :user",
    "usage": "DELETE FROM usage WHERE node IN (SELECT pk FROM nodes WHERE workspace = :ws) AND user = :user",
    "receipts": "DELETE FROM receipts WHERE workspace = :ws AND user = :user",
    "given": "DELETE FROM given WHERE node IN (SELECT pk FROM nodes WHERE workspace = :ws) AND user = :user",
    "contexts": "DELETE FROM contexts WHERE workspace = :ws AND user = :user",
    "jobs": "DELETE FROM jobs WHERE workspace = :ws AND user = :user",
    "keys": """DELETE FROM key_workspaces
        WHERE workspace = :ws AND key IN (SELECT id FROM keys WHERE user = :user)""",
    "keys without a workspace": """DELETE FROM keys
        WHERE user = :user AND id NOT IN (SELECT key FROM key_workspaces)""",
    "audit": """DELETE FROM audit WHERE user = :user AND workspace = (SELECT name FROM workspaces WHERE id = :ws)""",
    "names as writer": "UPDATE nodes SET writer = NULL, digest = '' WHERE workspace = :ws AND writer = :user",
}
MENTIONING = {
    "receipts": (
        "SELECT id, '', record FROM receipts WHERE workspace = :ws",
        "DELETE FROM receipts WHERE workspace = :ws AND id = :first AND :second = ''",
    ),
    "given": (
        """SELECT node, user, given FROM given WHERE node IN (SELECT pk FROM nodes WHERE workspace = :ws) AND TRUE""",
        "DELETE FROM given WHERE node = :first AND user = :second",
    ),
    "contexts": (
        "SELECT user, name, kept FROM contexts WHERE workspace = :ws",
        "DELETE FROM contexts WHERE workspace = :ws AND user = :first AND name = :second",
    ),
    "jobs": (
        "SELECT id, '', details FROM jobs WHERE workspace = :ws",
        "DELETE FROM jobs WHERE id = :first AND :second = ''",
    ),
}
BLANK_CHANGES = """UPDATE changes SET id = '' WHERE workspace = :ws AND deleted = 1
    AND id IN (SELECT value FROM json_each(:names))"""
DROP_LISTS = """DELETE FROM acls WHERE workspace = :ws AND id NOT IN (SELECT acl FROM nodes WHERE workspace = :ws)
    AND id IN (SELECT acl FROM acl_principals WHERE workspace = :ws AND principal = :user)"""
CLEAR_CACHE = "DELETE FROM embedding_cache"
FORGET_BEFORE = {
    "receipts": "DELETE FROM receipts WHERE workspace = :ws AND at < :before",
    "contexts": "DELETE FROM contexts WHERE workspace = :ws AND at < :before",
    "activity": "DELETE FROM activity WHERE workspace = :ws AND at < :before",
    "feedback": "DELETE FROM feedback WHERE node IN (SELECT pk FROM nodes WHERE workspace = :ws) AND at < :before",
    "jobs": "DELETE FROM jobs WHERE workspace = :ws AND updated_at < :before AND state NOT IN ('queued', 'running')",
    "audit": "DELETE FROM audit WHERE at < :before AND workspace = (SELECT name FROM workspaces WHERE id = :ws)",
}
