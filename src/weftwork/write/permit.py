"""The rules of who may change what, and the wording of each refusal.

| | seen, the user's own or nobody's | seen, another's | hidden or absent |
|---|---|---|---|
| change, move, remove, link from | yes | NotPermitted | NotFound |
| link to, hang something below | yes | yes | NotFound |
| say who may see it | their own only, else NotPermitted | NotPermitted | NotFound |
| create | | | ids that begin with the user's name and a slash; else NotFound |

A hidden node and an absent one get the same answer, down to the bytes. For that reason a new node takes an id in its
user's own namespace: the refusal of a free id would tell that somebody has it.

A decision binds within the transaction that writes. Made before it as well, it refuses before anything is embedded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from urllib.parse import quote

from weftwork.errors import NotFound, NotPermitted
from weftwork.store.files import FILE_FIELDS
from weftwork.store.protocol import Batch, Store, View
from weftwork.types import Edge, Entry, Node


@dataclass(frozen=True, slots=True)
class Kind:
    """The nodes that a surface changes: their name, the remedy in refusals, and a predicate."""

    name: str
    remedy: str
    includes: Callable[[Node], bool] = lambda _: True

    def missing(self, name: str) -> NotFound:
        """The error for a node that does not exist, and for one that is hidden."""
        return NotFound(f"there is no {self.name} {name!r} that you may see: {self.remedy}")


def namespace(user: str) -> str:
    """The prefix of the ids of a user's new nodes; no user's is a prefix of another's."""
    return quote(user, safe="") + "/"


def own_list(node: Node) -> frozenset[str] | None:
    """The ACL that a node has itself; None if it inherits one.

    Owners see their own nodes below a parent that is hidden from them: the inherited list is unknown then.
    """
    inherits = node.access is None and (node.parent is not None or node.owner is None)
    return None if inherits else node.access or frozenset()


@contextmanager
def permitted(store: Store, workspace: str, user: str, kind: Kind, *, admin: bool = False) -> Iterator[Permit]:
    """Decide by a snapshot of a workspace as a user sees it."""
    with store.view(workspace, user) as view:
        yield Permit(store, view, kind, admin)


@dataclass(frozen=True, slots=True)
class Permit:
    """The rights of one user, as one snapshot of a workspace shows them."""

    store: Store
    view: View
    kind: Kind
    admin: bool = False
    """An administrator changes whatever the workspace holds, also what they cannot see."""

    def visible(self, names: Sequence[str]) -> list[Node]:
        """Return these nodes, of whichever kind; refuse if one is hidden or absent."""
        nodes = self.view.nodes(names)
        present = {node.id for node in nodes} | (self._existing(names) if self.admin else set())
        for name in names:
            if name not in present:
                raise self.kind.missing(name)
        return nodes

    def changeable(self, names: Sequence[str]) -> list[Node]:
        """Return these nodes, all of the kind; refuse if one is hidden, absent or another user's."""
        nodes = self.visible(names)
        for node in nodes:
            if not self.kind.includes(node):
                raise self.kind.missing(node.id)
            self._refuse_another_owner(node)
        return nodes

    def replaceable(self, name: str) -> Node | None:
        """Return the user's own node with this id, None if it is free; refuse if it is taken otherwise."""
        nodes = self.view.nodes([name])
        if [node.owner for node in nodes] != [self.view.user] and self._existing([name]):
            raise NotPermitted(f"there is a {self.kind.name} {name!r} already that is not yours: rename yours")
        return nodes[0] if nodes else None

    def refuse_sharing(self, name: str) -> None:
        """Refuse unless the user may say who sees a node."""
        for node in self.changeable([name]):
            if not self.admin and node.owner != self.view.user:
                raise self._not_for_sharing(node)

    def writable(
        self, entries: Sequence[Entry], edges: Sequence[Edge], *, in_place: bool, keep_access: bool
    ) -> tuple[list[Entry], list[Entry]]:
        """Return the entries as the user may write them: those to rewrite in place, and those to put.

        Refuse if one of them, or one of the edges, is not for the user to write.
        """
        ids = {entry.node.id for entry in entries}
        if in_place:
            self.changeable(sorted(ids))
        stored = {node.id: node for node in self.view.nodes(sorted(ids))}
        rewritten: list[Entry] = []
        placed: list[Entry] = []
        for entry in entries:
            old = stored.get(entry.node.id)
            _refuse_files(entry.node, old)
            node = entry.node if in_place else self._owned(entry.node, old, keep_access)
            stays = in_place or (old is not None and _is_where(node, old))
            (rewritten if stays else placed).append(replace(entry, node=node))
        self.visible(sorted({entry.node.parent for entry in placed if entry.node.parent is not None} - ids))
        self.refuse_edges(edges, ids)
        return rewritten, placed

    def refuse_edges(self, edges: Sequence[Edge], written: Set[str] = frozenset()) -> None:
        """Refuse edges from nodes that the user may not change, or to hidden ones; skip ids in `written`."""
        self.visible(sorted({edge.target for edge in edges} - written))
        self.changeable(sorted({edge.source for edge in edges} - written))

    def remove(self, batch: Batch, nodes: Sequence[Node], *, below: bool) -> int:
        """Remove nodes, with all descendants that the user sees if `below`, and return their number.

        Orphans are reparented to the nearest node that stays, without widening their access.
        """
        removed: dict[str, Node] = {}
        parents: dict[str, str] = {}
        while nodes:
            children: dict[str, str] = {}
            for node in nodes:
                self._refuse_another_owner(node)
                removed[node.id] = node
                children |= dict.fromkeys(sorted(self.store.unchecked_children(self.view.workspace, node.id)), node.id)
            parents |= children
            nodes = self.view.nodes(list(children)) if below else ()
        orphans = [name for name in parents if name not in removed]
        # What is hidden from one who sees the node above it has a list of its own: it inherits nothing.
        heirs = {node.id for node in self.view.nodes(orphans) if node.access is None}
        for name in orphans:
            parent, access = _left_to(parents[name], removed)
            batch.move(name, parent)
            if access is not None and name in heirs:
                batch.set_access(name, access)
        batch.remove(removed)
        return len(removed)

    def _owned(self, node: Node, old: Node | None, keep_access: bool) -> Node:
        """The node with its resulting owner and ACL."""
        if node.owner not in (None, self.view.user, old and old.owner):
            raise NotPermitted(f"node {node.id!r} names the owner {node.owner!r}: leave it out, or use an admin key")
        if old is None:
            start = namespace(self.view.user)
            if not node.id.startswith(start) or self._existing([node.id]):
                remedy = f"ids of new ones begin with {start!r}, or are left out"
                raise replace(self.kind, remedy=remedy).missing(node.id)
            return replace(node, owner=self.view.user)
        self._refuse_another_owner(old)
        access = old.access if keep_access and node.access is None else node.access
        if old.owner is None and (access != old.access or node.owner is not None):
            raise self._not_for_sharing(old)
        return replace(node, owner=old.owner, access=access)

    def _refuse_another_owner(self, node: Node) -> None:
        if not self.admin and node.owner not in (None, self.view.user):
            raise NotPermitted(
                f"{self.kind.name} {node.id!r} belongs to {node.owner!r}: only they, or an admin key, may change it"
            )

    def _not_for_sharing(self, node: Node) -> NotPermitted:
        return NotPermitted(
            f"who may see {self.kind.name} {node.id!r} is for its owner or an admin key to say: use keep_access"
        )

    def _existing(self, names: Sequence[str]) -> set[str]:
        return self.store.unchecked_nodes(self.view.workspace, names)


def _refuse_files(node: Node, old: Node | None) -> None:
    """Refuse fields that name other files than before: a page shows the files that it names."""
    for field in FILE_FIELDS:
        named = node.fields.get(field)
        if named is not None and named != (old and old.fields.get(field)):
            raise NotPermitted(
                f"the field {field!r} of node {node.id!r} is for uploads and admin keys to set: leave it out"
            )


def _is_where(node: Node, old: Node) -> bool:
    """Return True if parent, position, owner and ACL stay, even where the user cannot see them."""
    return (node.parent, node.position, node.owner, node.access) == (old.parent, old.position, old.owner, old.access)


def _left_to(parent: str | None, removed: Mapping[str, Node]) -> tuple[str | None, frozenset[str] | None]:
    """The nearest ancestor that stays, and the readers inherited from those that go."""
    access = None
    while parent is not None and parent in removed:
        node = removed[parent]
        readers = own_list(node)
        if access is None and readers is not None:
            access = readers | ({node.owner} if node.owner else set())
        parent = node.parent
    return parent, access
