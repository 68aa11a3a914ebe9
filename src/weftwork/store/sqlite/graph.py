"""Following edges: neighbours, and the single steps of a walk over the tree and the edges."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from weftwork.store.protocol import Direction
from weftwork.store.sqlite.codec import INFO_WIDTH, ids, node_info, to_micros
from weftwork.store.sqlite.scope import VALID, Reader
from weftwork.store.walk import EdgeRules, Hop
from weftwork.types import Edge, NodeInfo, Step


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
                CROSS JOIN edges e ON e.{near} = f.pk CROSS JOIN nodes n ON n.pk = e.{far}
                WHERE f.workspace = :ws AND f.id = :node AND f.acl IN {{visible}} AND n.acl IN {{visible}}
                  AND (:types = '[]' OR e.type IN (SELECT value FROM json_each(:types)))
                ORDER BY e.weight DESC, n.pk, e.type, e.label LIMIT :limit""",
            node=node,
            types=ids(types),
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
    moment = None if as_of is None else to_micros(as_of)
    starts = ids(reader.numbers(nodes).values())
    found = {
        (row[near], row[1 - near], *row[2:])
        for near, query in enumerate(
            (_AROUND.format(near="source", far="target"), _AROUND.format(near="target", far="source"))
        )
        for row in reader.rows(query, nodes=starts, most=limit, as_of=moment)
    }
    return [
        Edge(source=source, target=target, type=kind, label=label, weight=weight)
        for source, target, kind, label, weight in sorted(found)
    ]


_HOLDS = f"(:as_of IS NULL OR {VALID})"
_AROUND = f"""SELECT n.id, m.id, e.type, e.label, e.weight FROM json_each(:nodes) f
    CROSS JOIN nodes n ON n.pk = f.value AND {_HOLDS.format(table="n")}
    CROSS JOIN edges e ON e.{{near}} = n.pk AND e.{{far}} IN (
        SELECT x.{{far}} FROM edges x CROSS JOIN nodes v ON v.pk = x.{{far}} AND v.acl IN {{{{visible}}}}
        WHERE x.{{near}} = n.pk AND {_HOLDS.format(table="v")}
        GROUP BY x.{{far}} ORDER BY MAX(x.weight) DESC, v.id LIMIT :most)
    CROSS JOIN nodes m ON m.pk = e.{{far}}"""


def hops(reader: Reader, frontier: Sequence[int], edges: EdgeRules, most: int) -> dict[int, list[Hop]]:
    """All single steps from the frontier to visible nodes, at most `most` of each kind from one node."""
    found: dict[int, list[Hop]] = {}
    kinds = {f"kind{index}": kind for kind, index in edges.order.items()}
    for query, way in _queries(edges):
        for start, end, kind, label, name, recency in reader.rows(
            query, frontier=ids(frontier), most=most, types=ids(edges.only), **kinds
        ):
            found.setdefault(start, []).append(Hop(start, end, Step(kind, way, name, label), recency))
    return found


def _queries(edges: EdgeRules) -> list[tuple[str, Literal["out", "in"]]]:
    queries: list[tuple[str, Literal["out", "in"]]] = []
    if edges.allows("child"):
        queries.append((_TREE.format(far="c.parent = f.value", kind="child"), "out"))
    if edges.allows("parent"):
        queries.append((_TREE.format(far="c.pk = (SELECT parent FROM nodes WHERE pk = f.value)", kind="parent"), "in"))
    if not edges.only or set(edges.only) - {"child", "parent"}:
        # A type that comes first is read even where a hub has thousands of newer edges.
        cases = "".join(f" WHEN :kind{index} THEN {index}" for index in edges.order.values())
        place = f"CASE x.type{cases} ELSE {len(edges.order)} END, " if cases else ""
        queries.append((_EDGES.format(near="source", far="target", place=place), "out"))
        queries.append((_EDGES.format(near="target", far="source", place=place), "in"))
    return queries


_TREE = """SELECT f.value, n.pk, '{kind}', '', n.id, n.updated_at FROM json_each(:frontier) f
    CROSS JOIN nodes n ON n.pk IN (SELECT c.pk FROM nodes c WHERE {far} AND c.acl IN {{visible}}
                             ORDER BY c.updated_at DESC, c.pk LIMIT :most)"""
_EDGES = """SELECT f.value, n.pk, e.type, e.label, n.id, n.updated_at FROM json_each(:frontier) f
    CROSS JOIN edges e ON e.{near} = f.value AND e.{far} IN (
        SELECT x.{far} FROM edges x CROSS JOIN nodes v ON v.pk = x.{far} AND v.acl IN {{visible}}
        WHERE x.{near} = f.value AND (:types = '[]' OR x.type IN (SELECT value FROM json_each(:types)))
        ORDER BY {place}v.updated_at DESC, v.pk LIMIT :most)
    CROSS JOIN nodes n ON n.pk = e.{far}
    WHERE :types = '[]' OR e.type IN (SELECT value FROM json_each(:types))"""
