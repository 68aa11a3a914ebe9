"""Statements that read and write a whole workspace; see `weftwork.store.sql.queries.TransferQueries`."""

from __future__ import annotations

from weftwork.store.transfer import KEPT_COMMITS, STAYING

_PASSAGE = 'p.key, p.node, p.acl, p.ordinal, p.start, p."end", p.text, p.tokens, p.digest, p.citation'
_NODE = """n.pk, n.id, n.type, n.title, n.parent, n.position, n.tags, n.fields, n.confidence, n.conversation,
    n.created_at, n.updated_at, n.source, n.owner, n.access, n.acl, n.digest, n.valid_from, n.valid_until,
    n.document, n.writer, n.origin"""

ROWS = {
    "workspace": "SELECT version, access FROM workspaces WHERE id = :ws",
    "lists": "SELECT id, principals FROM acls WHERE workspace = :ws ORDER BY id",
    "nodes": f"""WITH RECURSIVE tree (pk, level) AS (
            SELECT pk, 0 FROM nodes WHERE workspace = :ws AND parent IS NULL
            UNION ALL SELECT c.pk, tree.level + 1 FROM tree CROSS JOIN nodes c ON c.parent = tree.pk
        ) SELECT {_NODE} FROM tree CROSS JOIN nodes n ON n.pk = tree.pk ORDER BY tree.level, n.pk""",
    "passages": f"""SELECT {_PASSAGE} FROM nodes n CROSS JOIN passages p ON p.node = n.pk
        WHERE n.workspace = :ws ORDER BY n.pk, p.key""",
    "vectors": """SELECT v.model, v.digest, v.vector FROM vectors v WHERE v.workspace = :ws AND EXISTS (
            SELECT 1 FROM passages p CROSS JOIN nodes n ON n.pk = p.node
            WHERE p.digest = v.digest AND n.workspace = :ws) ORDER BY v.model, v.digest""",
    "page_vectors": """SELECT model, node, width, sketch, vectors FROM page_vectors
        WHERE workspace = :ws ORDER BY model, node""",
    "edges": """SELECT source, target, type, label, weight FROM edges
        WHERE workspace = :ws ORDER BY source, target, type, label""",
    "changes": "SELECT node, version, id, acl, deleted FROM changes WHERE workspace = :ws ORDER BY node",
    "commits": f"""SELECT version, mark FROM commits WHERE workspace = :ws AND version > (
            SELECT version FROM workspaces WHERE id = :ws) - {KEPT_COMMITS} ORDER BY version DESC""",
    "activity": "SELECT user, kind, node, at FROM activity WHERE workspace = :ws ORDER BY user, kind, node",
    "feedback": """SELECT f.node, f.user, f.useful, f.at, f.query FROM nodes n CROSS JOIN feedback f ON f.node = n.pk
        WHERE n.workspace = :ws ORDER BY f.node, f.user, f.query""",
    "usage": """SELECT u.node, u.user, u.used FROM nodes n CROSS JOIN usage u ON u.node = n.pk
        WHERE n.workspace = :ws ORDER BY u.node, u.user""",
    "contexts": "SELECT user, thread, name, kept, at FROM contexts WHERE workspace = :ws ORDER BY user, thread, name",
    "receipts": "SELECT id, user, thread, at, record FROM receipts WHERE workspace = :ws ORDER BY id",
    "given": """SELECT g.node, g.user, g.given, g.at FROM nodes n CROSS JOIN given g ON g.node = n.pk
        WHERE n.workspace = :ws ORDER BY g.node, g.user""",
    "marks": f"""SELECT topic, name, mark FROM marks
        WHERE workspace = :ws AND topic NOT IN {STAYING} ORDER BY topic, name""",
    "users": "SELECT name FROM users WHERE workspace = :ws ORDER BY name",
    "members": "SELECT user, team FROM members WHERE workspace = :ws ORDER BY user, team",
    "keys": """SELECT k.id, k.digest, k.user, k.scope, k.name, k.created_at, k.expires_at, k.revoked_at
        FROM key_workspaces c JOIN keys k ON k.id = c.key WHERE c.workspace = :ws ORDER BY k.id""",
    "jobs": "SELECT id, user, state, created_at, updated_at, details FROM jobs WHERE workspace = :ws ORDER BY id",
}
SPANS = (
    """SELECT MIN(first), MAX(last) FROM (
           SELECT MIN(pk) AS first, MAX(pk) AS last FROM nodes WHERE workspace = :ws
           UNION ALL SELECT MIN(node), MAX(node) FROM changes WHERE workspace = :ws)""",
    """SELECT MIN(p.key), MAX(p.key) FROM nodes n CROSS JOIN passages p ON p.node = n.pk WHERE n.workspace = :ws""",
    "SELECT MIN(id), MAX(id) FROM acls WHERE workspace = :ws",
)
MARKS = "SELECT name, mark FROM marks WHERE workspace = :ws AND topic = :group"
REMOVE_GROUP = "DELETE FROM marks WHERE workspace = :ws AND topic = :group"

ADD = {
    "workspace": "UPDATE workspaces SET version = ?2, access = ?3 WHERE id = ?1",
    "lists": "INSERT INTO acls (workspace, id, principals) VALUES (?1, ?2, ?3)",
    "nodes": """INSERT INTO nodes (workspace, pk, id, type, title, parent, position, tags, fields, confidence,
            conversation, created_at, updated_at, source, owner, access, acl, digest, valid_from, valid_until,
            document, writer, origin)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
            ?23)""",
    "vectors": "INSERT INTO vectors (workspace, model, digest, vector) VALUES (?1, ?2, ?3, ?4)",
    "page_vectors": """INSERT INTO page_vectors (workspace, model, node, width, sketch, vectors)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)""",
    "edges": """INSERT INTO edges (workspace, source, target, type, label, weight) VALUES (?1, ?2, ?3, ?4, ?5, ?6)""",
    "changes": "INSERT INTO changes (workspace, node, version, id, acl, deleted) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    "commits": "INSERT INTO commits (workspace, version, mark) VALUES (?1, ?2, ?3)",
    "activity": "INSERT INTO activity (workspace, user, kind, node, at) VALUES (?1, ?2, ?3, ?4, ?5)",
    "feedback": "INSERT INTO feedback (node, user, useful, at, query) VALUES (?2, ?3, ?4, ?5, ?6)",
    "usage": "INSERT INTO usage (node, user, used) VALUES (?2, ?3, ?4)",
    "contexts": "INSERT INTO contexts (workspace, user, thread, name, kept, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    "receipts": "INSERT INTO receipts (workspace, id, user, thread, at, record) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    "given": "INSERT INTO given (node, user, given, at) VALUES (?2, ?3, ?4, ?5)",
    "marks": "INSERT INTO marks (workspace, topic, name, mark) VALUES (?1, ?2, ?3, ?4)",
    "users": "INSERT INTO users (workspace, name) VALUES (?1, ?2)",
    "members": "INSERT INTO members (workspace, user, team) VALUES (?1, ?2, ?3)",
    "keys": """INSERT INTO keys (id, digest, user, scope, name, created_at, expires_at, revoked_at)
        VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING""",
    "jobs": """INSERT INTO jobs (workspace, id, user, state, created_at, updated_at, details)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)""",
}
