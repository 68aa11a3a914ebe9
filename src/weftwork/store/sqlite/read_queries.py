"""Statements of a view; see `weftwork.store.sql.queries.ReadQueries`.

CROSS JOIN fixes the join order in SQLite: a read starts at the rows that it was asked for.
"""

from __future__ import annotations

from weftwork.identity import SHORT

VISIBLE = "(SELECT value FROM json_each(:acls))"
VALID = (
    "({table}.valid_from IS NULL OR {table}.valid_from <= :as_of)"
    " AND ({table}.valid_until IS NULL OR {table}.valid_until > :as_of)"
)
INFO = f"""n.id, n.type, n.title, (SELECT p.id FROM nodes p WHERE p.pk = n.parent AND p.acl IN {VISIBLE}),
    n.position, n.tags, n.fields, n.confidence, n.conversation, n.created_at, n.updated_at, n.source,
    n.owner, n.access, n.valid_from, n.valid_until, n.writer, n.origin"""
"""The parent is named only to those who may see it."""
PASSAGE = 'p.ordinal, p.start, p."end", p.text, p.tokens, p.digest, p.citation, p.key'
INDEX_ROW = """p.key, p.node, p.acl, p.ordinal, n.type, n.title, n.source, p.text, n.tags, n.fields, n.updated_at,
    n.confidence, n.conversation, p.digest, n.valid_from, n.valid_until"""
COLUMNS_ROW = """p.key, p.node, p.acl, p.ordinal, n.type, '', '', '', n.tags, '{}', n.updated_at,
    n.confidence, n.conversation, p.digest, n.valid_from, n.valid_until"""
"""The same without texts, which an index of vectors does not read."""

FILTERS = {
    "types": "n.type IN (SELECT value FROM json_each(:types))",
    # The tags first: few nodes have one, and reading all of them for that takes longer than a context.
    "tags": """n.pk IN (SELECT t.node FROM tags t
        WHERE t.workspace = :ws AND t.tag IN (SELECT value FROM json_each(:tags))
        GROUP BY t.node HAVING COUNT(*) = json_array_length(:tags))""",
    "after": "n.updated_at >= :after",
    "before": "n.updated_at <= :before",
    "confidence": "n.confidence >= :confidence",
    "conversation": "n.conversation = :conversation",
    "as_of": VALID.format(table="n"),
    "excluded": "n.id NOT IN (SELECT value FROM json_each(:excluded))",
    "excluded_types": "n.type NOT IN (SELECT value FROM json_each(:excluded_types))",
}
"""Conditions on `nodes n`."""

NUMBERS = f"""SELECT id, pk FROM nodes
    WHERE workspace = :ws AND acl IN {VISIBLE} AND id IN (SELECT value FROM json_each(:names))"""
NODES = f"""SELECT {INFO}, (SELECT group_concat(text, '') FROM
        (SELECT text FROM passages WHERE node = n.pk ORDER BY ordinal))
    FROM nodes n WHERE n.workspace = :ws AND n.acl IN {VISIBLE} AND n.id IN (SELECT value FROM json_each(:names))"""
RECORDS = f"""SELECT {INFO}, n.pk, n.document,
        (SELECT d.id FROM nodes d WHERE d.pk = n.document AND d.acl IN {VISIBLE}),
        (SELECT COUNT(*) FROM (SELECT 1 FROM passages s CROSS JOIN nodes o ON o.pk = s.node
            WHERE s.citation >= substr(p.citation, 1, {SHORT}) AND s.citation < substr(p.citation, 1, {SHORT}) || ':'
              AND o.workspace = :ws AND o.acl IN {VISIBLE} LIMIT 2)) > 1, {PASSAGE}
    FROM passages p CROSS JOIN nodes n ON n.pk = p.node
    WHERE p.key IN (SELECT value FROM json_each(:keys)) AND n.workspace = :ws AND n.acl IN {VISIBLE}"""
TRAILS = f"""WITH RECURSIVE up (start, pk, level) AS (
        SELECT n.pk, n.parent, 1 FROM nodes n WHERE n.pk IN (
            SELECT s.node FROM passages s WHERE s.key IN (SELECT value FROM json_each(:keys)))
        UNION ALL
        SELECT up.start, n.parent, up.level + 1 FROM up CROSS JOIN nodes n ON n.pk = up.pk
        WHERE n.acl IN {VISIBLE} AND up.level < :depth
    ) SELECT up.start, n.pk, n.title FROM up CROSS JOIN nodes n ON n.pk = up.pk
      WHERE n.acl IN {VISIBLE} ORDER BY up.start, up.level"""
HEADS = f"""SELECT {INFO}, n.pk FROM nodes n
    WHERE n.workspace = :ws AND n.acl IN {VISIBLE} AND n.id IN (SELECT value FROM json_each(:names))"""
# The size of a document is counted once: in the subquery, it would be counted for each of its nodes.
OUTLINES = f"""WITH d (value, size) AS MATERIALIZED (SELECT k.value, (SELECT COUNT(*) FROM (
            SELECT 1 FROM nodes q WHERE q.document = k.value AND q.acl IN {VISIBLE} LIMIT :most + 1))
        FROM json_each(:documents) k)
    SELECT d.value, n.pk, n.parent, n.id, n.type, n.title, p.key, p.tokens,
        n.pk != d.value AND (n.valid_from IS NOT NULL OR n.valid_until IS NOT NULL) FROM d
    CROSS JOIN nodes n ON n.pk IN (
        SELECT d.value UNION ALL
        SELECT x.pk FROM nodes x WHERE d.size <= :most AND x.document = d.value AND x.pk != d.value)
    CROSS JOIN passages p ON p.node = n.pk
    WHERE n.acl IN {VISIBLE} AND (n.pk = d.value OR :ever OR ({VALID.format(table="n")}))
    ORDER BY d.value, n.position, n.pk, p.ordinal"""
PASSAGE_KEYS = f"""SELECT n.id, p.key FROM nodes n CROSS JOIN passages p ON p.node = n.pk AND p.ordinal < :limit
    WHERE n.workspace = :ws AND n.acl IN {VISIBLE} AND n.id IN (SELECT value FROM json_each(:names))
    ORDER BY n.id, p.ordinal"""
OWNERS = f"""SELECT p.key, n.id FROM passages p CROSS JOIN nodes n ON n.pk = p.node
    WHERE p.key IN (SELECT value FROM json_each(:keys)) AND n.workspace = :ws AND n.acl IN {VISIBLE}"""
CITED = f"""SELECT p.key, p.citation FROM json_each(:citations) k
    CROSS JOIN passages p ON p.citation >= k.value AND p.citation < k.value || ':'
    CROSS JOIN nodes n ON n.pk = p.node WHERE n.workspace = :ws AND n.acl IN {VISIBLE}"""
FIND = f"""SELECT id FROM nodes WHERE +workspace = :ws AND acl IN {VISIBLE} AND pk IN (
        SELECT pk FROM nodes WHERE workspace = :ws AND title = :title COLLATE NOCASE UNION
        SELECT pk FROM nodes WHERE workspace = :ws AND source = :title COLLATE NOCASE AND source != '' UNION
        SELECT node FROM json_each(:names) names CROSS JOIN fields ON fields.workspace = :ws
            AND fields.name = names.value AND fields.value = :name AND fields.value != '')
    ORDER BY pk LIMIT 20"""
RECENT = f"""SELECT {INFO} FROM nodes n WHERE n.workspace = :ws AND n.acl IN {VISIBLE}{{filters}}
    ORDER BY n.updated_at DESC, n.pk LIMIT :limit"""
BELOW_TRUST = f"""SELECT n.id FROM nodes n WHERE n.workspace = :ws AND n.acl IN {VISIBLE}
      AND (n.origin IN (SELECT value FROM json_each(:origins))
           OR (:own AND COALESCE(n.writer, n.owner, '') != :user)) ORDER BY n.pk"""
BY_TITLE = f"""SELECT {INFO} FROM nodes n WHERE n.workspace = :ws AND n.acl IN {VISIBLE}{{filters}}
    ORDER BY n.title COLLATE NOCASE, n.pk LIMIT :limit"""
# Invalid dates are excluded here, so that they do not count towards the limit.
PAST = f"""SELECT {INFO} FROM json_each(:names) names
    CROSS JOIN fields ON fields.workspace = :ws AND fields.name = names.value AND fields.value < :latest
        AND fields.value >= :earliest
    CROSS JOIN nodes n ON n.pk = fields.node
    WHERE CASE length(fields.value) WHEN 10 THEN fields.value < :today
          ELSE julianday(fields.value) < julianday(:now) END
      AND n.acl IN {VISIBLE}
      AND NOT EXISTS (SELECT 1 FROM fields own WHERE own.node = n.pk
          AND lower(own.name) IN (SELECT value FROM json_each(:closing))
          AND lower(trim(own.value)) IN (SELECT value FROM json_each(:closed)))
      AND date(substr(fields.value, 1, 10), '+0 days') = substr(fields.value, 1, 10){{filters}}
    GROUP BY n.pk ORDER BY MIN(fields.value), n.pk LIMIT :limit"""
FIRST_PASSAGES = "SELECT key, node FROM passages WHERE ordinal = 0 AND node IN (SELECT value FROM json_each(:nodes))"

ANCESTORS = f"""WITH RECURSIVE up (pk, parent, level) AS (
        SELECT pk, parent, 0 FROM nodes WHERE workspace = :ws AND id = :node AND acl IN {VISIBLE}
        UNION ALL
        SELECT n.pk, n.parent, up.level + 1 FROM up CROSS JOIN nodes n ON n.pk = up.parent
        WHERE n.acl IN {VISIBLE} AND up.level < :depth
    ) SELECT {INFO} FROM up CROSS JOIN nodes n ON n.pk = up.pk WHERE up.level > 0 ORDER BY up.level"""
_SIBLINGS = f"""SELECT {INFO} FROM nodes f
    CROSS JOIN nodes up ON up.pk = f.parent AND up.acl IN {VISIBLE}
    CROSS JOIN nodes n ON n.parent = f.parent AND (n.position, n.pk) {{comparison}} (f.position, f.pk)
    WHERE f.workspace = :ws AND f.id = :node AND f.acl IN {VISIBLE} AND n.acl IN {VISIBLE}
    ORDER BY n.position {{order}}, n.pk {{order}} LIMIT :count"""
SIBLINGS_BEFORE = _SIBLINGS.format(comparison="<", order="DESC")
SIBLINGS_AFTER = _SIBLINGS.format(comparison=">", order="ASC")
_CHILDREN = f"""SELECT {INFO} FROM nodes f CROSS JOIN nodes n ON n.parent = f.pk
    WHERE f.workspace = :ws AND f.id = :node AND f.acl IN {VISIBLE} AND n.acl IN {VISIBLE}
    ORDER BY n.position {{order}}, n.pk {{order}} LIMIT :limit"""
FIRST_CHILDREN = _CHILDREN.format(order="ASC")
LAST_CHILDREN = _CHILDREN.format(order="DESC")
ADJACENT = f"""SELECT p.key, q.key, q.ordinal - p.ordinal FROM json_each(:keys) k
    CROSS JOIN passages p ON p.key = k.value CROSS JOIN nodes n ON n.pk = p.node AND n.acl IN {VISIBLE}
    CROSS JOIN passages q ON q.node = p.node
    WHERE q.ordinal BETWEEN p.ordinal - :count AND p.ordinal + :count AND q.key != p.key
    ORDER BY p.key, q.ordinal"""
_ADJACENT_SIBLINGS = f"""SELECT p.key, q.key FROM json_each(:keys) k
    CROSS JOIN passages p ON p.key = k.value CROSS JOIN nodes f ON f.pk = p.node AND f.acl IN {VISIBLE}
    CROSS JOIN nodes up ON up.pk = f.parent AND up.acl IN {VISIBLE}
    CROSS JOIN nodes n ON n.pk IN (
        SELECT s.pk FROM nodes s WHERE s.parent = f.parent AND s.acl IN {VISIBLE}
            AND (s.position, s.pk) {{comparison}} (f.position, f.pk)
        ORDER BY s.position {{order}}, s.pk {{order}} LIMIT :count)
    CROSS JOIN passages q ON q.node = n.pk AND q.ordinal = 0
    ORDER BY p.key, n.position {{order}}, n.pk {{order}}"""
ADJACENT_BEFORE = _ADJACENT_SIBLINGS.format(comparison="<", order="DESC")
ADJACENT_AFTER = _ADJACENT_SIBLINGS.format(comparison=">", order="ASC")
LINEAGES = f"""WITH RECURSIVE up (start, pk, parent, level) AS (
        SELECT id, pk, parent, 0 FROM nodes
        WHERE workspace = :ws AND id IN (SELECT value FROM json_each(:names)) AND acl IN {VISIBLE}
        UNION ALL
        SELECT up.start, n.pk, n.parent, up.level + 1 FROM up CROSS JOIN nodes n ON n.pk = up.parent
        WHERE n.acl IN {VISIBLE} AND up.level < :depth
    ) SELECT start, pk, level FROM up"""

_NEIGHBOURS = f"""SELECT {INFO}, e.type, e.label, e.weight FROM nodes f
    CROSS JOIN edges e ON e.{{near}} = f.pk CROSS JOIN nodes n ON n.pk = e.{{far}}
    WHERE f.workspace = :ws AND f.id = :node AND f.acl IN {VISIBLE} AND n.acl IN {VISIBLE}
      AND (:any OR e.type IN (SELECT value FROM json_each(:types)))
    ORDER BY e.weight DESC, n.pk, e.type, e.label LIMIT :limit"""
NEIGHBOURS_OUT = _NEIGHBOURS.format(near="source", far="target")
NEIGHBOURS_IN = _NEIGHBOURS.format(near="target", far="source")
_HOLDS = f"(:ever OR {VALID})"
_SAID = f"""SELECT p.key, q.key FROM json_each(:keys) k
    CROSS JOIN passages p ON p.key = k.value CROSS JOIN nodes f ON f.pk = p.node AND f.acl IN {VISIBLE}
    CROSS JOIN nodes n ON n.pk IN (
        SELECT s.pk FROM nodes s
        WHERE s.workspace = f.workspace AND s.conversation = f.conversation AND s.conversation IS NOT NULL
            AND s.acl IN {VISIBLE} AND {_HOLDS.format(table="s")}
            AND (s.created_at, s.pk) {{comparison}} (f.created_at, f.pk)
        ORDER BY s.created_at {{order}}, s.pk {{order}} LIMIT :count)
    CROSS JOIN passages q ON q.node = n.pk AND q.ordinal = 0
    ORDER BY p.key, n.created_at {{order}}, n.pk {{order}}"""
SAID_BEFORE = _SAID.format(comparison="<", order="DESC")
SAID_AFTER = _SAID.format(comparison=">", order="ASC")
_EDGES_ONE_WAY = f"""SELECT own.id, {{source}}.id, {{target}}.id, e.type, e.label, e.weight FROM nodes own
    CROSS JOIN edges e ON e.{{near}} = own.pk AND e.{{far}} IN (
        SELECT x.{{far}} FROM edges x CROSS JOIN nodes v ON v.pk = x.{{far}} AND v.acl IN {VISIBLE}
        WHERE x.{{near}} = own.pk AND {_HOLDS.format(table="v")}
        GROUP BY x.{{far}} ORDER BY MAX(x.weight) DESC, v.id LIMIT :limit)
    CROSS JOIN nodes other ON other.pk = e.{{far}}
    WHERE own.workspace = :ws AND own.id IN (SELECT value FROM json_each(:names)) AND own.acl IN {VISIBLE}
      AND {_HOLDS.format(table="own")}"""
EDGES = " UNION ALL ".join(
    (
        _EDGES_ONE_WAY.format(near="source", far="target", source="own", target="other"),
        _EDGES_ONE_WAY.format(near="target", far="source", source="other", target="own"),
    )
)
CHILD_HOPS = f"""SELECT f.value, n.pk, 'child', '', n.id, n.updated_at, 'out', n.type, 1.0, n.owner
    FROM json_each(:frontier) f
    CROSS JOIN nodes n ON n.pk IN (SELECT c.pk FROM nodes c WHERE c.parent = f.value AND c.acl IN {VISIBLE}
                                   ORDER BY c.updated_at DESC, c.pk LIMIT :limit)"""
PARENT_HOPS = f"""SELECT f.value, n.pk, 'parent', '', n.id, n.updated_at, 'in', n.type, 1.0, NULL
    FROM json_each(:frontier) f
    CROSS JOIN nodes c ON c.pk = f.value CROSS JOIN nodes n ON n.pk = c.parent AND n.acl IN {VISIBLE}"""
# A type that comes first is read even where a hub has thousands of newer edges.
_EDGE_HOPS = f"""SELECT f.value, n.pk, e.type, e.label, n.id, n.updated_at, '{{way}}', n.type, e.weight, n.owner
    FROM json_each(:frontier) f
    CROSS JOIN edges e ON e.{{near}} = f.value AND e.{{far}} IN (
        SELECT x.{{far}} FROM edges x CROSS JOIN nodes v ON v.pk = x.{{far}} AND v.acl IN {VISIBLE}
        WHERE x.{{near}} = f.value AND (:any OR x.type IN (SELECT value FROM json_each(:types)))
        ORDER BY CASE :order WHEN '[]' THEN 0
                 ELSE COALESCE((SELECT o.key FROM json_each(:order) o WHERE o.value = x.type), 1000000) END,
            v.updated_at DESC, v.pk LIMIT :limit)
    CROSS JOIN nodes n ON n.pk = e.{{far}}
    WHERE :any OR e.type IN (SELECT value FROM json_each(:types))"""
EDGE_HOPS_OUT = _EDGE_HOPS.format(near="source", far="target", way="out")
EDGE_HOPS_IN = _EDGE_HOPS.format(near="target", far="source", way="in")

EVENTS = f"""SELECT n.id, p.key, a.at FROM activity a CROSS JOIN nodes n ON n.pk = a.node
    CROSS JOIN passages p ON p.node = n.pk AND p.ordinal = 0
    WHERE a.workspace = :ws AND a.user = :user AND a.kind = :kind AND a.at >= :since AND n.acl IN {VISIBLE}
    ORDER BY a.at DESC, n.pk LIMIT :limit"""
USAGE = f"""SELECT n.id,
        COALESCE((SELECT SUM(CASE user WHEN :user THEN used ELSE MIN(used, :most) END)
                  FROM usage WHERE node = n.pk), 0)
    FROM nodes n WHERE n.workspace = :ws AND n.acl IN {VISIBLE} AND n.id IN (SELECT value FROM json_each(:names))"""
VOTES = f"""SELECT n.id, f.useful, f.query FROM feedback f CROSS JOIN nodes n ON n.pk = f.node
    WHERE f.user = :user AND n.workspace = :ws AND n.acl IN {VISIBLE}
    ORDER BY f.at DESC, n.id, f.query LIMIT :limit"""
CHANGES = f"""SELECT id, version, deleted FROM changes
    WHERE workspace = :ws AND version > :since AND acl IN {VISIBLE} ORDER BY version, node"""
COUNT_BY_TYPE = f"""SELECT type, COUNT(*) FROM nodes
    WHERE workspace = :ws AND acl IN {VISIBLE} GROUP BY type ORDER BY type"""
COUNT_EDGES = f"""SELECT COUNT(*) FROM nodes a
    CROSS JOIN edges e ON e.source = a.pk CROSS JOIN nodes b ON b.pk = e.target
    WHERE a.workspace = :ws AND a.acl IN {VISIBLE} AND b.acl IN {VISIBLE}"""
COUNT_TAGS = f"""SELECT COUNT(DISTINCT t.tag) FROM tags t JOIN nodes n ON n.pk = t.node
    WHERE t.workspace = :ws AND n.acl IN {VISIBLE}"""
WRITTEN = """SELECT c.node, n.document FROM changes c LEFT JOIN nodes n ON n.pk = c.node
    WHERE c.workspace = :ws AND c.version > :since LIMIT :most"""
HANGING = """SELECT 1 FROM json_each(:nodes) k CROSS JOIN nodes n ON n.parent = k.value
    WHERE n.pk NOT IN (SELECT value FROM json_each(:nodes)) LIMIT 1"""
BEGINNINGS = f"""SELECT DISTINCT substr(p.citation, 1, {SHORT}) FROM json_each(:nodes) k
    CROSS JOIN passages p ON p.node = k.value"""
NEXT_TURN = f"""SELECT MIN(turn) FROM (
        SELECT turn FROM (SELECT valid_from AS turn FROM nodes
            WHERE workspace = :ws AND valid_from > :moment AND acl IN {VISIBLE} ORDER BY valid_from LIMIT 1)
        UNION ALL
        SELECT turn FROM (SELECT valid_until AS turn FROM nodes
            WHERE workspace = :ws AND valid_until > :moment AND acl IN {VISIBLE} ORDER BY valid_until LIMIT 1))"""

PAGES = f"""SELECT v.node, v.width FROM page_vectors v CROSS JOIN nodes n ON n.pk = v.node
    WHERE v.workspace = :ws AND v.model = :model AND n.acl IN {VISIBLE} AND length(v.sketch) > 0{{filters}}
    ORDER BY v.node"""
PAGE_SKETCHES = f"""SELECT v.node, v.sketch FROM page_vectors v
    CROSS JOIN passages p ON p.node = v.node AND p.ordinal = 0
    WHERE v.workspace = :ws AND v.model = :model AND v.node IN (SELECT value FROM json_each(:nodes))
      AND p.acl IN {VISIBLE} ORDER BY v.node"""
PAGE_VECTORS = f"""SELECT p.key, v.vectors FROM page_vectors v
    CROSS JOIN passages p ON p.node = v.node AND p.ordinal = 0
    WHERE v.workspace = :ws AND v.model = :model AND v.node IN (SELECT value FROM json_each(:nodes))
      AND p.acl IN {VISIBLE} ORDER BY v.node"""

# For what the indexes found.
INDEX_ROWS = f"""SELECT {INDEX_ROW} FROM passages p CROSS JOIN nodes n ON n.pk = p.node
    WHERE p.key IN (SELECT value FROM json_each(:keys)) AND n.workspace = :ws AND n.acl IN {VISIBLE}"""
VISIBLE_KEYS = f"""SELECT DISTINCT key FROM passages
    WHERE key IN (SELECT value FROM json_each(:keys)) AND acl IN {VISIBLE}"""
VISIBLE_DIGESTS = f"""SELECT DISTINCT digest FROM passages
    WHERE digest IN (SELECT value FROM json_each(:digests)) AND acl IN {VISIBLE}"""
TOTALS = f"""SELECT COALESCE(SUM(passages), 0), COALESCE(SUM(words), 0) FROM acls
    WHERE +workspace = :ws AND id IN {VISIBLE}"""
