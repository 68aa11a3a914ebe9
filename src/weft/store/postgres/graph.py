"""Following edges: neighbours, and the single steps of a walk, one question a level."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from weft.store.postgres.codec import INFO_WIDTH
from weft.store.postgres.scope import Reader
from weft.store.protocol import Direction
from weft.store.sqlite.codec import node_info, to_micros
from weft.store.walking import EdgeRules, Hop
from weft.types import Edge, NodeInfo, Step


def neighbours(
    reader: Reader, node: str, types: Sequence[str], direction: Direction, limit: int
) -> list[tuple[Edge, NodeInfo]]:
    """Visible nodes at the other end of a node's edges: outgoing first, heaviest first."""
    found: list[tuple[Edge, NodeInfo]] = []
    for way, near, far in (("out", "source", "target"), ("in", "target", "source")):
        if direction not in (way, "both"):
            continue
        rows = reader.rows(
            f"""SELECT {{info}}, e.type, e.label, e.weight FROM nodes f
                JOIN edges e ON e.workspace = %(ws)s AND e.{near} = f.pk
                JOIN nodes n ON n.workspace = %(ws)s AND n.pk = e.{far}
                WHERE f.workspace = %(ws)s AND f.id = %(node)s AND f.acl = {{visible}} AND n.acl = {{visible}}
                  AND (%(any)s OR e.type = ANY (%(types)s::text[]))
                ORDER BY e.weight DESC, n.pk, e.type, e.label LIMIT %(limit)s""",
            node=node,
            any=not types,
            types=list(types),
            limit=limit - len(found),
        )
        for row in rows:
            other = node_info(row)
            ends = (node, other.id) if way == "out" else (other.id, node)
            kind, label, weight = row[INFO_WIDTH:]
            found.append((Edge(source=ends[0], target=ends[1], type=kind, label=label, weight=weight), other))
    return found


def edges(reader: Reader, nodes: Sequence[str], limit: int, as_of: datetime | None) -> list[Edge]:
    """Edges between visible nodes with an end among these, at most `limit` neighbours of each in each direction."""
    ways = (_AROUND.format(near="source", far="target"), _AROUND.format(near="target", far="source"))
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
_AROUND = f"""(SELECT s.id, t.id, e.type, e.label, e.weight FROM nodes f
    CROSS JOIN LATERAL (
        SELECT x.{{far}} AS pk FROM edges x
        JOIN nodes v ON v.workspace = %(ws)s AND v.pk = x.{{far}} AND v.acl = {{{{visible}}}}
            AND {_HOLDS.format(table="v")}
        WHERE x.workspace = %(ws)s AND x.{{near}} = f.pk
        GROUP BY x.{{far}}, v.id ORDER BY max(x.weight) DESC, v.id LIMIT %(most)s) o
    JOIN edges e ON e.workspace = %(ws)s AND e.{{near}} = f.pk AND e.{{far}} = o.pk
    JOIN nodes s ON s.workspace = %(ws)s AND s.pk = e.source
    JOIN nodes t ON t.workspace = %(ws)s AND t.pk = e.target
    WHERE f.workspace = %(ws)s AND f.id = ANY (%(nodes)s::text[]) AND f.acl = {{{{visible}}}}
      AND {_HOLDS.format(table="f")})"""


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
_EDGES = f"""(SELECT f.pk, n.pk, e.type, e.label, n.id, n.updated_at, '{{way}}' FROM {_FRONTIER} CROSS JOIN LATERAL (
        SELECT x.type, x.label, x.{{far}} AS far FROM edges x
        WHERE x.workspace = %(ws)s AND x.{{near}} = f.pk AND (%(any)s OR x.type = ANY (%(types)s::text[]))
          AND x.{{far}} IN (
            SELECT c.{{far}} FROM edges c
            JOIN nodes v ON v.workspace = %(ws)s AND v.pk = c.{{far}} AND v.acl = {{{{visible}}}}
            WHERE c.workspace = %(ws)s AND c.{{near}} = f.pk AND (%(any)s OR c.type = ANY (%(types)s::text[]))
            ORDER BY COALESCE(array_position(%(order)s::text[], c.type), 1000000), v.updated_at DESC, v.pk
            LIMIT %(most)s)) e
    JOIN nodes n ON n.workspace = %(ws)s AND n.pk = e.far)"""
