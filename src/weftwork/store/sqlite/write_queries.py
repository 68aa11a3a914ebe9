"""Statements of a batch; see `weftwork.store.sql.queries.WriteQueries`."""

from __future__ import annotations

NUMBERS = "SELECT id, pk FROM nodes WHERE workspace = :ws AND id IN (SELECT value FROM json_each(:names))"
STORED = """SELECT id, pk, digest, acl, parent, created_at, document FROM nodes
    WHERE workspace = :ws AND id IN (SELECT value FROM json_each(:names))"""
PARENTS = """SELECT id, pk, acl, document FROM nodes
    WHERE workspace = :ws AND id IN (SELECT value FROM json_each(:names))"""
DOCUMENT = """SELECT n.type, n.document, p.document FROM nodes n LEFT JOIN nodes p ON p.pk = n.parent
    WHERE n.pk = :node"""
DOCUMENTS_BELOW = """SELECT n.pk, n.type, n.document, p.document FROM nodes n JOIN nodes p ON p.pk = n.parent
    WHERE n.parent IN (SELECT value FROM json_each(:nodes)) ORDER BY n.pk"""
SET_DOCUMENT = "UPDATE nodes SET document = :document WHERE pk = :node"
IS_ABOVE = """WITH RECURSIVE up (pk) AS (
        VALUES (:parent)
        UNION SELECT n.parent FROM up CROSS JOIN nodes n ON n.pk = up.pk WHERE n.parent IS NOT NULL
    ) SELECT 1 FROM up WHERE pk = :node"""
OWN_ACCESS = "SELECT id, owner, access FROM nodes WHERE workspace = :ws AND id IN (SELECT value FROM json_each(:names))"
NODE_OWNERS = "SELECT id, owner FROM nodes WHERE pk IN (SELECT value FROM json_each(:nodes))"
PLACES = """SELECT n.id, p.id, n.position, n.owner, n.access FROM nodes n LEFT JOIN nodes p ON p.pk = n.parent
    WHERE n.workspace = :ws AND n.id IN (SELECT value FROM json_each(:names))"""
SUBTREES = """WITH RECURSIVE below (pk, id) AS (
        SELECT pk, id FROM nodes WHERE workspace = :ws AND id IN (SELECT value FROM json_each(:names))
        UNION SELECT n.pk, n.id FROM below CROSS JOIN nodes n ON n.parent = below.pk
    ) SELECT pk, id FROM below"""
# The digest is cleared, so that the next put of the node finds a difference.
MOVE = "UPDATE nodes SET parent = :parent, position = :position, digest = '' WHERE pk = :node"
SET_ACCESS = "UPDATE nodes SET access = :access, digest = '' WHERE pk = :node"
SET_VALIDITY = "UPDATE nodes SET valid_from = :start, valid_until = :end, digest = '' WHERE pk = :node"

PRINCIPALS = "SELECT principals FROM acls WHERE id = :acl"
ACCESS = """SELECT n.access, n.owner, p.acl, n.acl FROM nodes n LEFT JOIN nodes p ON p.pk = n.parent
    WHERE n.pk = :node"""
ACCESS_BELOW = """SELECT n.pk, n.acl, n.access, n.owner, p.acl FROM nodes n JOIN nodes p ON p.pk = n.parent
    WHERE n.parent IN (SELECT value FROM json_each(:nodes)) ORDER BY n.pk"""

IS_USER = "SELECT 1 FROM users WHERE workspace = :ws AND name = :user"
ADD_USER = "INSERT INTO users (workspace, name) VALUES (:ws, :user)"
REMOVE_USER = "DELETE FROM users WHERE workspace = :ws AND name = :user"
TEAMS = "SELECT team FROM members WHERE workspace = :ws AND user = :user"
REMOVE_TEAMS = "DELETE FROM members WHERE workspace = :ws AND user = :user"
ADD_TEAMS = "INSERT INTO members (workspace, user, team) SELECT :ws, :user, value FROM json_each(:teams)"
PUT_EVENT = """INSERT INTO activity (workspace, user, kind, node, at) VALUES (:ws, :user, :kind, :node, :at)
    ON CONFLICT DO UPDATE SET at = MAX(at, excluded.at)"""
PUT_FEEDBACK = """INSERT INTO feedback (node, user, query, useful, at) VALUES (:node, :user, :query, :useful, :at)
    ON CONFLICT DO UPDATE SET useful = excluded.useful, at = excluded.at"""
COUNT_USE = """INSERT INTO usage (node, user, used) VALUES (:node, :user, 1)
    ON CONFLICT DO UPDATE SET used = used + 1"""

CHANGED_SINCE = """SELECT id FROM changes
    WHERE workspace = :ws AND version > :since AND node IN (SELECT value FROM json_each(:nodes))"""
LOG_CHANGES = """INSERT OR REPLACE INTO changes (workspace, node, version, id, acl, deleted)
    SELECT workspace, pk, :version, id, acl, :deleted FROM nodes WHERE pk IN (SELECT value FROM json_each(:nodes))"""
REMOVE_MARKS = """DELETE FROM marks
    WHERE workspace = :ws AND topic = :group AND name IN (SELECT value FROM json_each(:names))"""
PAGE_WIDTH = "SELECT width FROM page_vectors WHERE workspace = :ws AND model = :model LIMIT 1"
PUT_PAGE = """INSERT OR REPLACE INTO page_vectors (workspace, model, node, width, sketch, vectors)
    VALUES (:ws, :model, :node, :width, :sketch, :vectors)"""
