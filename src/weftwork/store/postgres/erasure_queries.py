"""Statements of erasure; see `weftwork.store.sql.queries.ErasureQueries`."""

from __future__ import annotations

KNOWN = {
    "groups": """SELECT json_build_object('group', team)::text FROM members WHERE workspace = %(ws)s
            AND who = %(user)s ORDER BY team""",
    "nodes": """SELECT json_build_object('node', id, 'type', type, 'owner', owner, 'writer', writer)::text FROM nodes
        WHERE workspace = %(ws)s AND (owner = %(user)s OR writer = %(user)s) ORDER BY id""",
    "access": """SELECT json_build_object('node', n.id)::text
            FROM acl_principals p JOIN nodes n ON n.workspace = %(ws)s AND n.acl = p.acl
        WHERE p.workspace = %(ws)s AND p.principal = %(user)s AND n.owner IS DISTINCT FROM %(user)s ORDER BY n.id""",
    "activity": """SELECT json_build_object('node', n.id, 'kind', a.kind, 'at', a.at)::text FROM activity a
        JOIN nodes n ON n.workspace = %(ws)s AND n.pk = a.node WHERE a.workspace = %(ws)s
            AND a.who = %(user)s ORDER BY n.id, a.kind""",
    "feedback": """SELECT json_build_object('node', n.id, 'useful', a.useful, 'at', a.at, 'query', a.query)::text
        FROM feedback a JOIN nodes n ON n.workspace = %(ws)s AND n.pk = a.node
        WHERE a.workspace = %(ws)s AND a.who = %(user)s ORDER BY n.id, a.query""",
    "usage": """SELECT json_build_object('node', n.id, 'used', a.used)::text FROM usage a
        JOIN nodes n ON n.workspace = %(ws)s AND n.pk = a.node WHERE a.workspace = %(ws)s
            AND a.who = %(user)s ORDER BY n.id""",
    "receipts": """SELECT json_build_object('id', id, 'at', at, 'record', record)::text FROM receipts
        WHERE workspace = %(ws)s AND who = %(user)s ORDER BY at, id""",
    "given": """SELECT json_build_object('thread', n.id, 'at', a.at, 'record', a.given)::text FROM given a
        JOIN nodes n ON n.workspace = %(ws)s AND n.pk = a.node WHERE a.workspace = %(ws)s
            AND a.who = %(user)s ORDER BY n.id""",
    "contexts": """SELECT json_build_object('id', name, 'thread', thread, 'at', at, 'record', kept)::text FROM contexts
        WHERE workspace = %(ws)s AND who = %(user)s ORDER BY at, name""",
    "jobs": """SELECT json_build_object('id', id, 'state', state, 'created_at', created_at, 'details',
            details)::text FROM jobs
        WHERE workspace = %(ws)s AND who = %(user)s ORDER BY created_at, id""",
    "keys": """SELECT json_build_object('id', id, 'name', name, 'scope', scope, 'created_at', created_at,
            'expires_at', expires_at,
            'revoked_at', revoked_at, 'used_at', used_at)::text FROM keys
        WHERE who = %(user)s AND id IN (SELECT key FROM key_workspaces WHERE workspace = %(ws)s)
            ORDER BY created_at, id""",
    "audit": """SELECT json_build_object('at', at, 'action', action, 'address', address, 'key', key, 'details',
            details)::text FROM audit
        WHERE workspace = (SELECT name FROM directory WHERE id = %(ws)s) AND who = %(user)s ORDER BY id""",
}
OWN_LISTS = "SELECT id, access FROM nodes WHERE workspace = %(ws)s AND access IS NOT NULL ORDER BY id"
BELOW = """WITH RECURSIVE below (pk, id) AS (
        SELECT pk, id FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])
        UNION SELECT n.pk, n.id FROM below CROSS JOIN nodes n WHERE n.workspace = %(ws)s AND n.parent = below.pk
    ) SELECT id FROM below"""
CITATIONS = """SELECT p.citation FROM nodes n JOIN passages p ON p.workspace = %(ws)s AND p.node = n.pk
    WHERE n.workspace = %(ws)s AND n.id = ANY (%(names)s::text[])"""
EXPIRED = """WITH RECURSIVE kept (pk, parent) AS (
        SELECT pk, parent FROM nodes WHERE workspace = %(ws)s AND updated_at >= %(before)s
        UNION SELECT n.pk, n.parent FROM kept JOIN nodes n ON n.workspace = %(ws)s AND n.pk = kept.parent
    ) SELECT id FROM nodes WHERE workspace = %(ws)s AND type = %(kind)s AND updated_at < %(before)s
        AND pk NOT IN (SELECT pk FROM kept)"""
FORGET_USER = {
    "activity": "DELETE FROM activity WHERE workspace = %(ws)s AND who = %(user)s",
    "feedback": "DELETE FROM feedback WHERE workspace = %(ws)s AND who = %(user)s",
    "usage": "DELETE FROM usage WHERE workspace = %(ws)s AND who = %(user)s",
    "receipts": "DELETE FROM receipts WHERE workspace = %(ws)s AND who = %(user)s",
    "given": "DELETE FROM given WHERE workspace = %(ws)s AND who = %(user)s",
    "contexts": "DELETE FROM contexts WHERE workspace = %(ws)s AND who = %(user)s",
    "jobs": "DELETE FROM jobs WHERE workspace = %(ws)s AND who = %(user)s",
    "keys": """DELETE FROM key_workspaces
        WHERE workspace = %(ws)s AND key IN (SELECT id FROM keys WHERE who = %(user)s)""",
    "keys without a workspace": """DELETE FROM keys
        WHERE who = %(user)s AND id NOT IN (SELECT key FROM key_workspaces)""",
    "audit": """DELETE FROM audit WHERE who = %(user)s AND workspace = (SELECT name FROM directory
            WHERE id = %(ws)s)""",
    "names as writer": "UPDATE nodes SET writer = NULL, digest = '' WHERE workspace = %(ws)s AND writer = %(user)s",
}
MENTIONING = {
    "receipts": (
        "SELECT id, '', record FROM receipts WHERE workspace = %(ws)s",
        "DELETE FROM receipts WHERE workspace = %(ws)s AND id = %(first)s AND %(second)s = ''",
    ),
    "given": (
        """SELECT node, who, given FROM given WHERE workspace = %(ws)s AND TRUE""",
        "DELETE FROM given WHERE workspace = %(ws)s AND node = %(first)s AND who = %(second)s",
    ),
    "contexts": (
        "SELECT who, name, kept FROM contexts WHERE workspace = %(ws)s",
        "DELETE FROM contexts WHERE workspace = %(ws)s AND who = %(first)s AND name = %(second)s",
    ),
    "jobs": (
        "SELECT id, '', details FROM jobs WHERE workspace = %(ws)s",
        "DELETE FROM jobs WHERE id = %(first)s AND %(second)s = ''",
    ),
}
BLANK_CHANGES = """UPDATE changes SET id = '' WHERE workspace = %(ws)s AND deleted
    AND id = ANY (%(names)s::text[])"""
DROP_LISTS = """DELETE FROM acls WHERE workspace = %(ws)s AND id NOT IN (SELECT acl FROM nodes WHERE workspace = %(ws)s)
    AND id IN (SELECT acl FROM acl_principals WHERE workspace = %(ws)s AND principal = %(user)s)"""
CLEAR_CACHE = "DELETE FROM embedding_cache"
FORGET_BEFORE = {
    "receipts": "DELETE FROM receipts WHERE workspace = %(ws)s AND at < %(before)s",
    "contexts": "DELETE FROM contexts WHERE workspace = %(ws)s AND at < %(before)s",
    "activity": "DELETE FROM activity WHERE workspace = %(ws)s AND at < %(before)s",
    "feedback": "DELETE FROM feedback WHERE workspace = %(ws)s AND at < %(before)s",
    "jobs": """DELETE FROM jobs WHERE workspace = %(ws)s AND updated_at < %(before)s
            AND state NOT IN ('queued', 'running')""",
    "audit": "DELETE FROM audit WHERE at < %(before)s AND workspace = (SELECT name FROM directory WHERE id = %(ws)s)",
}
