"""The assignment of partitions to servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from weftwork.errors import InvalidInput

HERE = ""
"""The coordinator itself, which has all partitions before there is a cluster."""


def spread(parts: Mapping[int, str], names: Iterable[str]) -> dict[int, str]:
    """A balanced assignment of the partitions, with as few moves as possible."""
    nodes = sorted(set(names))
    if not nodes:
        raise InvalidInput("a cluster needs at least one server: name it with  --node NAME=ADDRESS")
    if len(nodes) > len(parts):
        raise InvalidInput(
            f"{len(nodes)} servers cannot share {len(parts)} parts: "
            "a database gets as many as weftwork_partitions in its address said when it was set up"
        )
    held = Counter(parts.values())
    share, more = divmod(len(parts), len(nodes))
    fullest = sorted(nodes, key=lambda name: (-held[name], name))
    room = {name: share + (rank < more) for rank, name in enumerate(fullest)}
    assigned: dict[int, str] = {}
    for part, node in sorted(parts.items()):
        if room.get(node, 0):
            assigned[part] = node
            room[node] -= 1
    for part in sorted(parts.keys() - assigned.keys()):
        assigned[part] = min(room, key=lambda name: (-room[name], name))
        room[assigned[part]] -= 1
    return dict(sorted(assigned.items()))


def moves(parts: Mapping[int, str], target: Mapping[int, str]) -> dict[int, tuple[str, str]]:
    """The partitions that change servers: from where, to where."""
    return {part: (parts[part], node) for part, node in target.items() if parts[part] != node}
