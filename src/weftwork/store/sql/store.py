"""The store itself, but for its transactions and views."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path

from weftwork.errors import InvalidInput
from weftwork.store.files import Files
from weftwork.store.protocol import Batch
from weftwork.store.sql.batch import SqlBatch
from weftwork.store.sql.codec import fields_of, page_node, to_micros
from weftwork.store.sql.queries import StoreQueries
from weftwork.store.sql.receipts import SqlGivenToThreads, SqlReceipts
from weftwork.store.sql.server_state import SqlAuditLog, SqlJobs, SqlKeys, workspace_number
from weftwork.store.sql.session import Database, Row, Session
from weftwork.store.sql.vector_cache import SqlVectorCache
from weftwork.types import EVERYONE, FieldValue, Node

MOST_CONTEXTS = 200
"""Records of contexts that are kept for each user of a workspace; the oldest go first."""


class SqlStore(ABC):
    """Implements most of `weftwork.store.protocol.Store` on the statements of a store."""

    def __init__(self, database: Database, sql: StoreQueries, files: Path, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._sql = sql
        self._file_root = files
        self._clock = clock
        self.keys = SqlKeys(database, sql)
        self.jobs = SqlJobs(database, sql)
        self.audit = SqlAuditLog(database, sql)
        self.receipts = SqlReceipts(database, sql)
        self.given = SqlGivenToThreads(database, sql)
        self.embedding_cache = SqlVectorCache(database, sql, clock)
        self._guard = threading.Lock()
        self._files: dict[int, Files] = {}
        self._removed = _RemovedNodes()

    def create_workspace(self, workspace: str, *, owner: str, access: frozenset[str] = frozenset({EVERYONE})) -> None:
        """Create a workspace with its first user; `access` is the list of root nodes without one."""
        if not workspace.strip() or not workspace.isprintable():
            raise InvalidInput(f"a workspace needs a name of printable characters, got {workspace!r}")
        with self._creating(workspace, access), self.atomic(workspace) as batch:
            batch.add_user(owner)

    @abstractmethod
    def _creating(self, workspace: str, access: frozenset[str]) -> AbstractContextManager[object]:
        """A transaction that has created an empty workspace."""

    @contextmanager
    def atomic(self, workspace: str) -> Iterator[Batch]:
        """A batch that is committed at the end of the block, and rolled back if it raises."""
        removed = self._removed
        removed.depth += 1
        try:
            with self._batch(workspace) as batch:
                yield batch
                removed.nodes.setdefault(workspace, set()).update(batch.removed)
        finally:
            removed.depth -= 1
            nodes = removed.nodes
            if not removed.depth:
                removed.nodes = {}
        if not removed.depth:
            self._remove_files(nodes)

    @abstractmethod
    def _batch(self, workspace: str) -> AbstractContextManager[SqlBatch]:
        """A batch and its transaction; within another one of the same thread, a savepoint."""

    def _remove_files(self, removed: Mapping[str, set[str]]) -> None:
        """Remove the files of removed nodes, after the commit."""
        for workspace, nodes in removed.items():
            files = self.files(workspace) if nodes else None
            if files is not None and files.any:
                with files.exclusively():
                    files.forget(nodes, self.unchecked_nodes(workspace, sorted(nodes)))

    def workspaces(self) -> list[str]:
        """Names of all workspaces."""
        return [name for (name,) in self._database.ask(lambda session: session.rows(self._sql.WORKSPACES))]

    def users(self, workspace: str) -> dict[str, tuple[str, ...]]:
        """Users of a workspace with the groups that they belong to."""
        users: dict[str, tuple[str, ...]] = {}
        for name, team in self._rows(workspace, self._sql.USERS):
            users[name] = users.get(name, ()) + (() if team is None else (team,))
        return users

    def unchecked_nodes(self, workspace: str, ids: Sequence[str]) -> set[str]:
        """Existing ids among `ids`. Ignores permissions: only for the write path."""
        return {name for (name,) in self._rows(workspace, self._sql.NODE_IDS, names=list(ids))}

    def unchecked_fields(self, workspace: str, node: str) -> Mapping[str, FieldValue] | None:
        """The fields of a node, None if it does not exist. Ignores permissions: only for the write path."""
        rows = self._rows(workspace, self._sql.FIELDS, name=node)
        return fields_of(rows[0][0]) if rows else None

    def unchecked_children(self, workspace: str, node: str) -> set[str]:
        """Ids of the children of a node. Ignores permissions: only for the write path."""
        return {name for (name,) in self._rows(workspace, self._sql.CHILD_IDS, name=node)}

    def unchecked_access_lists(self, workspace: str, ids: Sequence[str]) -> dict[str, int]:
        """A number for the effective list of each node. Ignores permissions: only for the write path."""
        return {name: number for name, number in self._rows(workspace, self._sql.NODE_LISTS, names=list(ids))}

    def unchecked_parent(self, workspace: str, node: str) -> str | None:
        """The id of a node's parent. Ignores permissions: only for the write path."""
        rows = self._rows(workspace, self._sql.PARENT_ID, name=node)
        return rows[0][0] if rows else None

    def unchecked_vectors(self, workspace: str, model: str, digests: Sequence[str]) -> set[str]:
        """The digests under which a vector is stored. Ignores permissions: only for the write path."""
        return {digest for (digest,) in self._rows(workspace, self._sql.DIGESTS, model=model, digests=list(digests))}

    def vector_counts(self, workspace: str) -> dict[str, int]:
        """The number of vectors by model."""
        return {model: int(count) for model, count in self._rows(workspace, self._sql.VECTOR_COUNTS)}

    def unchecked_pages_without_vectors(self, workspace: str, model: str, limit: int) -> list[Node]:
        """Some document pages without vectors of a model. Ignores permissions: only for the write path."""
        rows = self._rows(workspace, self._sql.PAGES_WITHOUT_VECTORS, model=model, limit=limit)
        return [page_node(row) for row in rows]

    def marks(self, workspace: str, group: str) -> dict[str, str]:
        """The marks of a group by name. Ignores permissions: only for the write path."""
        return {name: mark for name, mark in self._rows(workspace, self._sql.MARKS, group=group)}

    def files(self, workspace: str) -> Files:
        """The files that belong to the workspace's nodes; they go when their nodes are removed."""
        number = self._database.ask(lambda session: workspace_number(session, self._sql, workspace))
        with self._guard:
            return self._files.setdefault(number, Files(self._file_root, number))

    def keep_context(self, workspace: str, name: str, *, user: str, thread: str, kept: str) -> None:
        """Store the record of a user's context, for a while; no version rises."""
        key = {"user": user, "thread": thread, "name": name}
        at = to_micros(self._clock())

        def write(session: Session) -> None:
            session.run(self._sql.KEEP_CONTEXT, **key, record=kept, at=at)
            session.run(self._sql.TRIM_CONTEXTS, user=user, most=MOST_CONTEXTS)

        self._database.do(write, workspace)

    def kept_context(self, workspace: str, name: str, *, user: str, thread: str) -> str | None:
        """The record of a context of this user and thread."""
        rows = self._rows(workspace, self._sql.CONTEXT, user=user, thread=thread, name=name)
        return str(rows[0][0]) if rows else None

    def _rows(self, workspace: str, statement: str, **values: object) -> list[Row]:
        """Run a query on one workspace. Ignores permissions."""
        return self._database.ask(lambda session: session.rows(statement, **values), workspace)


class _RemovedNodes(threading.local):
    """Nodes that this thread's batches removed, by workspace, until the outermost one is committed."""

    def __init__(self) -> None:
        self.depth = 0
        self.nodes: dict[str, set[str]] = {}
