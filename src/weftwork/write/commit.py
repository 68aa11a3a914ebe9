"""Write transactions: texts are embedded before one begins, and committed with their vectors."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weftwork.embed.protocol import EmbeddingProvider
from weftwork.errors import InvalidInput
from weftwork.store.protocol import Batch, Store
from weftwork.text.tokens import TokenCounter
from weftwork.types import Entry, Node
from weftwork.write.embed import NO_VECTORS, embedded_texts, missing_vectors
from weftwork.write.prepare import prepare

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

Texts = dict[str, str]
"""Embedded texts by the digests under which their vectors are kept."""


@dataclass(slots=True)
class Transaction:
    """An open transaction, and the number of its texts that have a vector once it is committed.

    It counts the texts that were handed in: the number that had no vector before would tell a writer which texts are
    in the workspace, hidden ones included.
    """

    batch: Batch
    embedded: int = 0


class _Open(threading.local):
    """The texts that this thread's transaction writes without a vector, by workspace; None outside one."""

    texts: dict[str, Texts] | None = None


class Writer:
    """Opens write transactions on a store, and embeds before they begin. Thread-safe."""

    def __init__(self, store: Store, counter: TokenCounter, embedder: EmbeddingProvider | None) -> None:
        self._store = store
        self._counter = counter
        self._embedder = embedder
        self._open = _Open()

    @property
    def is_open(self) -> bool:
        """True within a transaction of this thread, whose writes reads do not see yet."""
        return self._open.texts is not None

    def prepare(self, nodes: Iterable[Node]) -> list[Entry]:
        """Check nodes and cut them into passages; refuse a repeated id."""
        if not isinstance(nodes, Iterable):
            raise InvalidInput(f"a list of Node objects or a path is needed, got {nodes!r}")
        entries: dict[str, Entry] = {}
        for entry in (prepare(node, self._counter) for node in nodes):
            if entry.node.id in entries:
                raise InvalidInput(f"node {entry.node.id!r} stands twice in one call: give each node its own id")
            entries[entry.node.id] = entry
        return list(entries.values())

    def transaction(
        self, workspace: str, entries: Iterable[Entry] = (), *, known: Mapping[str, Vector] = NO_VECTORS
    ) -> AbstractContextManager[Transaction]:
        """Compute the missing vectors of these entries, and return the transaction in which to write them.

        Vectors that are known already, by digest, are not computed. Within another transaction of the same thread it is
        a savepoint; its texts are embedded after the outer one.
        """
        texts = embedded_texts(entries)
        if self._open.texts is not None:
            return self._savepoint(workspace, texts, self._open.texts)
        vectors = missing_vectors(texts, self._embedder, self._store, workspace, known)
        return self._outermost(workspace, texts, vectors)

    @contextmanager
    def _savepoint(self, workspace: str, texts: Texts, outer: dict[str, Texts]) -> Iterator[Transaction]:
        with self._store.atomic(workspace) as batch:
            yield Transaction(batch, self._embeddable(texts))
        outer.setdefault(workspace, {}).update(texts)

    @contextmanager
    def _outermost(self, workspace: str, texts: Texts, vectors: Mapping[str, Vector]) -> Iterator[Transaction]:
        unembedded = {workspace: {digest: text for digest, text in texts.items() if digest not in vectors}}
        self._open.texts = unembedded
        try:
            with self._store.atomic(workspace) as batch:
                transaction = Transaction(batch, self._embeddable(texts))
                yield transaction
                self._put_vectors(batch, vectors)
        finally:
            self._open.texts = None
        # A text that had a vector loses it where another writer removed the last other node with this text meanwhile.
        for place, rest in unembedded.items():
            transaction.embedded += self._embeddable(rest.keys() - texts.keys())
            late = missing_vectors(rest, self._embedder, self._store, place)
            if late:
                with self._store.atomic(place) as batch:
                    self._put_vectors(batch, late)

    def _embeddable(self, texts: Collection[str]) -> int:
        return 0 if self._embedder is None else len(texts)

    def _put_vectors(self, batch: Batch, vectors: Mapping[str, Vector]) -> None:
        if self._embedder is not None and vectors:
            batch.put_vectors(self._embedder.model, vectors)
