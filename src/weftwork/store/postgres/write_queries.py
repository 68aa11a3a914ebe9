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
NODE_OWNERS = "SELECT id, owner FROM nodes WHERE workspace = %(ws)s AND pk = ANY (%(nodes)s::bigint[])"
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
REMOVE_USER = "DELETE FROM users WHERE workspace = %(ws)s AND name = %(user)s"
TEAMS = "SELECT team FROM members WHERE workspace = %(ws)s AND who = %(user)s"
REMOVE_TEAMS = "DELETE FROM members WHERE workspace = %(ws)s AND who = %(user)s"
ADD_TEAMS = """INSERT INTO members (workspace, who, team)
    SELECT w.workspace, %(user)s, t.team FROM workspaces w CROSS JOIN unnest(%(teams)s::text[]) AS t (team)
    WHERE w.workspace = %(ws)s"""
PUT_EVENT = """INSERT INTO activity AS a (workspace, who, kind, node, at)
    VALUES (%(ws)s, %(user)s, %(kind)s, %(node)s, %(at)s)
    ON CONFLICT (workspace, who, kind, node) DO UPDATE SET at = GREATEST(a.at, excluded.at)"""
PUT_FEEDBACK = """INSERT INTO feedback (workspace, node, who, query, useful, at)
    VALUES (%(ws)s, %(node)s, %(user)s, %(query)s, %(useful)s, %(at)s)
    ON CONFLICT (workspace, node, who, query) DO UPDATE SET useful = excluded.useful, at = excluded.at"""
COUNT_USE = """INSERT INTO usage AS u (workspace, node, who, used) VALUES (%(ws)s, %(node)s, %(user)s, 1)
    ON CONFLICT (workspace, node, who) DO UPDATE SET used = u.used + 1"""

CHANGED_SINCE = """SELECT id FROM changes
    WHERE workspace = %(ws)s AND version > %(since)s AND node = ANY (%(nodes)s::bigint[])"""
LOG_CHANGES = """INSERT INTO changes (workspace, node, version, id, acl, deleted)
    SELECT workspace, pk, %(version)s, id, acl, %(deleted)s FROM nodes
    WHERE workspace = %(ws)s AND pk = ANY (%(nodes)s::bigint[])
    ON CONFLICT (workspace, node) DO UPDATE SET version = excluded.version, id = excluded.id, acl = excluded.acl,
        deleted = excluded.deleted"""
REMOVE_MARKS = "DELETE FROM marks WHERE workspace = %(ws)s AND topic = %(group)s AND name = ANY (%(names)s::text[])"
PAGE_WIDTH = "SELECT width FROM page_vectors WHERE workspace = %(ws)s AND model = %(model)s LIMIT 1"
PUT_PAGE = """INSERT INTO page_vectors (workspace, model, node, width, sketch, vectors)
    VALUES (%(ws)s, %(model)s, %(node)s, %(width)s, %(sketch)s, %(vectors)s)
    ON CONFLICT (workspace, model, node) DO UPDATE SET width = excluded.width, sketch = excluded.sketch,
        vectors = excluded.vectors"""

_GIVEN = "unnest(%(sources)s::bigint[], %(targets)s::bigint[], %(types)s::text[], %(labels)s::text[]"
LINK = f"""INSERT INTO edges AS e (workspace, source, target, type, label, weight)
    SELECT w.workspace, g.* FROM workspaces w
    CROSS JOIN {_GIVEN}, %(weights)s::float8[]) AS g (source, target, type, label, weight)
    WHERE w.workspace = %(ws)s
    ON CONFLICT (workspace, source, target, type, label) DO UPDATE SET weight = excluded.weight
    WHERE e.weight <> excluded.weight"""
UNLINK = f"""DELETE FROM edges e USING {_GIVEN}) AS g (source, target, type, label)
    WHERE e.workspace = %(ws)s AND e.source = g.source AND e.target = g.target AND e.type = g.type
    AND e.label = g.label"""
