"""Following edges: neighbours, and the single steps of a walk, one question a level."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from weftwork.store.postgres.codec import INFO_WIDTH
from weftwork.store.postgres.scope import Reader
from weftwork.store.protocol import Direction
from weftwork.store.sqlite.codec import node_info, to_micros
from weftwork.store.walk import EdgeRules, Hop
from weftwork.types import Edge, NodeInfo, Step


def neighbours(
    reader: Reader, node: str, types: Sequence[str], direction: Direction, limit: int
) -> list[tuple[Edge, NodeInfo]]:
    """Visible nodes at the other end of a node's edges: outgoing first, heaviest first."""
    ways = [each for each in _WAYS if direction in (each[0], "both")]
    answers = reader.together(
        *(_NEIGHBOURS.format(near=near, far=far) for _, near, far in ways),
        node=node,
        any=not types,
        types=list(types),
        limit=limit,
    )
    found: list[tuple[Edge, NodeInfo]] = []
    for (way, _, _), rows in zip(ways, answers, strict=True):
        for row in rows:
            other = node_info(row)
            ends = (node, other.id) if way == "out" else (other.id, node)
            kind, label, weight = row[INFO_WIDTH:]
            found.append((Edge(source=ends[0], target=ends[1], type=kind, label=label, weight=weight), other))
    return found[:limit]


_WAYS = (("out", "source", "target"), ("in", "target", "source"))
_NEIGHBOURS = """SELECT {{info}}, e.type, e.label, e.weight FROM nodes f
    JOIN edges e ON e.workspace = %(ws)s AND e.{near} = f.pk
    JOIN nodes n ON n.workspace = %(ws)s AND n.pk = e.{far}
    WHERE f.workspace = %(ws)s AND f.id = %(node)s AND f.acl = {{visible}} AND n.acl = {{visible}}
      AND (%(any)s OR e.type = ANY (%(types)s::text[]))
    ORDER BY e.weight DESC, n.pk, e.type, e.label LIMIT %(limit)s"""


def edges(reader: Reader, nodes: Sequence[str], limit: int, as_of: datetime | None) -> list[Edge]:
    """Edges between visible nodes with an end among these, at most `limit` neighbours of each in each direction."""
    ways = (
        _AROUND.format(near="source", far="target", source="own", target="other"),
        _AROUND.format(near="target", far="source", source="other", target="own"),
    )
    rows = reader.rows(
        " UNION ".join(ways),
        nodes=list(nodes),
        most=limit,
        ever=as_of is None,
        as_of=0 if as_of is None else to_micros(as_of),
    )
    return [
        Edge(source=source, target=target, type=kind, label=label, weight=weight)
        for source, target, kind, label, weight in sorted(rows)
    ]


_HOLDS = """(%(ever)s OR (({table}.valid_from IS NULL OR {table}.valid_from <= %(as_of)s)
    AND ({table}.valid_until IS NULL OR {table}.valid_until > %(as_of)s)))"""
# Each of the following reads `edges` once a direction: its policy makes every further mention dear to plan.
_AROUND = f"""(SELECT {{source}}, {{target}}, type, label, weight FROM (
        SELECT own, other, type, label, weight,
            dense_rank() OVER (PARTITION BY own ORDER BY heaviest DESC, other) AS place
        FROM (
            SELECT f.id AS own, v.id AS other, x.type, x.label, x.weight,
                max(x.weight) OVER (PARTITION BY f.id, v.id) AS heaviest
            FROM nodes f
            JOIN edges x ON x.workspace = %(ws)s AND x.{{near}} = f.pk
            JOIN nodes v ON v.workspace = %(ws)s AND v.pk = x.{{far}} AND v.acl = {{{{visible}}}}
                AND {_HOLDS.format(table="v")}
            WHERE f.workspace = %(ws)s AND f.id = ANY (%(nodes)s::text[]) AND f.acl = {{{{visible}}}}
              AND {_HOLDS.format(table="f")}) linked
    ) ranked WHERE place <= %(most)s)"""


def hops(reader: Reader, frontier: Sequence[int], edges: EdgeRules, most: int) -> dict[int, list[Hop]]:
    """All single steps from the frontier to visible nodes, at most `most` of each kind from one node."""
    found: dict[int, list[Hop]] = {}
    parts = _parts(edges)
    if not parts:
        return found
    rows = reader.rows(
        " UNION ALL ".join(parts),
        frontier=list(frontier),
        most=most,
        any=not edges.only,
        types=list(edges.only),
        order=list(edges.order),
    )
    for start, end, kind, label, name, recency, way in rows:
        found.setdefault(start, []).append(Hop(start, end, Step(kind, way, name, label), recency))
    return found


def _parts(edges: EdgeRules) -> list[str]:
    """The questions of one level, which are asked as one."""
    parts: list[str] = []
    if edges.allows("child"):
        parts.append(_CHILDREN)
    if edges.allows("parent"):
        parts.append(_PARENTS)
    if not edges.only or set(edges.only) - {"child", "parent"}:
        parts.append(_EDGES.format(near="source", far="target", way="out"))
        parts.append(_EDGES.format(near="target", far="source", way="in"))
    return parts


_FRONTIER = "unnest(%(frontier)s::bigint[]) AS f (pk)"
_CHILDREN = f"""(SELECT f.pk, n.pk, 'child', '', n.id, n.updated_at, 'out' FROM {_FRONTIER} CROSS JOIN LATERAL (
        SELECT c.pk, c.id, c.updated_at FROM nodes c
        WHERE c.workspace = %(ws)s AND c.parent = f.pk AND c.acl = {{visible}}
        ORDER BY c.updated_at DESC, c.pk LIMIT %(most)s) n)"""
_PARENTS = f"""(SELECT f.pk, n.pk, 'parent', '', n.id, n.updated_at, 'in' FROM {_FRONTIER}
    JOIN nodes c ON c.workspace = %(ws)s AND c.pk = f.pk
    JOIN nodes n ON n.workspace = %(ws)s AND n.pk = c.parent AND n.acl = {{visible}})"""
# A type that comes first is read even where a hub has thousands of newer edges.
_EDGES = f"""(SELECT start, pk, type, label, id, updated_at, '{{way}}' FROM (
        SELECT start, pk, type, label, id, updated_at, min(place) OVER (PARTITION BY start, pk) AS first FROM (
            SELECT f.pk AS start, v.pk, x.type, x.label, v.id, v.updated_at, row_number() OVER (
                PARTITION BY f.pk
                ORDER BY COALESCE(array_position(%(order)s::text[], x.type), 1000000), v.updated_at DESC, v.pk) AS place
            FROM {_FRONTIER}
            JOIN edges x ON x.workspace = %(ws)s AND x.{{near}} = f.pk
                AND (%(any)s OR x.type = ANY (%(types)s::text[]))
            JOIN nodes v ON v.workspace = %(ws)s AND v.pk = x.{{far}} AND v.acl = {{{{visible}}}}) linked
    ) ranked WHERE first <= %(most)s)"""
