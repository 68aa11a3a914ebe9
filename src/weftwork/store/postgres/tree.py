"""Reading the tree: ancestors, siblings, children, distances. No step leads through a hidden node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from weftwork.store.postgres.scope import Reader
from weftwork.store.rules import hops_between
from weftwork.store.sqlite.codec import node_info
from weftwork.store.sqlite.tree import MAX_DEPTH
from weftwork.types import NodeInfo


def ancestors(reader: Reader, node: str, depth: int) -> list[NodeInfo]:
    """From the parent upwards, until a node that the viewer may not see."""
    rows = reader.rows(
        """WITH RECURSIVE up (pk, parent, level) AS (
               SELECT pk, parent, 0 FROM nodes WHERE workspace = %(ws)s AND id = %(node)s AND acl = {visible}
               UNION ALL
               SELECT n.pk, n.parent, up.level + 1 FROM up JOIN nodes n ON n.workspace = %(ws)s AND n.pk = up.parent
               WHERE n.acl = {visible} AND up.level < %(depth)s
           ) SELECT {info} FROM up JOIN nodes n ON n.workspace = %(ws)s AND n.pk = up.pk
             WHERE up.level > 0 ORDER BY up.level""",
        node=node,
        depth=min(depth, MAX_DEPTH),
    )
    return [node_info(row) for row in rows]


def siblings(reader: Reader, node: str, count: int) -> list[NodeInfo]:
    """The nearest siblings: those before, then those after, each from the nearest."""
    before, after = reader.together(
        _SIBLINGS.format(comparison="<", order="DESC"),
        _SIBLINGS.format(comparison=">", order="ASC"),
        node=node,
        count=count,
    )
    return [node_info(row) for row in (*before, *after)]


_SIBLINGS = """SELECT {{info}} FROM nodes f
    JOIN nodes up ON up.workspace = %(ws)s AND up.pk = f.parent AND up.acl = {{visible}}
    JOIN nodes n ON n.workspace = %(ws)s AND n.parent = f.parent
        AND (n.position, n.pk) {comparison} (f.position, f.pk)
    WHERE f.workspace = %(ws)s AND f.id = %(node)s AND f.acl = {{visible}} AND n.acl = {{visible}}
    ORDER BY n.position {order}, n.pk {order} LIMIT %(count)s"""


def adjacent(reader: Reader, keys: Sequence[int], count: int) -> dict[int, list[tuple[int, int]]]:
    """Passages before and after each passage: of the same node, or of the siblings of a node with one passage."""
    found: dict[int, list[tuple[int, int]]] = {}
    for key, other, offset in reader.rows(
        """SELECT p.key, q.key, q.ordinal - p.ordinal FROM passages p
           JOIN passages q ON q.workspace = %(ws)s AND q.node = p.node
               AND q.ordinal BETWEEN p.ordinal - %(count)s AND p.ordinal + %(count)s AND q.key <> p.key
           WHERE p.workspace = %(ws)s AND p.key = ANY (%(keys)s::bigint[]) AND p.acl = {visible} AND q.acl = {visible}
           ORDER BY p.key, q.ordinal""",
        keys=list(keys),
        count=count,
    ):
        found.setdefault(key, []).append((offset, other))
    before, after = reader.together(
        _ADJACENT.format(comparison="<", order="DESC"),
        _ADJACENT.format(comparison=">", order="ASC"),
        keys=[key for key in keys if key not in found],
        count=count,
    )
    for way, rows in ((-1, before), (1, after)):
        steps: Counter[int] = Counter()
        for key, other in rows:
            steps[key] += way
            found.setdefault(key, []).append((steps[key], other))
    return found


_ADJACENT = """SELECT p.key, q.key FROM passages p
    JOIN nodes f ON f.workspace = %(ws)s AND f.pk = p.node AND f.acl = {{visible}}
    JOIN nodes up ON up.workspace = %(ws)s AND up.pk = f.parent AND up.acl = {{visible}}
    CROSS JOIN LATERAL (
        SELECT s.pk, s.position FROM nodes s
        WHERE s.workspace = %(ws)s AND s.parent = f.parent AND s.acl = {{visible}}
          AND (s.position, s.pk) {comparison} (f.position, f.pk)
        ORDER BY s.position {order}, s.pk {order} LIMIT %(count)s
    ) n
    JOIN passages q ON q.workspace = %(ws)s AND q.node = n.pk AND q.ordinal = 0
    WHERE p.workspace = %(ws)s AND p.key = ANY (%(keys)s::bigint[])
    ORDER BY p.key, n.position {order}, n.pk {order}"""


def children(reader: Reader, node: str, limit: int, *, last: bool) -> list[NodeInfo]:
    """The first visible children in their order, or the last ones in the same order."""
    order = "DESC" if last else "ASC"
    rows = reader.rows(
        f"""SELECT {{info}} FROM nodes f JOIN nodes n ON n.workspace = %(ws)s AND n.parent = f.pk
            WHERE f.workspace = %(ws)s AND f.id = %(node)s AND f.acl = {{visible}} AND n.acl = {{visible}}
            ORDER BY n.position {order}, n.pk {order} LIMIT %(limit)s""",
        node=node,
        limit=limit,
    )
    found = [node_info(row) for row in rows]
    return found[::-1] if last else found


TRAILS = """WITH RECURSIVE up (start, pk, parent, title, level) AS (
        SELECT n.pk, p.pk, p.parent, p.title, 1 FROM nodes n
        JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent AND p.acl = {visible}
        WHERE n.workspace = %(ws)s AND n.pk IN (
            SELECT s.node FROM passages s WHERE s.workspace = %(ws)s AND s.key = ANY (%(keys)s::bigint[]))
        UNION ALL
        SELECT up.start, p.pk, p.parent, p.title, up.level + 1 FROM up
        JOIN nodes p ON p.workspace = %(ws)s AND p.pk = up.parent
        WHERE p.acl = {visible} AND up.level < %(highest)s
    ) SELECT start, title FROM up ORDER BY start, level"""
HIGHEST = 8


def trails(rows: Iterable[tuple[Any, ...]]) -> dict[int, tuple[str, ...]]:
    """Titles of the visible ancestors of the nodes of some passages, the nearest first."""
    found: dict[int, tuple[str, ...]] = {}
    for start, title in rows:
        found[start] = (*found.get(start, ()), title)
    return found


def tree_distance(reader: Reader, node: str, others: Sequence[str]) -> dict[str, int]:
    """Hops through the nearest common ancestor that can be reached without passing a hidden node."""
    rows = reader.rows(
        """WITH RECURSIVE up (start, pk, parent, level) AS (
               SELECT id, pk, parent, 0 FROM nodes
               WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[]) AND acl = {visible}
               UNION ALL
               SELECT up.start, n.pk, n.parent, up.level + 1 FROM up
               JOIN nodes n ON n.workspace = %(ws)s AND n.pk = up.parent
               WHERE n.acl = {visible} AND up.level < %(depth)s
           ) SELECT start, pk, level FROM up""",
        names=sorted({node, *others}),
        depth=MAX_DEPTH,
    )
    return hops_between(node, others, rows)
