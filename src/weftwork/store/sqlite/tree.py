"""Reading the tree: ancestors, siblings, children, distances. No step leads through a hidden node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weftwork.store.rules import hops_between
from weftwork.store.sqlite.codec import ids, node_info
from weftwork.store.sqlite.scope import Reader
from weftwork.types import NodeInfo

MAX_DEPTH = 64
"""How far up a chain of ancestors is followed: deeper trees are cut, never looped over."""


def ancestors(reader: Reader, node: str, depth: int) -> list[NodeInfo]:
    """From the parent upwards, until a node that the viewer may not see."""
    rows = reader.rows(
        """WITH RECURSIVE up (pk, parent, level) AS (
               SELECT pk, parent, 0 FROM nodes WHERE workspace = :ws AND id = :node AND acl IN {visible}
               UNION ALL
               SELECT n.pk, n.parent, up.level + 1 FROM up CROSS JOIN nodes n ON n.pk = up.parent
               WHERE n.acl IN {visible} AND up.level < :depth
           ) SELECT {info} FROM up CROSS JOIN nodes n ON n.pk = up.pk WHERE up.level > 0 ORDER BY up.level""",
        node=node,
        depth=min(depth, MAX_DEPTH),
    )
    return [node_info(row) for row in rows]


def siblings(reader: Reader, node: str, count: int) -> list[NodeInfo]:
    """The nearest siblings: those before, then those after, each from the nearest."""
    found: list[NodeInfo] = []
    for comparison, order in (("<", "DESC"), (">", "ASC")):
        rows = reader.rows(
            f"""SELECT {{info}} FROM nodes f
                CROSS JOIN nodes up ON up.pk = f.parent AND up.acl IN {{visible}}
                CROSS JOIN nodes n ON n.parent = f.parent AND (n.position, n.pk) {comparison} (f.position, f.pk)
                WHERE f.workspace = :ws AND f.id = :node AND f.acl IN {{visible}} AND n.acl IN {{visible}}
                ORDER BY n.position {order}, n.pk {order} LIMIT :count""",
            node=node,
            count=count,
        )
        found += [node_info(row) for row in rows]
    return found


def adjacent(reader: Reader, keys: Sequence[int], count: int) -> dict[int, list[tuple[int, int]]]:
    """Passages before and after each passage: of the same node, or of the siblings of a node with one passage."""
    found: dict[int, list[tuple[int, int]]] = {}
    for key, other, offset in reader.rows(
        """SELECT p.key, q.key, q.ordinal - p.ordinal FROM json_each(:keys) k
           CROSS JOIN passages p ON p.key = k.value CROSS JOIN nodes n ON n.pk = p.node AND n.acl IN {visible}
           CROSS JOIN passages q ON q.node = p.node
           WHERE q.ordinal BETWEEN p.ordinal - :count AND p.ordinal + :count AND q.key != p.key
           ORDER BY p.key, q.ordinal""",
        keys=ids(keys),
        count=count,
    ):
        found.setdefault(key, []).append((offset, other))
    single = [key for key in keys if key not in found]
    for comparison, order, way in (("<", "DESC", -1), (">", "ASC", 1)):
        steps: Counter[int] = Counter()
        for key, other in reader.rows(
            f"""SELECT p.key, q.key FROM json_each(:keys) k
                CROSS JOIN passages p ON p.key = k.value CROSS JOIN nodes f ON f.pk = p.node AND f.acl IN {{visible}}
                CROSS JOIN nodes up ON up.pk = f.parent AND up.acl IN {{visible}}
                CROSS JOIN nodes n ON n.pk IN (
                    SELECT s.pk FROM nodes s WHERE s.parent = f.parent AND s.acl IN {{visible}}
                        AND (s.position, s.pk) {comparison} (f.position, f.pk)
                    ORDER BY s.position {order}, s.pk {order} LIMIT :count)
                CROSS JOIN passages q ON q.node = n.pk AND q.ordinal = 0
                ORDER BY p.key, n.position {order}, n.pk {order}""",
            keys=ids(single),
            count=count,
        ):
            steps[key] += way
            found.setdefault(key, []).append((steps[key], other))
    return found


def children(reader: Reader, node: str, limit: int, *, last: bool) -> list[NodeInfo]:
    """The first visible children in their order, or the last ones in the same order."""
    order = "DESC" if last else "ASC"
    rows = reader.rows(
        f"""SELECT {{info}} FROM nodes f CROSS JOIN nodes n ON n.parent = f.pk
            WHERE f.workspace = :ws AND f.id = :node AND f.acl IN {{visible}} AND n.acl IN {{visible}}
            ORDER BY n.position {order}, n.pk {order} LIMIT :limit""",
        node=node,
        limit=limit,
    )
    found = [node_info(row) for row in rows]
    return found[::-1] if last else found


def trails(reader: Reader, nodes: Sequence[int], depth: int = 8) -> dict[int, tuple[str, ...]]:
    """Titles of the visible ancestors of each node, the nearest first."""
    rows = reader.rows(
        """WITH RECURSIVE up (start, pk, level) AS (
               SELECT n.pk, n.parent, 1 FROM nodes n WHERE n.pk IN (SELECT value FROM json_each(:nodes))
               UNION ALL
               SELECT up.start, n.parent, up.level + 1 FROM up CROSS JOIN nodes n ON n.pk = up.pk
               WHERE n.acl IN {visible} AND up.level < :depth
           ) SELECT up.start, n.title FROM up CROSS JOIN nodes n ON n.pk = up.pk
             WHERE n.acl IN {visible} ORDER BY up.start, up.level""",
        nodes=ids(nodes),
        depth=depth,
    )
    found: dict[int, tuple[str, ...]] = {}
    for start, title in rows:
        found[start] = (*found.get(start, ()), title)
    return found


def tree_distance(reader: Reader, node: str, others: Sequence[str]) -> dict[str, int]:
    """Hops through the nearest common ancestor that can be reached without passing a hidden node."""
    rows = reader.rows(
        """WITH RECURSIVE up (start, pk, parent, level) AS (
               SELECT id, pk, parent, 0 FROM nodes
               WHERE workspace = :ws AND id IN (SELECT value FROM json_each(:names)) AND acl IN {visible}
               UNION ALL
               SELECT up.start, n.pk, n.parent, up.level + 1 FROM up CROSS JOIN nodes n ON n.pk = up.parent
               WHERE n.acl IN {visible} AND up.level < :depth
           ) SELECT start, pk, level FROM up""",
        names=ids({node, *others}),
        depth=MAX_DEPTH,
    )
    return hops_between(node, others, rows)
