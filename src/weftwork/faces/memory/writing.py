"""Writing memories: remember, revise, relate, contradict and forget, each in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, TypedDict, Unpack

from weftwork.clock import aware
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.faces.memory.types import CONTRADICTS, MEMORY, SUPERSEDES, Memory
from weftwork.identity import citation_id
from weftwork.store.protocol import Batch, View
from weftwork.text.split import check_node, embedded_text, prepare
from weftwork.types import Edge, Filters, Node

TREE = frozenset({"child", "parent"})
"""Names of edges that stand for places in the tree."""
LISTED = 100


class Details(TypedDict, total=False):
    """What may be said about a memory beside its text."""

    type: str
    confidence: float | None
    tags: Iterable[str]
    conversation: str | None
    valid_from: datetime | None
    """Since when it holds; now if nothing is said."""
    valid_until: datetime | None
    access: Iterable[str] | None
    """Who may see it beside its writer: names, "group:team", or "*" for the whole workspace."""
    contradicts: Iterable[str]
    """Ids of memories that it contradicts."""


class Memories:
    """The memories of a store. A memory is its writer's own until they share it, and only they may change it."""

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
        node = self._node(text, user, details)
        against = _names(details.get("contradicts", ()), "contradicts")
        self._warm(node)
        with self._weft.atomic(workspace), self._weft.store.view(workspace, user) as view:
            _visible(view, against)
            edges = [Edge(source=node.id, target=other, type=CONTRADICTS) for other in against]
            self._weft.add([node], edges, workspace=workspace)
        return Memory.from_node(node, node.text)

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

        What is not said about the new one is taken from the old one.
        """
        with self._weft.store.view(workspace, user) as view:
            kept = _own(view, old)
        node = self._node(text, user, _inherited(kept, details, self._weft.now()))
        if node.id == old:
            raise InvalidInput(f"memory {old!r} says this already: give it another text")
        self._warm(node)
        against = _names(details.get("contradicts", ()), "contradicts")
        with self._weft.atomic(workspace) as batch, self._weft.store.view(workspace, user) as view:
            kept = _own(view, old)
            _visible(view, against)
            if kept.valid_until is not None and node.valid_from is not None and kept.valid_until <= node.valid_from:
                raise InvalidInput(f"memory {old!r} ended on {kept.valid_until:%Y-%m-%d %H:%M}: revise its successor")
            for _, successor in view.neighbours(old, types=(SUPERSEDES,), direction="in", limit=1):
                raise InvalidInput(f"memory {old!r} is superseded by {successor.id!r}: revise its successor")
            edges = [Edge(source=node.id, target=other, type=CONTRADICTS) for other in against]
            edges.append(Edge(source=node.id, target=old, type=SUPERSEDES))
            if "access" not in details:
                node = replace(node, access=_shared_as(kept), parent=kept.parent, position=kept.position)
            batch.set_validity(old, kept.valid_from, _end(kept, node.valid_from))
            self._weft.add([node], edges, workspace=workspace)
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
        """Link a memory of one's own to another memory, or to any node that one may see."""
        if not isinstance(type, str) or not type or type in TREE or type == SUPERSEDES:
            raise InvalidInput(f"a relationship cannot be of type {type!r}: name another, or use revise to supersede")
        if source == target:
            raise InvalidInput(f"memory {source!r} cannot be related to itself: name another one")
        edge = Edge(source=source, target=target, type=type, label=label, weight=weight)
        with self._weft.atomic(workspace) as batch, self._weft.store.view(workspace, user) as view:
            _own(view, source)
            _visible(view, [target])
            batch.link([edge])
        return edge

    def contradict(self, one: str, other: str, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> Edge:
        """Mark two memories as saying opposite things; the first must be one's own."""
        return self.relate(one, other, CONTRADICTS, user=user, workspace=workspace)

    def forget(self, *ids: str, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> int:
        """Remove memories for good, all of them or none, and count them; what hangs below them stays."""
        with self._weft.atomic(workspace) as batch, self._weft.store.view(workspace, user) as view:
            doomed = {name: _own(view, name) for name in ids}
            for name in doomed:
                children = self._weft.store.unchecked_children(workspace, name) - doomed.keys()
                _lift(batch, view, sorted(children), name, doomed)
            batch.remove(doomed)
        return len(doomed)

    def own(self, *ids: str, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> tuple[Memory, ...]:
        """These memories, if the user may change them."""
        with self._weft.store.view(workspace, user) as view:
            return tuple(Memory.from_node(node, node.text) for node in (_own(view, name) for name in ids))

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
        wanted = filters or Filters()
        as_of = wanted.as_of or (None if every else self._weft.now())
        wanted = replace(wanted, tags=wanted.tags | {MEMORY}, as_of=as_of)
        with self._weft.store.view(workspace, user) as view:
            found = view.nodes([info.id for info in view.select(wanted, limit=limit)])
        return tuple(Memory.from_node(node, node.text) for node in found)

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
            id=citation_id(MEMORY, user, "\0".join((now.isoformat(), str(kind), conversation or "", text))),
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

    def _warm(self, node: Node) -> None:
        """Embed before the store is locked: a provider may take its time."""
        embedder = self._weft.tools.embedder
        if embedder is not None:
            entry = prepare(node, self._weft.tools.counter)
            embedder.embed_batch([embedded_text(entry.node.title, passage) for passage in entry.passages])


def _names(values: Iterable[str], what: str) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{what} must be several texts, got {values!r}: put it into a list")
    return tuple(values)


def _moment(details: Details, name: Literal["valid_from", "valid_until"]) -> datetime | None:
    value = details.get(name)
    if value is not None and not isinstance(value, datetime):
        raise InvalidInput(f"{name} must be None or a time, got {value!r}")
    return None if value is None else aware(value)


def _own(view: View, name: str) -> Node:
    """A memory that this user may change; one that is hidden is reported like one that does not exist."""
    found = [node for node in view.nodes([name]) if MEMORY in node.tags]
    if not found:
        raise NotFound(f"there is no memory {name!r} in this workspace: list them with  weftwork memories")
    if found[0].owner not in (None, view.user):
        raise InvalidInput(f"memory {name!r} belongs to {found[0].owner}: only they may change it")
    return found[0]


def _visible(view: View, names: Sequence[str]) -> None:
    seen = {node.id for node in view.nodes(names)}
    for name in names:
        if name not in seen:
            raise NotFound(f"there is no memory {name!r} in this workspace: list them with  weftwork memories")


def _lift(batch: Batch, view: View, children: Sequence[str], name: str, doomed: Mapping[str, Node]) -> None:
    """Hang what is below a memory that goes where the memory hung, seen by nobody who did not see it before."""
    parent: str | None = name
    access = None
    while parent is not None and parent in doomed:
        above = doomed[parent]
        listed = _shared_as(above)
        if access is None and listed is not None:
            access = listed | ({above.owner} if above.owner else set())
        parent = above.parent
    # What is hidden from one who sees the memory has a list of its own: it inherits nothing.
    heirs = {node.id for node in view.nodes(children) if node.access is None}
    for child in children:
        batch.move(child, parent)
        if access is not None and child in heirs:
            batch.set_access(child, access)


def _inherited(old: Node, details: Details, now: datetime) -> Details:
    """The details of a revision: what is not said is as it was, but for the beginning."""
    start = _moment(details, "valid_from") or now
    before = Details(
        type=old.type,
        confidence=old.confidence,
        tags=old.tags,
        conversation=old.conversation,
        valid_until=old.valid_until if old.valid_until is not None and old.valid_until > start else None,
    )
    return {**before, **details}


def _shared_as(old: Node) -> frozenset[str] | None:
    """The list of a memory that takes this one's place, wide enough for nobody who could not see this one."""
    inherits = old.access is None and (old.parent is not None or old.owner is None)
    # An owner may see their own under a parent that is hidden from them: what it inherits cannot be told then.
    return None if inherits else old.access or frozenset()


def _end(old: Node, moment: datetime | None) -> datetime | None:
    """Where a memory ends that another one follows at a moment: never before its own beginning."""
    return max((each for each in (moment, old.valid_from) if each is not None), default=None)
