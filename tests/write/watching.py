"""A store that knows whether a transaction is open, and a provider that remembers what it was asked for."""

from contextlib import contextmanager

from weftwork.embed.hashing import HashingEmbedder


class WatchedStore:
    """A store that counts its open transactions."""

    open = 0

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        """Leave all else to the store."""
        return getattr(self._store, name)

    @contextmanager
    def atomic(self, workspace):
        """Count while the block lasts."""
        with self._store.atomic(workspace) as batch:
            self.open += 1
            try:
                yield batch
            finally:
                self.open -= 1


class WatchedEmbedder(HashingEmbedder):
    """A provider that remembers what it was asked for, and what of it while a transaction of a store was open."""

    def __init__(self, store):
        super().__init__(64)
        self._store = store
        self.texts = []
        self.in_transaction = []

    def embed_batch(self, texts):
        """Remember the texts, then embed them."""
        self.texts += texts
        self.in_transaction += texts if self._store.open else ()
        return super().embed_batch(texts)
