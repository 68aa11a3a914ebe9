"""The writes of one transaction: validation, inheritance and logging; rows are written by each store."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import numpy as np

from weftwork.errors import DimensionError, InvalidInput, NotFound
from weftwork.store.sql.access import AccessLists
from weftwork.store.sql.codec import access_of, access_text, optional_micros, to_micros
from weftwork.store.sql.errors import missing_node, missing_user
from weftwork.store.sql.page_ranking import page_rows
from weftwork.store.sql.put import Putter
from weftwork.store.sql.queries import WriteQueries
from weftwork.store.sql.session import Session
from weftwork.types import EVERYONE, Edge, Entry, is_number

if TYPE_CHECKING:
    from weftwork.embed.protocol import Matrix, Vector

EdgeKey = tuple[int, int, str, str]
"""Numbers of source and target, type and label."""


class SqlBatch(ABC):
    """Implements `weftwork.store.protocol.Batch` on the statements of a store."""

    def __init__(self, session: Session, sql: WriteQueries, access: AccessLists, putter: Putter) -> None:
        self._session = session
        self._sql = sql
        self._access = access
        self._putter = putter
        self._version = 0
        """The version that this batch makes, as soon as it has written: a nested one may have made one before."""
        self.removed: set[str] = set()
        """Ids of the removed nodes, whose files are removed after the commit."""

    def put(self, entries: Iterable[Entry], *, keep_access: bool = False) -> int:
        """Insert or replace nodes; parents may be in the same call, in any order. Count the changed."""
        changed = self._putter.put(self._with_stored_access(list(entries)) if keep_access else entries)
        self._log(changed)
        return len(changed)

    def _with_stored_access(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries, completed with the stored owner and access list where they have none."""
        rows = self._session.rows(self._sql.OWN_ACCESS, names=[entry.node.id for entry in entries])
        stored = {name: (owner, access_of(access)) for name, owner, access in rows}
        completed = []
        for entry in entries:
            node = entry.node
            owner, access = stored.get(node.id, (None, None))
            owner, access = node.owner or owner, access if node.access is None else node.access
            if (owner, access) == (node.owner, node.access):
                completed.append(entry)
            else:
                completed.append(Entry(replace(node, owner=owner, access=access), entry.passages))
        return completed

    def rewrite(self, entries: Iterable[Entry]) -> int:
        """Replace existing nodes in place; count the changed."""
        listed = list(entries)
        rows = self._session.rows(self._sql.PLACES, names=[entry.node.id for entry in listed])
        places = {row[0]: row[1:] for row in rows}
        rewritten = []
        for entry in listed:
            if entry.node.id not in places:
                raise missing_node(entry.node.id)
            parent, position, owner, access = places[entry.node.id]
            node = replace(entry.node, parent=parent, position=position, owner=owner, access=access_of(access))
            rewritten.append(Entry(node, entry.passages))
        return self.put(rewritten)

    def link(self, edges: Iterable[Edge]) -> int:
        """Insert or replace edges between existing nodes; count the changed."""
        listed = list(edges)
        numbers = self._numbers({end for edge in listed for end in (edge.source, edge.target)})
        for edge in listed:
            for end in (edge.source, edge.target):
                if end not in numbers:
                    raise NotFound(f"node {end!r} of an edge does not exist: add it before the edge")
            if not is_number(edge.weight):
                raise InvalidInput(
                    f"the edge from {edge.source!r} to {edge.target!r} has the weight {edge.weight!r}: give a number"
                )
        # The last of several that differ in weight alone is the one that counts.
        weights = {
            (numbers[edge.source], numbers[edge.target], edge.type, edge.label): float(edge.weight) for edge in listed
        }
        return self._touched(self._write_edges(weights) if weights else 0)

    def unlink(self, edges: Iterable[Edge]) -> int:
        """Remove edges; those that do not exist are ignored."""
        listed = list(edges)
        numbers = self._numbers({end for edge in listed for end in (edge.source, edge.target)})
        existing = [edge for edge in listed if edge.source in numbers and edge.target in numbers]
        keys = dict.fromkeys((numbers[edge.source], numbers[edge.target], edge.type, edge.label) for edge in existing)
        return self._touched(self._remove_edges(list(keys)) if keys else 0)

    def remove(self, ids: Iterable[str]) -> int:
        """Remove nodes with everything below them; unknown ids are ignored. Count the removed."""
        rows = self._session.rows(self._sql.SUBTREES, names=sorted(set(ids)))
        if not rows:
            return 0
        self.removed.update(name for _, name in rows)
        nodes = [number for number, _ in rows]
        self._log(nodes, deleted=True)
        self._remove_nodes(nodes)
        return len(nodes)

    def move(self, node: str, parent: str | None, position: int = 0) -> None:
        """Reparent a subtree; inherited access lists change with it."""
        number = self._number(node)
        above = None if parent is None else self._number(parent)
        self._putter.refuse_cycle(number, above, node)
        self._session.run(self._sql.MOVE, node=number, parent=above, position=position)
        self._putter.settle_document(number)
        self._log([number, *self._access.settle(number)])

    def set_access(self, node: str, access: frozenset[str] | None) -> None:
        """Set the access list of a node, or None to inherit its parent's."""
        number = self._number(node)
        self._session.run(self._sql.SET_ACCESS, node=number, access=access_text(access))
        self._log([number, *self._access.settle(number)])

    def unchecked_access_changes(self) -> dict[str, str | None]:
        """The stored nodes whose effective list this batch changed, with their owners."""
        rows = self._session.rows(self._sql.NODE_OWNERS, nodes=sorted(self._access.changed))
        return {name: owner for name, owner in rows}

    def set_validity(self, node: str, start: datetime | None, end: datetime | None) -> None:
        """Set the validity interval of a node; nothing else about it changes."""
        number = self._number(node)
        limits = {"start": optional_micros(start), "end": optional_micros(end)}
        self._session.run(self._sql.SET_VALIDITY, node=number, **limits)
        self._log([number])

    def add_user(self, user: str, groups: Iterable[str] = ()) -> None:
        """Add a user to the workspace, or replace the groups of an existing one."""
        groups = list(groups)
        if not user or user == EVERYONE or user.startswith("group:"):
            raise InvalidInput(f"{user!r} cannot be a user's name: use a name that is not '*' or 'group:…'")
        if not all(name.isprintable() for name in (user, *groups)):
            raise InvalidInput(f"{user!r} or one of the groups has characters that cannot be printed: correct them")
        teams = sorted({group.removeprefix("group:") for group in groups})
        existing = self._session.rows(self._sql.IS_USER, user=user)
        if existing and sorted(team for (team,) in self._session.rows(self._sql.TEAMS, user=user)) == teams:
            return
        if not existing:
            self._session.run(self._sql.ADD_USER, user=user)
        self._session.run(self._sql.REMOVE_TEAMS, user=user)
        self._session.run(self._sql.ADD_TEAMS, user=user, teams=teams)
        self._touched(1)

    def remove_user(self, user: str) -> bool:
        """Remove a user and their groups; what they wrote stays. Return False if there is no such user."""
        if not self._session.rows(self._sql.IS_USER, user=user):
            return False
        self._session.run(self._sql.REMOVE_TEAMS, user=user)
        self._session.run(self._sql.REMOVE_USER, user=user)
        self._touched(1)
        return True

    def record(self, user: str, node: str, kind: Literal["view", "edit"], at: datetime) -> None:
        """Record that a user viewed or edited a node."""
        self._session.run(self._sql.PUT_EVENT, **self._known(user, node), kind=kind, at=to_micros(at))
        self._touched(1)

    def give_feedback(self, user: str, node: str, useful: bool, at: datetime, query: str = "") -> None:
        """Record whether a node was useful to a user for a question; the latest feedback on both counts."""
        feedback = {**self._known(user, node), "useful": bool(useful), "at": to_micros(at), "query": query}
        self._session.run(self._sql.PUT_FEEDBACK, **feedback)
        self._touched(1)

    def count_use(self, user: str, nodes: Iterable[str]) -> None:
        """Count one more use of these nodes by a user's answer."""
        for node in nodes:
            self._session.run(self._sql.COUNT_USE, **self._known(user, node))
        self._touched(1)

    @abstractmethod
    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors under the digests of their texts."""

    def put_page_vectors(self, model: str, pages: Mapping[str, Matrix], read_at: int) -> None:
        """Store the vectors of pages, but for those that changed after the version at which they were read."""
        numbers = self._numbers(set(pages))
        changed = self._session.rows(self._sql.CHANGED_SINCE, since=read_at, nodes=list(numbers.values()))
        for (name,) in changed:
            numbers.pop(name, None)
        widths = self._session.rows(self._sql.PAGE_WIDTH, model=model)
        unchanged = {numbers[name]: pages[name] for name in sorted(numbers)}
        rows = page_rows(model, unchanged, widths[0][0] if widths else None)
        self._session.run_many(self._sql.PUT_PAGE, rows)
        self._touched(len(numbers))

    def mark(self, group: str, marks: Mapping[str, str | None]) -> None:
        """Set marks of a group by name, or remove those that are None; no version rises."""
        self._session.run(self._sql.REMOVE_MARKS, group=group, names=list(marks))
        self._add_marks(group, {name: mark for name, mark in marks.items() if mark is not None})

    def _numbers(self, names: set[str]) -> dict[str, int]:
        rows = self._session.rows(self._sql.NUMBERS, names=sorted(names))
        return {name: number for name, number in rows}

    def _number(self, node: str) -> int:
        numbers = self._numbers({node})
        if node not in numbers:
            raise missing_node(node)
        return numbers[node]

    def _known(self, user: str, node: str) -> dict[str, object]:
        """A user and the number of a node, both of which must exist."""
        number = self._number(node)
        if not self._session.rows(self._sql.IS_USER, user=user):
            raise missing_user(user)
        return {"user": user, "node": number}

    def _log(self, nodes: Sequence[int], *, deleted: bool = False) -> None:
        """Enter nodes into the change log."""
        if not nodes:
            return
        self._touched(1)
        self._session.run(self._sql.LOG_CHANGES, nodes=list(nodes), version=self._version, deleted=deleted)

    def _touched(self, count: int) -> int:
        """Raise the workspace's version, once in a batch, if anything was written."""
        if count and not self._version:
            self._version = self._raise_version(os.urandom(8).hex())
        return count

    @abstractmethod
    def _raise_version(self, mark: str) -> int:
        """Raise the version of the workspace, and store a random mark by which its commit can be found."""

    @abstractmethod
    def _write_edges(self, weights: Mapping[EdgeKey, float]) -> int:
        """Insert or replace edges; count the changed."""

    @abstractmethod
    def _remove_edges(self, keys: Sequence[EdgeKey]) -> int:
        """Remove edges; count them."""

    @abstractmethod
    def _remove_nodes(self, nodes: Sequence[int]) -> None:
        """Remove nodes with all that belongs to them."""

    @abstractmethod
    def _add_marks(self, group: str, marks: Mapping[str, str]) -> None:
        """Insert new marks."""


def check_dimensions(model: str, vectors: Mapping[str, Vector], dimensions: int | None) -> int | None:
    """Return the dimensions of a model's vectors; raise DimensionError if they differ."""
    for vector in vectors.values():
        shape = np.shape(vector)
        expected = shape if dimensions is None else (dimensions,)
        if len(shape) != 1 or shape != expected:
            raise DimensionError(
                f"a vector of the shape {shape} cannot be kept with those of {model!r}, which have "
                f"{expected}: embed with the same model, or give the other one another name"
            )
        dimensions = shape[0]
    return dimensions
