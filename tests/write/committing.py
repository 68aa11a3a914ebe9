"""The contract of `Writer` on any store, as a test class to inherit with a fixture `store`."""

import pytest
from tests.write.watching import WatchedEmbedder, WatchedStore

from weftwork.store.contract.kit import WORKSPACE, found, node, opened
from weftwork.text.tokens import CharacterCounter
from weftwork.write.commit import Writer


class _Writing(WatchedStore):
    """Writes nodes by the pipeline, and can have another writer come between two of its steps."""

    removed = ""
    """A node that goes right after it was asked which texts have a vector."""

    def __init__(self, store):
        super().__init__(store)
        self.embedder = WatchedEmbedder(self)
        self.writer = Writer(self, CharacterCounter(), self.embedder)

    def unchecked_vectors(self, workspace, model, digests):
        known = self._store.unchecked_vectors(workspace, model, digests)
        removed, self.removed = self.removed, ""
        if removed:
            with self._store.atomic(workspace) as batch:
                batch.remove([removed])
        return known

    def put(self, *nodes):
        entries = self.writer.prepare(nodes)
        with self.writer.transaction(WORKSPACE, entries) as transaction:
            transaction.batch.put(entries)
        return transaction.embedded


class Committing:
    def test_a_text_is_embedded_once_and_before_its_transaction_and_counted_each_time(self, store):
        writing = _Writing(opened(store))
        part = node("b", "birch", title="B", fields={"_about": "Trees"})
        assert writing.put(node("a", "amber"), part) == 2
        assert writing.put(node("a", "amber", tags=("new",)), node("c", "birch", title="B", fields=part.fields)) == 2
        assert (writing.embedder.texts, writing.embedder.in_transaction) == (["a\namber", "Trees > B\nbirch"], [])
        assert set(found(store, "Trees > B birch", by="vector")[:2]) == {"b", "c"}

    def test_a_vector_that_went_with_another_node_meanwhile_is_made_after_the_commit(self, store):
        writing = _Writing(opened(store))
        writing.put(node("a", "amber", title="t"))
        writing.removed = "a"
        assert writing.put(node("b", "amber", title="t")) == 1
        assert (writing.embedder.texts, writing.embedder.in_transaction) == (["t\namber"] * 2, [])
        assert found(store, "t amber", by="vector") == ["b"]

    def test_what_is_written_within_a_transaction_is_embedded_when_that_is_committed(self, store):
        writing = _Writing(opened(store))
        with writing.writer.transaction(WORKSPACE) as outer:
            assert writing.put(node("a", "amber")) == 1
            with pytest.raises(KeyError), writing.writer.transaction(WORKSPACE, writing.writer.prepare([node("b")])):
                raise KeyError
        assert outer.embedded == 1
        assert (writing.embedder.texts, writing.embedder.in_transaction) == (["a\namber"], [])
        assert found(store, "a amber", by="vector") == ["a"]

    def test_what_is_not_committed_is_not_embedded_afterwards(self, store):
        writing = _Writing(opened(store))
        with pytest.raises(KeyError), writing.writer.transaction(WORKSPACE):
            writing.put(node("a", "amber"))
            raise KeyError
        assert writing.embedder.texts == []
        assert writing.put(node("a", "amber")) == 1
