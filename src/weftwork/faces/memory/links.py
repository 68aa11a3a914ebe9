"""Links between memories: versions of one, and contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from weftwork.errors import InvalidInput
from weftwork.faces.memory.types import CONTRADICTS, SUPERSEDES, Conflict
from weftwork.store.protocol import View
from weftwork.types import Edge, Node
from weftwork.write.permit import Permit


def version_chain(view: View, name: str, direction: Literal["in", "out"]) -> list[str]:
    """The earlier versions of a memory, or with "in" the later ones, the nearest first."""
    names: list[str] = []
    while neighbours := view.neighbours(name, types=(SUPERSEDES,), direction=direction, limit=1):
        name = neighbours[0][1].id
        if name in names:
            break
        names.append(name)
    return names


def contradictions(node: Node, against: Iterable[str]) -> list[Edge]:
    """Links to the memories that one was said to contradict."""
    return [Edge(source=node.id, target=other, type=CONTRADICTS) for other in against]


def likely_contradictions(node: Node, conflicts: Iterable[Conflict], declared: Iterable[str]) -> list[Edge]:
    """Links to the memories that a new one probably contradicts, labelled with the reason."""
    known = {node.id, *declared}
    return [
        Edge(source=node.id, target=conflict.memory.id, type=CONTRADICTS, label=f"likely: {conflict.reason}")
        for conflict in conflicts
        if conflict.kind == "contradiction" and conflict.memory.id not in known
    ]


def check_revision(permit: Permit, old: Node, node: Node, against: Sequence[str]) -> None:
    """Refuse to revise a memory that ended, was revised or is equal, or to contradict a hidden one."""
    permit.visible(against)
    if node.id == old.id:
        raise InvalidInput(f"memory {old.id!r} says this already: give it another text")
    if old.valid_until is not None and node.valid_from is not None and old.valid_until <= node.valid_from:
        raise InvalidInput(f"memory {old.id!r} ended on {old.valid_until:%Y-%m-%d %H:%M}: revise its successor")
    for _, successor in permit.view.neighbours(old.id, types=(SUPERSEDES,), direction="in", limit=1):
        raise InvalidInput(f"memory {old.id!r} is superseded by {successor.id!r}: revise its successor")


def end_before(old: Node, moment: datetime | None) -> datetime | None:
    """The end of a memory that another one follows at a moment: never before its own start."""
    return max((bound for bound in (moment, old.valid_from) if bound is not None), default=None)
