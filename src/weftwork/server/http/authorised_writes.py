"""Writing with the rights of a key: as its user, or whatever its workspaces hold if its scope is `admin`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime

from weftwork.engine import Weft
from weftwork.identity import node_id
from weftwork.results import Added
from weftwork.server.http.access import Caller
from weftwork.types import Edge, Node
from weftwork.write.permit import Kind, Permit, namespace, permitted

NODE = Kind("node", "find it with  POST search")


def new_id(user: str, kind: str, *content: str) -> str:
    """An id for something new of a user's."""
    return namespace(user) + node_id(kind, user, "\0".join(content))


@dataclass(frozen=True, slots=True)
class AuthorisedWriter:
    """Writes to one workspace for one caller; each call is one transaction."""

    weft: Weft
    workspace: str
    user: str
    admin: bool = False

    @classmethod
    def of(cls, weft: Weft, caller: Caller, workspace: str) -> AuthorisedWriter:
        """The writer of a caller."""
        return cls(weft, workspace, caller.user, caller.may(workspace, "admin"))

    def add(
        self, nodes: Sequence[Node], edges: Sequence[Edge] = (), *, in_place: bool = False, keep_access: bool = False
    ) -> Added:
        """Insert or replace nodes and edges, all of them or none."""
        if self.admin:
            nodes = [replace(node, writer=self.user) for node in nodes]
            return self.weft.add(nodes, edges, workspace=self.workspace, in_place=in_place, keep_access=keep_access)
        entries = self.weft.writer.prepare(_no_later(node, self.weft.now()) for node in nodes)
        with self._permitted() as permit:  # what is refused is not embedded
            permit.writable(entries, edges, in_place=in_place, keep_access=keep_access)
        with self.weft.writer.transaction(self.workspace, entries) as transaction, self._permitted() as permit:
            rewritten, placed = permit.writable(entries, edges, in_place=in_place, keep_access=keep_access)
            changed = transaction.batch.rewrite(rewritten) + permit.place(transaction.batch, placed)
            linked = transaction.batch.link(edges)
        return Added(changed, linked, transaction.embedded)

    def remove(self, names: Iterable[str]) -> int:
        """Remove nodes with all below them that the user may see; what is hidden stays, one level higher."""
        if self.admin:
            return self.weft.remove(names, workspace=self.workspace)
        with self.weft.atomic(self.workspace) as batch, self._permitted() as permit:
            return permit.remove(batch, permit.view.nodes(list(dict.fromkeys(names))), below=True)

    def move(self, name: str, parent: str | None, position: int) -> None:
        """Hang a node elsewhere, with all below it."""
        with self.weft.atomic(self.workspace) as batch, self._permitted() as permit:
            permit.move(batch, name, parent, position)

    def set_access(self, name: str, access: frozenset[str] | None) -> None:
        """Say who may see a node."""
        with self.weft.atomic(self.workspace) as batch, self._permitted() as permit:
            permit.refuse_sharing(name)
            batch.set_access(name, access)

    def link(self, edges: Sequence[Edge]) -> int:
        """Insert or replace edges."""
        with self.weft.atomic(self.workspace) as batch, self._permitted() as permit:
            permit.refuse_edges(edges)
            return batch.link(edges)

    def unlink(self, edges: Sequence[Edge]) -> int:
        """Remove edges from what the user may change, or onto what they own."""
        with self.weft.atomic(self.workspace) as batch, self._permitted() as permit:
            permit.refuse_unlinking(edges)
            return batch.unlink(edges)

    def _permitted(self) -> AbstractContextManager[Permit]:
        return permitted(self.weft.store, self.workspace, self.user, NODE, admin=self.admin)


def _no_later(node: Node, now: datetime) -> Node:
    """A node that claims to be no newer than now."""
    created, updated = (at if at is None else min(at, now) for at in (node.created_at, node.updated_at))
    return replace(node, created_at=created, updated_at=updated)
