"""Inserting and replacing nodes: a whole call is prepared in memory and written by statement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weftwork.errors import CycleError, InvalidInput
from weftwork.store.sql.access import AccessLists
from weftwork.store.sql.codec import access_text, digest_of, dump, dump_fields, optional_micros, to_micros
from weftwork.store.sql.outlines import document_of
from weftwork.store.sql.queries import WriteQueries
from weftwork.store.sql.session import Session
from weftwork.types import Entry


@dataclass(slots=True)
class Draft:
    """A node on its way into the tables."""

    entry: Entry
    digest: str
    pk: int
    is_new: bool
    created: int
    old_acl: int | None = None
    old_parent: int | None = None
    old_document: int | None = None
    parent: int | None = None
    acl: int = 0
    document: int | None = None


class Putter(ABC):
    """Writes nodes into one workspace, within one transaction."""

    def __init__(self, session: Session, sql: WriteQueries, access: AccessLists, now: int) -> None:
        self._session = session
        self._sql = sql
        self._access = access
        self._now = now

    def put(self, entries: Iterable[Entry]) -> list[int]:
        """Write the entries that differ from the stored nodes; return all changed nodes."""
        drafts = self._drafts(_by_id(entries))
        if not drafts:
            return []
        stored = self._resolve_parents(drafts)
        ordered = _parents_first(drafts)
        for draft in ordered:
            node = draft.entry.node
            above = drafts.get(node.parent) if node.parent is not None else None
            acl, document = (above.acl, above.document) if above else stored.get(draft.parent, (None, None))
            draft.acl = self._access.effective(node.access, node.owner, acl)
            draft.document = document_of(node.type, draft.pk, document)
        self._write_nodes(ordered)
        for draft in ordered:
            # Only a reparented node can close a cycle with stored ones.
            if not draft.is_new and draft.parent not in (None, draft.old_parent):
                self.refuse_cycle(draft.pk, draft.parent, draft.entry.node.id)
        self._write_details(ordered)
        regained = [draft.pk for draft in ordered if not draft.is_new and draft.acl != draft.old_acl]
        self.spread_documents(
            [draft.pk for draft in ordered if not draft.is_new and draft.document != draft.old_document]
        )
        return [draft.pk for draft in ordered] + self._access.spread(regained)

    def settle_document(self, node: int) -> None:
        """Set the document of a node that was moved, and of everything below it."""
        ((kind, old, above),) = self._session.rows(self._sql.DOCUMENT, node=node)
        document = document_of(kind, node, above)
        if document != old:
            self._session.run(self._sql.SET_DOCUMENT, node=node, document=document)
            self.spread_documents([node])

    def spread_documents(self, nodes: Sequence[int]) -> None:
        """Give what stands below these nodes the document that it is now a part of."""
        while nodes:
            changed = []
            for child, kind, old, above in self._session.rows(self._sql.DOCUMENTS_BELOW, nodes=list(nodes)):
                document = document_of(kind, child, above)
                if document != old:
                    self._session.run(self._sql.SET_DOCUMENT, node=child, document=document)
                    changed.append(child)
            nodes = changed

    def refuse_cycle(self, node: int, parent: int | None, name: str) -> None:
        """Raise CycleError if a node is found above its own parent."""
        if self._session.rows(self._sql.IS_ABOVE, node=node, parent=parent):
            raise CycleError(f"node {name!r} would be its own ancestor: give it another parent")

    def _drafts(self, entries: Mapping[str, Entry]) -> dict[str, Draft]:
        """Drafts for the entries that are new or differ, by id."""
        stored = {row[0]: row[1:] for row in self._session.rows(self._sql.STORED, names=list(entries))}
        new = [name for name in entries if name not in stored]
        next_number = self._take_numbers(len(new)) if new else 0
        drafts: dict[str, Draft] = {}
        for name, entry in entries.items():
            digest = digest_of(entry)
            if name not in stored:
                drafts[name] = Draft(entry, digest, next_number, is_new=True, created=self._now)
                next_number += 1
            elif stored[name][1] != digest:
                pk, _, acl, parent, created, document = stored[name]
                drafts[name] = Draft(
                    entry,
                    digest,
                    pk,
                    is_new=False,
                    created=created,
                    old_acl=acl,
                    old_parent=parent,
                    old_document=document,
                )
        return drafts

    def _resolve_parents(self, drafts: Mapping[str, Draft]) -> dict[int | None, tuple[int, int | None]]:
        """Set the parent's number in each draft; return the lists and documents of stored parents."""
        parents = {draft.entry.node.parent for draft in drafts.values()} - drafts.keys()
        rows = self._session.rows(self._sql.PARENTS, names=sorted(name for name in parents if name is not None))
        stored = {name: number for name, number, *_ in rows}
        for draft in drafts.values():
            node = draft.entry.node
            if node.parent is None:
                continue
            draft.parent = drafts[node.parent].pk if node.parent in drafts else stored.get(node.parent)
            if draft.parent is None:
                raise InvalidInput(
                    f"parent {node.parent!r} of node {node.id!r} does not exist: add it before, or in the same call"
                )
        return {number: (acl, document) for _, number, acl, document in rows}

    def _node_row(self, draft: Draft) -> tuple[object, ...]:
        """The columns of a node after its workspace.

        number, id, type, title, parent, position, tags, fields, confidence, conversation, created_at,
        updated_at, source, owner, access, acl, digest, valid_from, valid_until, document, writer, origin.
        """
        node = draft.entry.node
        created = to_micros(node.created_at) if node.created_at else draft.created
        updated = to_micros(node.updated_at) if node.updated_at else max(self._now, created)
        return (
            draft.pk, node.id, node.type, node.title, draft.parent, node.position,
            dump(list(node.tags)), dump_fields(node.fields), node.confidence, node.conversation, created, updated,
            node.source, node.owner, access_text(node.access), draft.acl, draft.digest,
            optional_micros(node.valid_from), optional_micros(node.valid_until), draft.document, node.writer,
            node.origin,
        )  # fmt: skip

    @abstractmethod
    def _take_numbers(self, count: int) -> int:
        """Reserve `count` numbers of nodes, and return the first."""

    @abstractmethod
    def _write_nodes(self, drafts: Sequence[Draft]) -> None:
        """Insert or replace the rows of the nodes themselves."""

    @abstractmethod
    def _write_details(self, drafts: Sequence[Draft]) -> None:
        """Replace tags, fields and passages of the nodes, and what is derived from them."""


def _by_id(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The entries by node id; raise InvalidInput if an id occurs twice."""
    by_id: dict[str, Entry] = {}
    for entry in entries:
        if entry.node.id in by_id:
            raise InvalidInput(f"node {entry.node.id!r} stands twice in one call: give each node its own id")
        by_id[entry.node.id] = entry
    return by_id


def _parents_first(drafts: Mapping[str, Draft]) -> list[Draft]:
    """Drafts in topological order, parents first; raise CycleError if there is none."""
    ordered: list[Draft] = []
    placed: set[str] = set()
    for name in drafts:
        chain: list[str] = []
        current: str | None = name
        while current is not None and current in drafts and current not in placed:
            if current in chain:
                raise CycleError(f"node {current!r} would be its own ancestor: give it another parent")
            chain.append(current)
            current = drafts[current].entry.node.parent
        for link in reversed(chain):
            ordered.append(drafts[link])
            placed.add(link)
    return ordered
