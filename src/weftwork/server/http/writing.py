"""What a key may write.

| | seen by the user, nobody's or their own | seen, another's | hidden | absent |
|---|---|---|---|---|
| change, move, remove, link from | yes | 403 | 404 | 404 |
| link to, hang something below | yes | yes | 404 | 404 |
| say who may see it | their own only, else 403 | 403 | 404 | 404 |
| create | | | 404 | ids that begin with the user's name and a slash; else 404 |

So what is hidden and what is absent get the same answer, down to the bytes: a new node takes an id that only its
own user could have taken, because an id that is free to all would tell by being refused. A key with the scope
`admin` may write whatever its workspaces hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from urllib.parse import quote

from weftwork.embedding import missing_vectors
from weftwork.engine import Added, Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.identity import citation_id
from weftwork.ingest.documents.reader import PATHS
from weftwork.server.http.access import Caller
from weftwork.server.http.problems import Problem
from weftwork.store.protocol import Batch, View
from weftwork.text.split import embedded_text, prepare
from weftwork.types import Edge, Entry, Node


def namespace(user: str) -> str:
    """What the ids of a user's new nodes begin with; no user's is the beginning of another's."""
    return quote(user, safe="") + "/"


def new_id(user: str, kind: str, *content: str) -> str:
    """An id for something new of a user's."""
    return namespace(user) + citation_id(kind, user, "\0".join(content))


def missing(name: str) -> NotFound:
    """What is said of a node that is hidden, and of one that does not exist."""
    return NotFound(f"there is no node {name!r} that you may see: find it with  POST search")


@dataclass(frozen=True, slots=True)
class Pen:
    """Writes to one workspace for one caller; each call is one transaction."""

    weft: Weft
    workspace: str
    user: str
    admin: bool = False

    @classmethod
    def of(cls, weft: Weft, caller: Caller, workspace: str) -> Pen:
        """The pen of a caller."""
        return cls(weft, workspace, caller.user, caller.may(workspace, "admin"))

    def add(
        self, nodes: Sequence[Node], edges: Sequence[Edge] = (), *, in_place: bool = False, keep_access: bool = False
    ) -> Added:
        """Insert or replace nodes and edges, all of them or none."""
        if self.admin:
            return self.weft.add(nodes, edges, workspace=self.workspace, in_place=in_place, keep_access=keep_access)
        _refuse_twice(nodes)
        entries = {node.id: prepare(node, self.weft.tools.counter) for node in nodes}
        self._warm(entries.values())
        with self.weft.atomic(self.workspace) as batch, self.weft.store.view(self.workspace, self.user) as view:
            seen = {node.id: node for node in view.nodes(list(entries))}
            there: list[Entry] = []
            placed: list[Entry] = []
            for entry in entries.values():
                old = seen.get(entry.node.id)
                ready = self._kept(entry.node, old) if in_place else self._ready(entry.node, old, keep_access)
                stays = old is not None and (in_place or _as_it_was(ready, old))
                (there if stays else placed).append(replace(entry, node=ready))
            self._check_parents(view, placed, entries.keys())
            self._check_edges(view, edges, entries.keys())
            changed = batch.rewrite(there) + batch.put(placed)
            embedded = self._embed(batch, entries.values())
            linked = batch.link(edges)
        return Added(changed, linked, embedded + self._embed_late(entries.values()))

    def remove(self, names: Iterable[str]) -> int:
        """Remove nodes with all below them that the user may see; what is hidden stays, one level higher."""
        wanted = list(dict.fromkeys(names))
        if self.admin:
            return self.weft.remove(wanted, workspace=self.workspace)
        with self.weft.atomic(self.workspace) as batch, self.weft.store.view(self.workspace, self.user) as view:
            doomed: dict[str, Node] = {}
            hidden: dict[str, str | None] = {}
            for top in view.nodes(wanted):
                self._doom(view, top, doomed, hidden)
            for name, above in hidden.items():
                # What is hidden below something visible has a list of its own: another place changes nothing for it.
                place = above
                while place is not None and place in doomed:
                    place = doomed[place].parent
                batch.move(name, place)
            batch.remove(doomed)
        return len(doomed)

    def _doom(self, view: View, top: Node, doomed: dict[str, Node], hidden: dict[str, str | None]) -> None:
        """Enter a node and all below it that may go, and what is hidden there with the node that it hangs below."""
        level = [top]
        while level:
            for node in level:
                self._refuse_another_owner(node)
            doomed.update((node.id, node) for node in level)
            below = {child: node.id for node in level for child in sorted(self._children(node.id))}
            level = view.nodes(list(below))
            hidden.update((name, below[name]) for name in sorted(below.keys() - {node.id for node in level}))

    def _children(self, name: str) -> set[str]:
        return self.weft.store.unchecked_children(self.workspace, name)

    def move(self, name: str, parent: str | None, position: int) -> None:
        """Hang a node elsewhere, with all below it."""
        with self.weft.atomic(self.workspace) as batch, self.weft.store.view(self.workspace, self.user) as view:
            self._changeable(view, [name])
            if parent is not None:
                self._visible(view, [parent])
            batch.move(name, parent, position)

    def set_access(self, name: str, access: frozenset[str] | None) -> None:
        """Say who may see a node."""
        with self.weft.atomic(self.workspace) as batch, self.weft.store.view(self.workspace, self.user) as view:
            for node in self._changeable(view, [name]):
                if not self.admin and node.owner != self.user:
                    raise _not_theirs(name)
            batch.set_access(name, access)

    def link(self, edges: Sequence[Edge]) -> int:
        """Insert or replace edges."""
        with self.weft.atomic(self.workspace) as batch, self.weft.store.view(self.workspace, self.user) as view:
            self._check_edges(view, edges, set())
            return batch.link(edges)

    def unlink(self, edges: Sequence[Edge]) -> int:
        """Remove edges."""
        with self.weft.atomic(self.workspace) as batch, self.weft.store.view(self.workspace, self.user) as view:
            self._check_edges(view, edges, set())
            return batch.unlink(edges)

    def check(self, name: str) -> None:
        """Raise as a change of this node would."""
        with self.weft.store.view(self.workspace, self.user) as view:
            self._changeable(view, [name])

    def _ready(self, node: Node, old: Node | None, keep_access: bool) -> Node:
        """The node as it may be written, if it may."""
        _refuse_pictures(node, old)
        if node.owner not in (None, self.user, old and old.owner):
            raise Problem(403, "only an admin key may write in another's name: leave out the owner")
        if old is None:
            if not node.id.startswith(namespace(self.user)) or self._known(node.id):
                raise missing_or_not_own(node.id, self.user)
            return replace(node, owner=self.user)
        self._refuse_another_owner(old)
        access = old.access if keep_access and node.access is None else node.access
        if old.owner is None and (access != old.access or node.owner is not None):
            raise _not_theirs(node.id)
        return replace(node, owner=old.owner, access=access)

    def _kept(self, node: Node, old: Node | None) -> Node:
        if old is None:
            raise missing(node.id)
        _refuse_pictures(node, old)
        self._refuse_another_owner(old)
        return node

    def _known(self, name: str) -> bool:
        return bool(self.weft.store.unchecked_nodes(self.workspace, [name]))

    def _check_parents(self, view: View, entries: Sequence[Entry], given: Set[str]) -> None:
        parents = {entry.node.parent for entry in entries if entry.node.parent is not None}
        self._visible(view, sorted(parents - given))

    def _check_edges(self, view: View, edges: Sequence[Edge], given: Set[str]) -> None:
        self._visible(view, sorted({edge.target for edge in edges} - given))
        self._changeable(view, sorted({edge.source for edge in edges} - given))

    def _visible(self, view: View, names: Sequence[str]) -> list[Node]:
        """These nodes, all of which the user must see; an admin writes to what they cannot see, too."""
        found = view.nodes(names)
        seen = {node.id for node in found}
        if self.admin:
            seen |= self.weft.store.unchecked_nodes(self.workspace, names)
        for name in names:
            if name not in seen:
                raise missing(name)
        return found

    def _changeable(self, view: View, names: Sequence[str]) -> list[Node]:
        found = self._visible(view, names)
        for node in found:
            self._refuse_another_owner(node)
        return found

    def _refuse_another_owner(self, node: Node) -> None:
        if not self.admin and node.owner not in (None, self.user):
            raise Problem(403, f"node {node.id!r} belongs to {node.owner!r}: only they, or an admin key, may change it")

    def _warm(self, entries: Iterable[Entry]) -> None:
        """Embed before the store is locked: a provider may take its time."""
        embedder = self.weft.tools.embedder
        texts = [embedded_text(entry.node.title, part) for entry in entries for part in entry.passages]
        if embedder is not None and texts:
            embedder.embed_batch(texts)

    def _embed(self, batch: Batch, entries: Iterable[Entry]) -> int:
        """Keep the vectors that are not there yet; count them."""
        embedder = self.weft.tools.embedder
        vectors = missing_vectors(list(entries), embedder, self.weft.store, self.workspace)
        if embedder is not None and vectors:
            batch.put_vectors(embedder.model, vectors)
        return len(vectors)

    def _embed_late(self, entries: Iterable[Entry]) -> int:
        """What this very call removed with the last node of a text, and brought again with another."""
        late = missing_vectors(list(entries), self.weft.tools.embedder, self.weft.store, self.workspace)
        if not late:
            return 0
        with self.weft.atomic(self.workspace) as batch:
            return self._embed(batch, entries)


def missing_or_not_own(name: str, user: str) -> NotFound:
    """What is said of an id that the user neither sees nor may take: the same, whoever has it."""
    return NotFound(
        f"there is no node {name!r} that you may see: ids of new ones begin with {namespace(user)!r}, or are left out"
    )


def _not_theirs(name: str) -> Problem:
    return Problem(403, f"who may see node {name!r} is for its owner or an admin key to say: use keep_access")


def _refuse_pictures(node: Node, old: Node | None) -> None:
    """The files of a document are shown to whoever sees a page that names them: so only ingest says which page does."""
    for field in PATHS.values():
        named = node.fields.get(field)
        if named is not None and named != (old and old.fields.get(field)):
            raise Problem(403, f"the field {field!r} is for uploads and admin keys to set: leave it out")


def _as_it_was(node: Node, old: Node) -> bool:
    """Whether a node keeps its place and its list, which may be such as the user cannot see."""
    return (node.parent, node.position, node.owner, node.access) == (old.parent, old.position, old.owner, old.access)


def _refuse_twice(nodes: Sequence[Node]) -> None:
    """What the store says of two nodes with one id, before they are told apart by where they go."""
    seen: set[str] = set()
    for node in nodes:
        if node.id in seen:
            raise InvalidInput(f"node {node.id!r} stands twice in one call: give each node its own id")
        seen.add(node.id)
