"""Statements of a view; see `weftwork.store.sql.queries.ReadQueries`.

Every table is restricted to the workspace, also where a join implies it, so that one shard of it is read.
"""

from __future__ import annotations

from weftwork.identity import SHORT
from weftwork.store.postgres.codec import HEAD_LENGTH

VISIBLE = "ANY (%(acls)s::bigint[])"
INFO = f"""n.id, n.type, n.title,
    (SELECT up.id FROM nodes up WHERE up.workspace = %(ws)s AND up.pk = n.parent AND up.acl = {VISIBLE}),
    n.position, n.tags, n.fields, n.confidence, n.conversation, n.created_at, n.updated_at, n.source,
    n.owner, n.access, n.valid_from, n.valid_until, n.writer, n.origin"""
"""The parent is named only to those who may see it."""
PASSAGE = 'p.ordinal, p.start, p."end", p.text, p.tokens, p.digest, p.citation, p.key'
TEXT = """(SELECT string_agg(t.text, '' ORDER BY t.ordinal) FROM passages t
    WHERE t.workspace = %(ws)s AND t.node = n.pk)"""
"""The whole text of a node `n`."""
INDEX_ROW = """p.key, p.node, p.acl, p.ordinal, n.type, n.title, n.source, p.text, n.tags, n.fields, n.updated_at,
    n.confidence, n.conversation, p.digest, n.valid_from, n.valid_until"""

FILTERS = {
    "types": "n.type = ANY (%(types)s::text[])",
    "tags": """(SELECT count(*) FROM tags t WHERE t.workspace = %(ws)s AND t.node = n.pk
        AND t.tag = ANY (%(tags)s::text[])) = cardinality(%(tags)s::text[])""",
    "after": "n.updated_at >= %(after)s",
    "before": "n.updated_at <= %(before)s",
    "confidence": "n.confidence >= %(confidence)s",
    "conversation": "n.conversation = %(conversation)s",
    "as_of": """(n.valid_from IS NULL OR n.valid_from <= %(as_of)s)
        AND (n.valid_until IS NULL OR n.valid_until > %(as_of)s)""",
    "excluded": "n.id <> ALL (%(excluded)s::text[])",
    "excluded_types": "n.type <> ALL (%(excluded_types)s::text[])",
}
"""Conditions on `nodes n`."""

NUMBERS = f"""SELECT id, pk FROM nodes
    WHERE workspace = %(ws)s AND acl = {VISIBLE} AND id = ANY (%(names)s::text[])"""
NODES = f"""SELECT {INFO}, {TEXT}
    FROM nodes n WHERE n.workspace = %(ws)s AND n.acl = {VISIBLE} AND n.id = ANY (%(names)s::text[])"""
RECORDS = f"""SELECT {INFO}, n.pk, n.document,
        (SELECT d.id FROM nodes d WHERE d.workspace = %(ws)s AND d.pk = n.document AND d.acl = {VISIBLE}),
        (SELECT count(*) FROM (SELECT 1 FROM passages s WHERE s.workspace = %(ws)s AND s.acl = {VISIBLE}
            AND s.citation >= left(p.citation, {SHORT}) AND s.citation < left(p.citation, {SHORT}) || ':'
            LIMIT 2) two) > 1, {PASSAGE}
    FROM passages p JOIN nodes n ON n.workspace = %(ws)s AND n.pk = p.node
    WHERE p.workspace = %(ws)s AND p.key = ANY (%(keys)s::bigint[]) AND n.acl = {VISIBLE}"""
TRAILS = f"""WITH RECURSIVE up (start, pk, parent, title, level) AS (
        SELECT n.pk, p.pk, p.parent, p.title, 1 FROM nodes n
        JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent AND p.acl = {VISIBLE}
        WHERE n.workspace = %(ws)s AND n.pk IN (
            SELECT s.node FROM passages s WHERE s.workspace = %(ws)s AND s.key = ANY (%(keys)s::bigint[]))
        UNION ALL
        SELECT up.start, p.pk, p.parent, p.title, up.level + 1 FROM up
        JOIN nodes p ON p.workspace = %(ws)s AND p.pk = up.parent
        WHERE p.acl = {VISIBLE} AND up.level < %(depth)s
    ) SELECT start, pk, title FROM up ORDER BY start, level"""
HEADS = f"""SELECT {INFO}, n.pk FROM nodes n
    WHERE n.workspace = %(ws)s AND n.acl = {VISIBLE} AND n.id = ANY (%(names)s::text[])"""
# In steps that are each made once: without statistics, a planner goes through the workspace for each document.
OUTLINES = f"""WITH d AS MATERIALIZED (
        SELECT k.pk, (SELECT count(*) FROM (SELECT 1 FROM nodes q WHERE q.workspace = %(ws)s AND q.document = k.pk
            AND q.acl = {VISIBLE} LIMIT %(most)s + 1) counted) AS size
        FROM unnest(%(documents)s::bigint[]) AS k (pk)),
    own AS MATERIALIZED (
        SELECT d.pk AS document, d.pk AS node FROM d
        UNION ALL
        SELECT d.pk, x.pk FROM d JOIN nodes x ON x.workspace = %(ws)s AND x.document = d.pk AND x.pk <> d.pk
        WHERE d.size <= %(most)s)
    SELECT own.document, n.pk, n.parent, n.id, n.type, n.title, p.key, p.tokens,
        n.pk <> own.document AND (n.valid_from IS NOT NULL OR n.valid_until IS NOT NULL) FROM own
    JOIN nodes n ON n.workspace = %(ws)s AND n.pk = own.node
    JOIN passages p ON p.workspace = %(ws)s AND p.node = n.pk
    WHERE n.acl = {VISIBLE} AND (n.pk = own.document OR %(ever)s OR (
        (n.valid_from IS NULL OR n.valid_from <= %(as_of)s) AND (n.valid_until IS NULL OR n.valid_until > %(as_of)s)))
    ORDER BY own.document, n.position, n.pk, p.ordinal"""
PASSAGE_KEYS = f"""SELECT n.id, p.key FROM nodes n
    JOIN passages p ON p.workspace = %(ws)s AND p.node = n.pk AND p.ordinal < %(limit)s
    WHERE n.workspace = %(ws)s AND n.acl = {VISIBLE} AND n.id = ANY (%(names)s::text[])
    ORDER BY n.id, p.ordinal"""
OWNERS = f"""SELECT p.key, n.id FROM passages p JOIN nodes n ON n.workspace = %(ws)s AND n.pk = p.node
    WHERE p.workspace = %(ws)s AND p.key = ANY (%(keys)s::bigint[]) AND n.acl = {VISIBLE}"""
# `||` is not leakproof: beside a policy it would be applied after the index, which had then no upper bound.
CITED = f"""SELECT p.key, p.citation
    FROM (SELECT prefix, prefix || ':' AS beyond FROM unnest(%(citations)s::text[]) AS u (prefix) OFFSET 0) k
    JOIN passages p ON p.workspace = %(ws)s AND p.citation >= k.prefix AND p.citation < k.beyond
    WHERE p.acl = {VISIBLE}"""
FIND = f"""SELECT id FROM nodes WHERE workspace = %(ws)s AND acl = {VISIBLE} AND (
        (title_key = %(start)s AND lower(title) = lower(%(title)s COLLATE "C"))
     OR (source_key = %(start)s AND source_key <> '' AND lower(source) = lower(%(title)s COLLATE "C"))
     OR (workspace = %(ws)s AND pk = ANY (ARRAY(
            SELECT f.node FROM fields f WHERE f.workspace = %(ws)s AND f.name = ANY (%(names)s::text[])
                AND f.head = left(%(name)s, {HEAD_LENGTH}) AND f.value = %(name)s AND f.value <> ''))))
    ORDER BY pk LIMIT 20"""
RECENT = f"""SELECT {INFO} FROM nodes n WHERE n.workspace = %(ws)s AND n.acl = {VISIBLE}{{filters}}
    ORDER BY n.updated_at DESC, n.pk LIMIT %(limit)s"""
BELOW_TRUST = f"""SELECT n.id FROM nodes n WHERE n.workspace = %(ws)s AND n.acl = {VISIBLE}
      AND (n.origin = ANY (%(origins)s::text[])
           OR (%(own)s AND COALESCE(n.writer, n.owner, '') <> %(user)s)) ORDER BY n.pk"""
BY_TITLE = f"""SELECT {INFO} FROM nodes n WHERE n.workspace = %(ws)s AND n.acl = {VISIBLE}{{filters}}
    ORDER BY lower(n.title), n.pk LIMIT %(limit)s"""
_MOMENT = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:\d{2})?)?$"
"""An ISO date or timestamp; PostgreSQL itself would accept much more."""
# Invalid dates are excluded here, so that they do not count towards the limit.
PAST = f"""SELECT {INFO} FROM (
        SELECT n.pk, min(f.value) AS earliest FROM fields f
        JOIN nodes n ON n.workspace = %(ws)s AND n.pk = f.node
        WHERE f.workspace = %(ws)s AND f.name = ANY (%(names)s::text[]) AND f.head < %(latest)s
          AND f.head >= %(earliest)s
          AND CASE WHEN f.value !~ '{_MOMENT}' THEN false
                   WHEN length(f.value) = 10 THEN f.value < %(today)s AND pg_input_is_valid(f.value, 'date')
                   WHEN NOT pg_input_is_valid(f.value, 'timestamptz') THEN false
                   ELSE f.value::timestamptz < %(now)s::timestamptz END
          AND n.acl = {VISIBLE}
          AND NOT EXISTS (SELECT 1 FROM fields own WHERE own.workspace = %(ws)s AND own.node = n.pk
              AND lower(own.name) = ANY (%(closing)s::text[])
              AND lower(btrim(own.value)) = ANY (%(closed)s::text[])){{filters}}
        GROUP BY n.pk ORDER BY earliest, n.pk LIMIT %(limit)s
    ) dated JOIN nodes n ON n.workspace = %(ws)s AND n.pk = dated.pk ORDER BY dated.earliest, n.pk"""
FIRST_PASSAGES = """SELECT key, node FROM passages
    WHERE workspace = %(ws)s AND ordinal = 0 AND node = ANY (%(nodes)s::bigint[])"""

ANCESTORS = f"""WITH RECURSIVE up (pk, parent, level) AS (
        SELECT pk, parent, 0 FROM nodes WHERE workspace = %(ws)s AND id = %(node)s AND acl = {VISIBLE}
        UNION ALL
        SELECT n.pk, n.parent, up.level + 1 FROM up JOIN nodes n ON n.workspace = %(ws)s AND n.pk = up.parent
        WHERE n.acl = {VISIBLE} AND up.level < %(depth)s
    ) SELECT {INFO} FROM up JOIN nodes n ON n.workspace = %(ws)s AND n.pk = up.pk
      WHERE up.level > 0 ORDER BY up.level"""
_SIBLINGS = f"""SELECT {INFO} FROM nodes f
    JOIN nodes up ON up.workspace = %(ws)s AND up.pk = f.parent AND up.acl = {VISIBLE}
    JOIN nodes n ON n.workspace = %(ws)s AND n.parent = f.parent
        AND (n.position, n.pk) {{comparison}} (f.position, f.pk)
    WHERE f.workspace = %(ws)s AND f.id = %(node)s AND f.acl = {VISIBLE} AND n.acl = {VISIBLE}
    ORDER BY n.position {{order}}, n.pk {{order}} LIMIT %(count)s"""
SIBLINGS_BEFORE = _SIBLINGS.format(comparison="<", order="DESC")
SIBLINGS_AFTER = _SIBLINGS.format(comparison=">", order="ASC")
_CHILDREN = f"""SELECT {INFO} FROM nodes f JOIN nodes n ON n.workspace = %(ws)s AND n.parent = f.pk
    WHERE f.workspace = %(ws)s AND f.id = %(node)s AND f.acl = {VISIBLE} AND n.acl = {VISIBLE}
    ORDER BY n.position {{order}}, n.pk {{order}} LIMIT %(limit)s"""
FIRST_CHILDREN = _CHILDREN.format(order="ASC")
LAST_CHILDREN = _CHILDREN.format(order="DESC")
ADJACENT = f"""SELECT p.key, q.key, q.ordinal - p.ordinal FROM passages p
    JOIN passages q ON q.workspace = %(ws)s AND q.node = p.node
        AND q.ordinal BETWEEN p.ordinal - %(count)s AND p.ordinal + %(count)s AND q.key <> p.key
    WHERE p.workspace = %(ws)s AND p.key = ANY (%(keys)s::bigint[]) AND p.acl = {VISIBLE} AND q.acl = {VISIBLE}
    ORDER BY p.key, q.ordinal"""
_ADJACENT_SIBLINGS = f"""SELECT p.key, q.key FROM passages p
    JOIN nodes f ON f.workspace = %(ws)s AND f.pk = p.node AND f.acl = {VISIBLE}
    JOIN nodes up ON up.workspace = %(ws)s AND up.pk = f.parent AND up.acl = {VISIBLE}
    CROSS JOIN LATERAL (
        SELECT s.pk, s.position FROM nodes s
        WHERE s.workspace = %(ws)s AND s.parent = f.parent AND s.acl = {VISIBLE}
          AND (s.position, s.pk) {{comparison}} (f.position, f.pk)
        ORDER BY s.position {{order}}, s.pk {{order}} LIMIT %(count)s
    ) n
    JOIN passages q ON q.workspace = %(ws)s AND q.node = n.pk AND q.ordinal = 0
    WHERE p.workspace = %(ws)s AND p.key = ANY (%(keys)s::bigint[])
    ORDER BY p.key, n.position {{order}}, n.pk {{order}}"""
ADJACENT_BEFORE = _ADJACENT_SIBLINGS.format(comparison="<", order="DESC")
ADJACENT_AFTER = _ADJACENT_SIBLINGS.format(comparison=">", order="ASC")
LINEAGES = f"""WITH RECURSIVE up (start, pk, parent, level) AS (
        SELECT id, pk, parent, 0 FROM nodes
        WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[]) AND acl = {VISIBLE}
        UNION ALL
        SELECT up.start, n.pk, n.parent, up.level + 1 FROM up
        JOIN nodes n ON n.workspace = %(ws)s AND n.pk = up.parent
        WHERE n.acl = {VISIBLE} AND up.level < %(depth)s
    ) SELECT start, pk, level FROM up"""

_NEIGHBOURS = f"""SELECT {INFO}, e.type, e.label, e.weight FROM nodes f
    JOIN edges e ON e.workspace = %(ws)s AND e.{{near}} = f.pk
    JOIN nodes n ON n.workspace = %(ws)s AND n.pk = e.{{far}}
    WHERE f.workspace = %(ws)s AND f.id = %(node)s AND f.acl = {VISIBLE} AND n.acl = {VISIBLE}
      AND (%(any)s OR e.type = ANY (%(types)s::text[]))
    ORDER BY e.weight DESC, n.pk, e.type, e.label LIMIT %(limit)s"""
NEIGHBOURS_OUT = _NEIGHBOURS.format(near="source", far="target")
NEIGHBOURS_IN = _NEIGHBOURS.format(near="target", far="source")
_HOLDS = """(%(ever)s OR (({table}.valid_from IS NULL OR {table}.valid_from <= %(as_of)s)
    AND ({table}.valid_until IS NULL OR {table}.valid_until > %(as_of)s)))"""
_SAID = f"""SELECT p.key, q.key FROM passages p
    JOIN nodes f ON f.workspace = %(ws)s AND f.pk = p.node AND f.acl = {VISIBLE}
    CROSS JOIN LATERAL (
        SELECT s.pk, s.created_at FROM nodes s
        WHERE s.workspace = %(ws)s AND s.conversation = f.conversation AND s.conversation IS NOT NULL
          AND s.acl = {VISIBLE} AND {_HOLDS.format(table="s")}
          AND (s.created_at, s.pk) {{comparison}} (f.created_at, f.pk)
        ORDER BY s.created_at {{order}}, s.pk {{order}} LIMIT %(count)s
    ) n
    JOIN passages q ON q.workspace = %(ws)s AND q.node = n.pk AND q.ordinal = 0
    WHERE p.workspace = %(ws)s AND p.key = ANY (%(keys)s::bigint[])
    ORDER BY p.key, n.created_at {{order}}, n.pk {{order}}"""
SAID_BEFORE = _SAID.format(comparison="<", order="DESC")
SAID_AFTER = _SAID.format(comparison=">", order="ASC")
# The following read `edges` once a direction: its policy makes each further reference expensive to plan.
_EDGES_ONE_WAY = f"""(SELECT own, {{source}}, {{target}}, type, label, weight FROM (
        SELECT own, other, type, label, weight,
            dense_rank() OVER (PARTITION BY own ORDER BY heaviest DESC, other) AS place
        FROM (
            SELECT f.id AS own, v.id AS other, x.type, x.label, x.weight,
                max(x.weight) OVER (PARTITION BY f.id, v.id) AS heaviest
            FROM nodes f
            JOIN edges x ON x.workspace = %(ws)s AND x.{{near}} = f.pk
            JOIN nodes v ON v.workspace = %(ws)s AND v.pk = x.{{far}} AND v.acl = {VISIBLE}
                AND {_HOLDS.format(table="v")}
            WHERE f.workspace = %(ws)s AND f.id = ANY (%(names)s::text[]) AND f.acl = {VISIBLE}
              AND {_HOLDS.format(table="f")}) linked
    ) ranked WHERE place <= %(limit)s)"""
EDGES = " UNION ALL ".join(
    (
        _EDGES_ONE_WAY.format(near="source", far="target", source="own", target="other"),
        _EDGES_ONE_WAY.format(near="target", far="source", source="other", target="own"),
    )
)
_FRONTIER = "unnest(%(frontier)s::bigint[]) AS f (pk)"
CHILD_HOPS = f"""(SELECT f.pk, n.pk, 'child', '', n.id, n.updated_at, 'out', n.type, 1.0::float8, n.owner
    FROM {_FRONTIER} CROSS JOIN LATERAL (
        SELECT c.pk, c.id, c.updated_at, c.type, c.owner FROM nodes c
        WHERE c.workspace = %(ws)s AND c.parent = f.pk AND c.acl = {VISIBLE}
        ORDER BY c.updated_at DESC, c.pk LIMIT %(limit)s) n)"""
PARENT_HOPS = f"""(SELECT f.pk, n.pk, 'parent', '', n.id, n.updated_at, 'in', n.type, 1.0::float8, NULL::text
    FROM {_FRONTIER}
    JOIN nodes c ON c.workspace = %(ws)s AND c.pk = f.pk
    JOIN nodes n ON n.workspace = %(ws)s AND n.pk = c.parent AND n.acl = {VISIBLE})"""
# A type that comes first is read even where a hub has thousands of newer edges.
_EDGE_HOPS = f"""(SELECT start, pk, type, label, id, updated_at, '{{way}}', kind, weight, owner FROM (
        SELECT start, pk, type, label, id, updated_at, kind, weight, owner,
            min(place) OVER (PARTITION BY start, pk) AS first FROM (
            SELECT f.pk AS start, v.pk, x.type, x.label, v.id, v.updated_at, v.type AS kind, x.weight, v.owner,
                row_number() OVER (
                PARTITION BY f.pk
                ORDER BY COALESCE(array_position(%(order)s::text[], x.type), 1000000), v.updated_at DESC, v.pk) AS place
            FROM {_FRONTIER}
            JOIN edges x ON x.workspace = %(ws)s AND x.{{near}} = f.pk
                AND (%(any)s OR x.type = ANY (%(types)s::text[]))
            JOIN nodes v ON v.workspace = %(ws)s AND v.pk = x.{{far}} AND v.acl = {VISIBLE}) linked
    ) ranked WHERE first <= %(limit)s)"""
EDGE_HOPS_OUT = _EDGE_HOPS.format(near="source", far="target", way="out")
EDGE_HOPS_IN = _EDGE_HOPS.format(near="target", far="source", way="in")

EVENTS = f"""SELECT n.id, p.key, a.at FROM activity a JOIN nodes n ON n.workspace = %(ws)s AND n.pk = a.node
    JOIN passages p ON p.workspace = %(ws)s AND p.node = n.pk AND p.ordinal = 0
    WHERE a.workspace = %(ws)s AND a.who = %(user)s AND a.kind = %(kind)s AND a.at >= %(since)s
      AND n.acl = {VISIBLE}
    ORDER BY a.at DESC, n.pk LIMIT %(limit)s"""
USAGE = f"""SELECT n.id,
        COALESCE((SELECT sum(CASE WHEN u.who = %(user)s THEN u.used ELSE LEAST(u.used, %(most)s) END)
                  FROM usage u WHERE u.workspace = %(ws)s AND u.node = n.pk), 0)::bigint
    FROM nodes n WHERE n.workspace = %(ws)s AND n.acl = {VISIBLE} AND n.id = ANY (%(names)s::text[])"""
VOTES = f"""SELECT n.id, f.useful, f.query FROM feedback f JOIN nodes n ON n.workspace = %(ws)s AND n.pk = f.node
    WHERE f.workspace = %(ws)s AND f.who = %(user)s AND n.acl = {VISIBLE}
    ORDER BY f.at DESC, n.id, f.query LIMIT %(limit)s"""
CHANGES = f"""SELECT id, version, deleted FROM changes
    WHERE workspace = %(ws)s AND version > %(since)s AND acl = {VISIBLE} ORDER BY version, node"""
COUNT_BY_TYPE = f"""SELECT type, count(*) FROM nodes
    WHERE workspace = %(ws)s AND acl = {VISIBLE} GROUP BY type ORDER BY type"""
COUNT_EDGES = f"""SELECT count(*) FROM edges e
    JOIN nodes a ON a.workspace = %(ws)s AND a.pk = e.source AND a.acl = {VISIBLE}
    JOIN nodes b ON b.workspace = %(ws)s AND b.pk = e.target AND b.acl = {VISIBLE} WHERE e.workspace = %(ws)s"""
COUNT_TAGS = f"""SELECT count(DISTINCT t.tag) FROM tags t
    JOIN nodes n ON n.workspace = %(ws)s AND n.pk = t.node AND n.acl = {VISIBLE} WHERE t.workspace = %(ws)s"""
NEXT_TURN = f"""SELECT min(turn) FROM (
        (SELECT valid_from AS turn FROM nodes
         WHERE workspace = %(ws)s AND valid_from > %(moment)s AND acl = {VISIBLE} ORDER BY valid_from LIMIT 1)
        UNION ALL
        (SELECT valid_until AS turn FROM nodes
         WHERE workspace = %(ws)s AND valid_until > %(moment)s AND acl = {VISIBLE} ORDER BY valid_until LIMIT 1)
    ) turns"""

PAGES = f"""SELECT v.node, v.width FROM page_vectors v JOIN nodes n ON n.workspace = %(ws)s AND n.pk = v.node
    WHERE v.workspace = %(ws)s AND v.model = %(model)s AND n.acl = {VISIBLE} AND length(v.sketch) > 0{{filters}}
    ORDER BY v.node"""
PAGE_SKETCHES = f"""SELECT v.node, v.sketch FROM page_vectors v
    JOIN passages p ON p.workspace = %(ws)s AND p.node = v.node AND p.ordinal = 0 AND p.acl = {VISIBLE}
    WHERE v.workspace = %(ws)s AND v.model = %(model)s AND v.node = ANY (%(nodes)s::bigint[]) ORDER BY v.node"""
PAGE_VECTORS = f"""SELECT p.key, v.vectors FROM page_vectors v
    JOIN passages p ON p.workspace = %(ws)s AND p.node = v.node AND p.ordinal = 0 AND p.acl = {VISIBLE}
    WHERE v.workspace = %(ws)s AND v.model = %(model)s AND v.node = ANY (%(nodes)s::bigint[]) ORDER BY v.node"""
