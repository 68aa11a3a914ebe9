"""The rules of who may change what, and the wording of each refusal.

| | seen, the user's own or nobody's | seen, another's | hidden or absent |
|---|---|---|---|
| change, move, remove, link from | yes | NotPermitted | NotFound |
| link to, hang something below | yes | yes | NotFound |
| cut an edge onto it, lift what hangs below it | their own only | NotPermitted | NotFound |
| say that it is superseded, add a document page or a system turn below it | their own only | NotPermitted | NotFound |
| say who may see it | their own only, else NotPermitted | NotPermitted | NotFound |
| create | | | ids that begin with the user's name and a slash; else NotFound |

A hidden node and an absent one get the same answer, down to the bytes. For that reason a new node takes an id in its
user's own namespace: the refusal of a free id would tell that somebody has it. Where a move would close a cycle through
what is hidden, the hidden part is left where the moved node stood: a refusal would tell of it.

What nobody owns is moved only if nobody sees more or less by it of what is not the mover's, and not below what somebody
owns: its owner would say from then on who may see it. What hangs below a node goes with it, whoever wrote it.

A decision binds within the transaction that writes. Made before it as well, it refuses before anything is embedded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from urllib.parse import quote

from weftwork.errors import InvalidInput, NotFound, NotPermitted
from weftwork.store.files import FILE_FIELDS
from weftwork.store.protocol import Batch, Store, View
from weftwork.types import PAGE, Edge, Entry, Node, NodeInfo

OWNERS_EDGES = frozenset({"supersedes"})
"""Types of edges that only the owner of their target may add."""
OWNERS_ROLES = frozenset({"system", "developer"})
"""Roles in a thread that only its owner may speak in."""
MOST_LEVELS = 100
"""Levels of a tree that are looked at for owners."""


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
        parents = self.visible(sorted({entry.node.parent for entry in placed if entry.node.parent is not None} - ids))
        owners = {node.id: node.owner for node in (*parents, *(entry.node for entry in (*rewritten, *placed)))}
        for entry in (*rewritten, *placed):
            self._refuse_speaking_for_others(entry.node, stored.get(entry.node.id), owners)
        self.refuse_edges(edges, ids)
        return rewritten, placed

    def place(self, batch: Batch, placed: Sequence[Entry]) -> int:
        """Put these entries, which are writable, and count the changed."""
        stored = {node.id: node for node in self.view.nodes([entry.node.id for entry in placed])}
        new = {entry.node.id for entry in placed} - stored.keys()
        for node in (entry.node for entry in placed):
            if node.id not in stored or node.parent == stored[node.id].parent:
                continue
            if node.parent not in new:
                self.move(batch, node.id, node.parent, node.position)
            elif stored[node.id].owner is None:
                raise self._not_below(stored[node.id], self.view.user)
        return batch.put(placed)

    def refuse_edges(self, edges: Sequence[Edge], written: Set[str] = frozenset()) -> None:
        """Refuse edges from nodes that the user may not change, or to hidden ones; skip ids in `written`."""
        self.visible(sorted({edge.target for edge in edges} - written))
        self.changeable(sorted({edge.source for edge in edges} - written))
        if self.admin:
            return
        own = {node.id for node in self.view.nodes(sorted({edge.target for edge in edges})) if self._is_own(node)}
        for edge in edges:
            if edge.type in OWNERS_EDGES and edge.target not in own | written:
                raise NotPermitted(
                    f"an edge {edge.type!r} onto {edge.target!r} is for its owner or an admin key: use another type"
                )
            if not 0 <= edge.weight <= 1:
                raise InvalidInput(
                    f"the edge from {edge.source!r} to {edge.target!r} has the weight {edge.weight!r}: "
                    "give a number from 0 to 1, or use an admin key"
                )

    def refuse_unlinking(self, edges: Sequence[Edge]) -> None:
        """Refuse edges unless the user may change where each begins, or owns where it ends."""
        targets = self.visible(sorted({edge.target for edge in edges}))
        self.visible(sorted({edge.source for edge in edges}))
        own = {node.id for node in targets if self._is_own(node)}
        self.changeable(sorted({edge.source for edge in edges if edge.target not in own}))

    def move(self, batch: Batch, name: str, parent: str | None, position: int) -> None:
        """Reparent a node with all below it, or lift what another hung below a node of the user's own."""
        nodes = self.visible([name])
        self.visible([] if parent is None else [parent])
        if self.admin:
            batch.move(name, parent, position)
            return
        (node,) = nodes
        (page,) = self.view.nodes([node.parent]) if node.parent is not None else (None,)
        if page is not None and self._is_own(page) and not self._is_own(node) and parent == page.parent:
            _lift(batch, name, page.id, {page.id: page}, inherits=node.access is None, position=position)
            return
        self.changeable([name])
        self._free_of_hidden(batch, node, parent)
        if node.owner is None:
            self._refuse_new_owners(node, parent)
        batch.move(name, parent, position)
        if node.owner is None:
            self._refuse_new_readers(batch, node)

    def remove(self, batch: Batch, nodes: Sequence[Node], *, below: bool) -> int:
        """Remove nodes, with all descendants that the user sees if `below`, and return their number.

        Orphans are reparented to the nearest node that stays, without widening their access. So is what others hung
        below a node of the user's own.
        """
        removed: dict[str, Node] = {}
        parents: dict[str, str] = {}
        own: set[str] = set()
        while nodes:
            children: dict[str, str] = {}
            for node in nodes:
                under_own = parents.get(node.id) in own
                if under_own and node.owner not in (None, self.view.user) and not self.admin:
                    continue
                self._refuse_another_owner(node)
                if under_own or self._is_own(node):
                    own.add(node.id)
                removed[node.id] = node
                children |= dict.fromkeys(sorted(self.store.unchecked_children(self.view.workspace, node.id)), node.id)
            parents |= children
            nodes = self.view.nodes(list(children)) if below else ()
        orphans = [name for name in parents if name not in removed]
        # What is hidden from one who sees the node above it has a list of its own: it inherits nothing.
        heirs = {node.id for node in self.view.nodes(orphans) if node.access is None}
        for name in orphans:
            _lift(batch, name, parents[name], removed, inherits=name in heirs)
        batch.remove(removed)
        return len(removed)

    def _is_own(self, node: Node) -> bool:
        return node.owner == self.view.user

    def _free_of_hidden(self, batch: Batch, node: Node, parent: str | None) -> None:
        """Leave what is hidden between a node and its new parent where the node stands."""
        chain: list[str] = []
        above = parent
        while above is not None and above != node.id:
            chain.append(above)
            above = self.store.unchecked_parent(self.view.workspace, above)
        if above is None:
            return
        visible = {link.id for link in self.view.nodes(chain)}
        hidden = [link for link in reversed(chain) if link not in visible]
        if hidden:
            batch.move(hidden[0], self.store.unchecked_parent(self.view.workspace, node.id))

    def _refuse_new_owners(self, node: Node, parent: str | None) -> None:
        """Refuse to hang what nobody owns below another owner's node than it hangs below now."""
        new = set() if parent is None else {each.owner for each in (*self.view.nodes([parent]), *self._above(parent))}
        owners = sorted(owner for owner in new - {each.owner for each in self._above(node.id)} if owner is not None)
        if owners:
            raise self._not_below(node, owners[0])

    def _not_below(self, node: Node, owner: str) -> NotPermitted:
        return NotPermitted(
            f"nobody owns {self.kind.name} {node.id!r}, and it would come below what {owner!r} owns, who could then "
            "hide it: choose a parent that nobody owns, or use an admin key"
        )

    def _above(self, name: str) -> Sequence[NodeInfo]:
        return self.view.ancestors(name, MOST_LEVELS)

    def _refuse_new_readers(self, batch: Batch, node: Node) -> None:
        """Refuse if a batch changed who may see something that is not the user's."""
        others = sorted(name for name, owner in batch.unchecked_access_changes().items() if owner != self.view.user)
        if others:
            raise NotPermitted(
                f"nobody owns {self.kind.name} {node.id!r}, and the move would change who may see {others[0]!r}: "
                "choose a parent with the same readers, or use an admin key"
            )

    def _refuse_speaking_for_others(self, node: Node, old: Node | None, owners: Mapping[str, str | None]) -> None:
        """Refuse pages of a document, and system turns of a thread, that are not for the user to add."""
        says = node.type == PAGE or (node.type == "message" and node.title.casefold() in OWNERS_ROLES)
        stays = old is not None and (old.type, old.title, old.parent) == (node.type, node.title, node.parent)
        if says and not stays and node.parent is not None and owners.get(node.parent) != self.view.user:
            what = "pages of a document" if node.type == PAGE else f"turns of the role {node.title!r}"
            raise NotPermitted(f"{what} are for the owner of {node.parent!r} or an admin key to add: use another type")

    def _owned(self, node: Node, old: Node | None, keep_access: bool) -> Node:
        """The node with its resulting owner and ACL."""
        if node.owner not in (None, self.view.user, old and old.owner):
            raise NotPermitted(f"node {node.id!r} names the owner {node.owner!r}: leave it out, or use an admin key")
        if old is None:
            start = namespace(self.view.user)
            if not node.id.startswith(start) or self._existing([node.id]):
                remedy = f"ids of new ones begin with {start!r}, or are left out"
                raise replace(self.kind, remedy=remedy).missing(node.id)
            return replace(node, owner=self.view.user, writer=self.view.user)
        self._refuse_another_owner(old)
        access = old.access if keep_access and node.access is None else node.access
        if old.owner is None and (access != old.access or node.owner is not None):
            raise self._not_for_sharing(old)
        return replace(node, owner=old.owner, access=access, writer=self.view.user)

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


def _lift(
    batch: Batch, name: str, parent: str, removed: Mapping[str, Node], *, inherits: bool, position: int = 0
) -> None:
    """Reparent a node to the nearest ancestor that stays; it keeps the readers that it inherited."""
    stays, access = _left_to(parent, removed)
    batch.move(name, stays, position)
    if access is not None and inherits:
        batch.set_access(name, access)


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
