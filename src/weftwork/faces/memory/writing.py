"""Writing memories: remember, revise, relate, contradict and forget, each in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Literal, TypedDict, Unpack

from weftwork.clock import aware
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput
from weftwork.faces.memory.types import CONTRADICTS, MEMORY, SUPERSEDES, Memory
from weftwork.identity import node_id
from weftwork.types import Edge, Filters, Node
from weftwork.write.permit import Kind, Permit, own_list, permitted
from weftwork.write.prepare import check_node

TREE = frozenset({"child", "parent"})
"""Names of edges that stand for places in the tree."""
LISTED = 100
KIND = Kind("memory", "list yours with  weftwork memories", lambda node: MEMORY in node.tags)


class Details(TypedDict, total=False):
    """Optional details of a memory beside its text."""

    type: str
    confidence: float | None
    tags: Iterable[str]
    conversation: str | None
    valid_from: datetime | None
    """Start of its validity; now if nothing is said."""
    valid_until: datetime | None
    access: Iterable[str] | None
    """The principals that may see it beside its writer: names, "group:team", or "*" for the whole workspace."""
    contradicts: Iterable[str]
    """Ids of memories that it contradicts."""


class Memories:
    """The memories of a store.

    A memory is private to its writer until they share it, and only they may change it.
    """

    def __init__(self, weft: Weft) -> None:
        self._weft = weft

    def remember(
        self,
        text: str,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        **details: Unpack[Details],
    ) -> Memory:
        """Write a memory; private to its writer unless `access` says otherwise."""
        against = _names(details.get("contradicts", ()), "contradicts")
        (entry,) = self._weft.writer.prepare([self._node(text, user, details)])
        with self._permitted(workspace, user) as permit:  # what is refused is not embedded
            permit.visible(against)
        with (
            self._weft.writer.transaction(workspace, [entry]) as transaction,
            self._permitted(workspace, user) as permit,
        ):
            permit.visible(against)
            transaction.batch.put([entry])
            transaction.batch.link(_contradictions(entry.node, against))
        return Memory.from_node(entry.node, entry.node.text)

    def revise(
        self,
        old: str,
        text: str,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        **details: Unpack[Details],
    ) -> Memory:
        """Write a memory that takes the place of an older one, which ends where the new one begins.

        Details that are not given are inherited.
        """
        against = _names(details.get("contradicts", ()), "contradicts")
        with self._permitted(workspace, user) as permit:
            (previous,) = permit.changeable([old])
            now = self._weft.now()
            (entry,) = self._weft.writer.prepare([self._node(text, user, _inherited(previous, details, now))])
            _check_revision(permit, previous, entry.node, against)
        with (
            self._weft.writer.transaction(workspace, [entry]) as transaction,
            self._permitted(workspace, user) as permit,
        ):
            (previous,) = permit.changeable([old])
            node = entry.node
            _check_revision(permit, previous, node, against)
            if "access" not in details:
                node = replace(node, access=own_list(previous), parent=previous.parent, position=previous.position)
            transaction.batch.set_validity(old, previous.valid_from, _end_before(previous, node.valid_from))
            transaction.batch.put([replace(entry, node=node)])
            supersedes = Edge(source=node.id, target=old, type=SUPERSEDES)
            transaction.batch.link([*_contradictions(node, against), supersedes])
        return Memory.from_node(node, node.text)

    def relate(
        self,
        source: str,
        target: str,
        type: str = "related",
        *,
        label: str = "",
        weight: float = 1.0,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> Edge:
        """Link a memory of the user's to another memory, or to any node visible to them."""
        if not isinstance(type, str) or not type or type in TREE or type == SUPERSEDES:
            raise InvalidInput(f"a relationship cannot be of type {type!r}: name another, or use revise to supersede")
        if source == target:
            raise InvalidInput(f"memory {source!r} cannot be related to itself: name another one")
        edge = Edge(source=source, target=target, type=type, label=label, weight=weight)
        with self._weft.atomic(workspace) as batch, self._permitted(workspace, user) as permit:
            permit.changeable([source])
            permit.visible([target])
            batch.link([edge])
        return edge

    def contradict(self, one: str, other: str, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> Edge:
        """Mark two memories as contradicting; the first must be the user's."""
        return self.relate(one, other, CONTRADICTS, user=user, workspace=workspace)

    def forget(self, *ids: str, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> int:
        """Remove memories for good, all of them or none, and count them; their children stay."""
        with self._weft.atomic(workspace) as batch, self._permitted(workspace, user) as permit:
            return permit.remove(batch, permit.changeable(list(dict.fromkeys(ids))), below=False)

    def own(self, *ids: str, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> tuple[Memory, ...]:
        """These memories, if the user may change them."""
        with self._permitted(workspace, user) as permit:
            return tuple(Memory.from_node(node, node.text) for node in permit.changeable(ids))

    def list(
        self,
        *,
        filters: Filters | None = None,
        every: bool = False,
        limit: int = LISTED,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> tuple[Memory, ...]:
        """The user's memories, the latest first; `every` brings those that are not valid now as well."""
        if not isinstance(limit, int) or limit < 1:
            raise InvalidInput(f"limit must be a whole number of at least 1, got {limit!r}")
        filters = filters or Filters()
        as_of = filters.as_of or (None if every else self._weft.now())
        filters = replace(filters, tags=filters.tags | {MEMORY}, as_of=as_of)
        with self._weft.store.view(workspace, user) as view:
            nodes = view.nodes([info.id for info in view.select(filters, limit=limit)])
        return tuple(Memory.from_node(node, node.text) for node in nodes)

    def _node(self, text: str, user: str, details: Details) -> Node:
        """A memory as a node, checked before anything is locked or embedded."""
        for name in details.keys() - Details.__annotations__.keys():
            raise TypeError(f"a memory has no {name!r}: use {', '.join(Details.__annotations__)}")
        if not isinstance(text, str) or not text.strip():
            raise InvalidInput(f"a memory needs a text, got {text!r}")
        now, kind = self._weft.now(), details.get("type", "fact")
        start, end = _moment(details, "valid_from"), _moment(details, "valid_until")
        if start is None and end is not None and end <= now:
            raise InvalidInput(f"valid_until is over ({end:%Y-%m-%d}): say with valid_from since when it held")
        conversation = details.get("conversation")
        if not isinstance(conversation, str | None):
            raise InvalidInput(f"conversation must be text, got {conversation!r}")
        node = Node(
            id=node_id(MEMORY, user, "\0".join((now.isoformat(), str(kind), conversation or "", text))),
            type=kind,
            text=text,
            tags=tuple(dict.fromkeys((MEMORY, *_names(details.get("tags", ()), "tags")))),
            confidence=details.get("confidence"),
            conversation=conversation,
            created_at=now,
            updated_at=now,
            valid_from=now if start is None else start,
            valid_until=end,
            owner=user,
            access=frozenset(_names(details.get("access") or (), "access")),
        )
        check_node(node)
        return node

    def _permitted(self, workspace: str, user: str) -> AbstractContextManager[Permit]:
        return permitted(self._weft.store, workspace, user, KIND)


def _names(values: Iterable[str], what: str) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{what} must be several texts, got {values!r}: put it into a list")
    return tuple(values)


def _moment(details: Details, name: Literal["valid_from", "valid_until"]) -> datetime | None:
    value = details.get(name)
    if value is not None and not isinstance(value, datetime):
        raise InvalidInput(f"{name} must be None or a time, got {value!r}")
    return None if value is None else aware(value)


def _contradictions(node: Node, against: Iterable[str]) -> list[Edge]:
    return [Edge(source=node.id, target=other, type=CONTRADICTS) for other in against]


def _check_revision(permit: Permit, old: Node, node: Node, against: Sequence[str]) -> None:
    """Refuse to revise a memory that ended, was revised or is equal, or to contradict a hidden one."""
    permit.visible(against)
    if node.id == old.id:
        raise InvalidInput(f"memory {old.id!r} says this already: give it another text")
    if old.valid_until is not None and node.valid_from is not None and old.valid_until <= node.valid_from:
        raise InvalidInput(f"memory {old.id!r} ended on {old.valid_until:%Y-%m-%d %H:%M}: revise its successor")
    for _, successor in permit.view.neighbours(old.id, types=(SUPERSEDES,), direction="in", limit=1):
        raise InvalidInput(f"memory {old.id!r} is superseded by {successor.id!r}: revise its successor")


def _inherited(old: Node, details: Details, now: datetime) -> Details:
    """The details of a revision: those not given are inherited, except the start."""
    start = _moment(details, "valid_from") or now
    before = Details(
        type=old.type,
        confidence=old.confidence,
        tags=old.tags,
        conversation=old.conversation,
        valid_until=old.valid_until if old.valid_until is not None and old.valid_until > start else None,
    )
    return {**before, **details}


def _end_before(old: Node, moment: datetime | None) -> datetime | None:
    """The end of a memory that another one follows at a moment: never before its own start."""
    return max((bound for bound in (moment, old.valid_from) if bound is not None), default=None)
