"""Statements that read a whole workspace; see `weftwork.store.sql.queries.TransferQueries`."""

from __future__ import annotations

from weftwork.store.transfer import KEPT_COMMITS, STAYING

_NODE = """n.pk, n.id, n.type, n.title, n.parent, n.position, n.tags, n.fields, n.confidence, n.conversation,
    n.created_at, n.updated_at, n.source, n.owner, n.access, n.acl, n.digest, n.valid_from, n.valid_until,
    n.document, n.writer, n.origin"""
ROWS = {
    "workspace": "SELECT version, access FROM workspaces WHERE workspace = %(ws)s",
    "lists": "SELECT id, principals FROM acls WHERE workspace = %(ws)s ORDER BY id",
    "nodes": f"""WITH RECURSIVE tree (pk, level) AS (
            SELECT pk, 0 FROM nodes WHERE workspace = %(ws)s AND parent IS NULL
            UNION ALL SELECT c.pk, tree.level + 1 FROM tree
            JOIN nodes c ON c.workspace = %(ws)s AND c.parent = tree.pk
        ) SELECT {_NODE} FROM tree JOIN nodes n ON n.workspace = %(ws)s AND n.pk = tree.pk ORDER BY tree.level, n.pk""",
    "passages": """SELECT key, node, acl, ordinal, start, "end", text, tokens, digest, citation FROM passages
        WHERE workspace = %(ws)s ORDER BY node, key""",
    "vectors": """SELECT DISTINCT ON (m.name, p.digest) m.name, p.digest, vector_send(e.vector) FROM embeddings e
        JOIN passages p ON p.workspace = %(ws)s AND p.key = e.key
        JOIN models m ON m.workspace = %(ws)s AND m.model = e.model
        WHERE e.workspace = %(ws)s ORDER BY m.name, p.digest""",
    "page_vectors": """SELECT model, node, width, sketch, vectors FROM page_vectors
        WHERE workspace = %(ws)s ORDER BY model, node""",
    "edges": """SELECT source, target, type, label, weight FROM edges
        WHERE workspace = %(ws)s ORDER BY source, target, type, label""",
    "changes": "SELECT node, version, id, acl, deleted::int FROM changes WHERE workspace = %(ws)s ORDER BY node",
    "commits": f"""SELECT version, mark FROM commits WHERE workspace = %(ws)s AND version > (
            SELECT version FROM workspaces WHERE workspace = %(ws)s) - {KEPT_COMMITS} ORDER BY version DESC""",
    "activity": "SELECT who, kind, node, at FROM activity WHERE workspace = %(ws)s ORDER BY who, kind, node",
    "feedback": """SELECT node, who, useful::int, at, query FROM feedback
        WHERE workspace = %(ws)s ORDER BY node, who, query""",
    "usage": "SELECT node, who, used FROM usage WHERE workspace = %(ws)s ORDER BY node, who",
    "contexts": """SELECT who, thread, name, kept, at FROM contexts
        WHERE workspace = %(ws)s ORDER BY who, thread, name""",
    "receipts": "SELECT id, who, thread, at, record FROM receipts WHERE workspace = %(ws)s ORDER BY id",
    "given": "SELECT node, who, given, at FROM given WHERE workspace = %(ws)s ORDER BY node, who",
    "marks": f"""SELECT topic, name, mark FROM marks
        WHERE workspace = %(ws)s AND topic NOT IN {STAYING} ORDER BY topic, name""",
    "users": "SELECT name FROM users WHERE workspace = %(ws)s ORDER BY name",
    "members": "SELECT who, team FROM members WHERE workspace = %(ws)s ORDER BY who, team",
    "keys": """SELECT k.id, k.digest, k.who, k.scope, k.name, k.created_at, k.expires_at, k.revoked_at
        FROM key_workspaces c JOIN keys k ON k.id = c.key WHERE c.workspace = %(ws)s ORDER BY k.id""",
    "jobs": """SELECT id, who, state, created_at, updated_at, details FROM jobs
        WHERE workspace = %(ws)s ORDER BY id""",
}
SPANS = (
    """SELECT min(first), max(last) FROM (
           SELECT min(pk) AS first, max(pk) AS last FROM nodes WHERE workspace = %(ws)s
           UNION ALL SELECT min(node), max(node) FROM changes WHERE workspace = %(ws)s) AS spans""",
    "SELECT min(key), max(key) FROM passages WHERE workspace = %(ws)s",
    "SELECT min(id), max(id) FROM acls WHERE workspace = %(ws)s",
)
MARKS = "SELECT name, mark FROM marks WHERE workspace = %(ws)s AND topic = %(group)s"
REMOVE_GROUP = "DELETE FROM marks WHERE workspace = %(ws)s AND topic = %(group)s"
