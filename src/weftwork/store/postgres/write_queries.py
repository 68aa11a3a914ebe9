"""Statements of a batch; see `weftwork.store.sql.queries.WriteQueries`."""

from __future__ import annotations

NUMBERS = "SELECT id, pk FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])"
STORED = """SELECT id, pk, digest, acl, parent, created_at, document FROM nodes
    WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])"""
PARENTS = "SELECT id, pk, acl, document FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])"
DOCUMENT = """SELECT n.type, n.document, p.document
    FROM nodes n LEFT JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent
    WHERE n.workspace = %(ws)s AND n.pk = %(node)s"""
DOCUMENTS_BELOW = """SELECT n.pk, n.type, n.document, p.document
    FROM nodes n JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent
    WHERE n.workspace = %(ws)s AND n.parent = ANY (%(nodes)s::bigint[]) ORDER BY n.pk"""
SET_DOCUMENT = "UPDATE nodes SET document = %(document)s WHERE workspace = %(ws)s AND pk = %(node)s"
IS_ABOVE = """WITH RECURSIVE up (pk) AS (
        SELECT %(parent)s::bigint
        UNION SELECT n.parent FROM up JOIN nodes n ON n.workspace = %(ws)s AND n.pk = up.pk WHERE n.parent IS NOT NULL
    ) SELECT 1 FROM up WHERE pk = %(node)s"""
OWN_ACCESS = "SELECT id, owner, access FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])"
PLACES = """SELECT n.id, p.id, n.position, n.owner, n.access
    FROM nodes n LEFT JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent
    WHERE n.workspace = %(ws)s AND n.id = ANY (%(names)s::text[])"""
SUBTREES = """WITH RECURSIVE below (pk, id) AS (
        SELECT pk, id FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])
        UNION SELECT n.pk, n.id FROM below CROSS JOIN LATERAL (
            SELECT c.pk, c.id FROM nodes c WHERE c.workspace = %(ws)s AND c.parent = below.pk OFFSET 0) n
    ) SELECT pk, id FROM below"""
# The digest is cleared, so that the next put of the node finds a difference.
MOVE = """UPDATE nodes SET parent = %(parent)s, position = %(position)s, digest = ''
    WHERE workspace = %(ws)s AND pk = %(node)s"""
SET_ACCESS = "UPDATE nodes SET access = %(access)s, digest = '' WHERE workspace = %(ws)s AND pk = %(node)s"
SET_VALIDITY = """UPDATE nodes SET valid_from = %(start)s, valid_until = %(end)s, digest = ''
    WHERE workspace = %(ws)s AND pk = %(node)s"""

PRINCIPALS = "SELECT principals FROM acls WHERE workspace = %(ws)s AND id = %(acl)s"
ACCESS = """SELECT n.access, n.owner, p.acl, n.acl
    FROM nodes n LEFT JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent
    WHERE n.workspace = %(ws)s AND n.pk = %(node)s"""
ACCESS_BELOW = """SELECT n.pk, n.acl, n.access, n.owner, p.acl
    FROM nodes n JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent
    WHERE n.workspace = %(ws)s AND n.parent = ANY (%(nodes)s::bigint[]) ORDER BY n.pk"""

IS_USER = "SELECT 1 FROM users WHERE workspace = %(ws)s AND name = %(user)s"
ADD_USER = "INSERT INTO users (workspace, name) VALUES (%(ws)s, %(user)s)"
TEAMS = "SELECT team FROM members WHERE workspace = %(ws)s AND who = %(user)s"
REMOVE_TEAMS = "DELETE FROM members WHERE workspace = %(ws)s AND who = %(user)s"
ADD_TEAMS = """INSERT INTO members (workspace, who, team)
    SELECT %(ws)s, %(user)s, team FROM unnest(%(teams)s::text[]) AS t (team)"""
UPDATE_EVENT = """UPDATE activity SET at = GREATEST(at, %(at)s)
    WHERE workspace = %(ws)s AND who = %(user)s AND kind = %(kind)s AND node = %(node)s"""
ADD_EVENT = """INSERT INTO activity (workspace, who, kind, node, at)
    VALUES (%(ws)s, %(user)s, %(kind)s, %(node)s, %(at)s)"""
UPDATE_FEEDBACK = """UPDATE feedback SET useful = %(useful)s, at = %(at)s
    WHERE workspace = %(ws)s AND node = %(node)s AND who = %(user)s"""
ADD_FEEDBACK = """INSERT INTO feedback (workspace, node, who, useful, at)
    VALUES (%(ws)s, %(node)s, %(user)s, %(useful)s, %(at)s)"""
UPDATE_USE = "UPDATE usage SET used = used + 1 WHERE workspace = %(ws)s AND node = %(node)s AND who = %(user)s"
ADD_USE = "INSERT INTO usage (workspace, node, who, used) VALUES (%(ws)s, %(node)s, %(user)s, 1)"

CHANGED_SINCE = """SELECT id FROM changes
    WHERE workspace = %(ws)s AND version > %(since)s AND node = ANY (%(nodes)s::bigint[])"""
REMOVE_CHANGES = "DELETE FROM changes WHERE workspace = %(ws)s AND node = ANY (%(nodes)s::bigint[])"
ADD_CHANGES = """INSERT INTO changes (workspace, node, version, id, acl, deleted)
    SELECT workspace, pk, %(version)s, id, acl, %(deleted)s FROM nodes
    WHERE workspace = %(ws)s AND pk = ANY (%(nodes)s::bigint[])"""
REMOVE_MARKS = "DELETE FROM marks WHERE workspace = %(ws)s AND topic = %(group)s AND name = ANY (%(names)s::text[])"
PAGE_WIDTH = "SELECT width FROM page_vectors WHERE workspace = %(ws)s AND model = %(model)s LIMIT 1"
REMOVE_PAGES = """DELETE FROM page_vectors
    WHERE workspace = %(ws)s AND model = %(model)s AND node = ANY (%(nodes)s::bigint[])"""
ADD_PAGE = """INSERT INTO page_vectors (workspace, model, node, width, sketch, vectors)
    VALUES (%(ws)s, %(model)s, %(node)s, %(width)s, %(sketch)s, %(vectors)s)"""

_GIVEN = "unnest(%(sources)s::bigint[], %(targets)s::bigint[], %(types)s::text[], %(labels)s::text[]"
_SAME = """e.workspace = %(ws)s AND e.source = g.source AND e.target = g.target AND e.type = g.type
    AND e.label = g.label"""
LINK = f"""WITH given AS MATERIALIZED (
        SELECT * FROM {_GIVEN}, %(weights)s::float8[]) AS g (source, target, type, label, weight)
    ), changed AS (
        UPDATE edges e SET weight = g.weight FROM given g WHERE {_SAME} AND e.weight <> g.weight RETURNING 1
    ), added AS (
        INSERT INTO edges (workspace, source, target, type, label, weight)
        SELECT %(ws)s, g.source, g.target, g.type, g.label, g.weight FROM given g
        WHERE NOT EXISTS (SELECT 1 FROM edges e WHERE {_SAME}) RETURNING 1
    ) SELECT (SELECT count(*) FROM changed) + (SELECT count(*) FROM added)"""
UNLINK = f"""WITH gone AS (
        DELETE FROM edges e USING {_GIVEN}) AS g (source, target, type, label) WHERE {_SAME} RETURNING 1
    ) SELECT count(*) FROM gone"""
