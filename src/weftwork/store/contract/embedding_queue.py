"""Texts that were added without a vector: each is given to one worker at a time, until it has one."""

from __future__ import annotations

import pytest

from weftwork.errors import NotFound
from weftwork.store.contract.kit import EMBEDDER, WORKSPACE, found, node, opened, put
from weftwork.store.protocol import Store
from weftwork.text.tokens import CharacterCounter
from weftwork.types import Node
from weftwork.write.embed import embed_waiting
from weftwork.write.prepare import prepare


def put_bare(store: Store, *nodes: Node) -> None:
    """Write nodes without vectors."""
    with store.atomic(WORKSPACE) as batch:
        batch.put([prepare(bare, CharacterCounter()) for bare in nodes])


class ClaimsContract:
    def test_what_has_no_vector_waits_and_is_found_by_words_meanwhile(self, store: Store) -> None:
        put(opened(store), node("a", "amber harbour"))
        put_bare(store, node("b", "birch harbour"), node("c", "cedar harbour"))
        assert store.waiting(WORKSPACE, EMBEDDER.model) == 2
        assert set(found(store, "harbour")) == {"a", "b", "c"}
        assert found(store, "birch harbour", by="vector") == ["a"]
        assert embed_waiting(store, EMBEDDER, WORKSPACE, limit=1) == 1
        assert embed_waiting(store, EMBEDDER, WORKSPACE) == 1
        assert embed_waiting(store, EMBEDDER, WORKSPACE) == 0
        assert store.waiting(WORKSPACE, EMBEDDER.model) == 0
        assert found(store, "b birch harbour", by="vector")[0] == "b"

    def test_a_text_that_stands_twice_is_embedded_once_and_is_the_same_as_if_it_had_been_at_once(
        self, store: Store
    ) -> None:
        opened(store)
        twice = [Node(id=name, title="same", text="the same text") for name in ("a", "b")]
        put_bare(store, *twice, node("c", "cedar", fields={"about": "else"}))
        with store.claim(WORKSPACE, EMBEDDER.model, 10) as texts:
            assert len(texts) == 2
        entries = [prepare(same, CharacterCounter()) for same in twice]
        assert entries[0].passages[0].digest in texts
        assert texts[entries[0].passages[0].digest] == "same\nthe same text"

    def test_vectors_are_counted_by_model_and_go_with_their_texts(self, store: Store) -> None:
        put(opened(store), node("a", "amber"), node("b", "birch"))
        assert store.vector_counts(WORKSPACE) == {EMBEDDER.model: 2}
        with store.claim(WORKSPACE, "another", 1) as texts, store.atomic(WORKSPACE) as batch:
            batch.put_vectors("another", {digest: EMBEDDER.embed(text) for digest, text in texts.items()})
        assert store.vector_counts(WORKSPACE) == {EMBEDDER.model: 2, "another": 1}
        with store.atomic(WORKSPACE) as batch:
            batch.remove(["a", "b"])
        assert not any(store.vector_counts(WORKSPACE).values())

    def test_what_a_worker_fails_at_waits_again(self, store: Store) -> None:
        opened(store)
        put_bare(store, node("a", "amber"))
        with pytest.raises(KeyError), store.claim(WORKSPACE, EMBEDDER.model, 10) as texts:
            raise KeyError
        assert store.waiting(WORKSPACE, EMBEDDER.model) == 1
        with store.claim(WORKSPACE, EMBEDDER.model, 10) as again:
            assert again == texts

    def test_each_model_has_its_own_and_what_is_removed_or_changed_is_not_embedded(self, store: Store) -> None:
        put(opened(store), node("a", "amber"), node("b", "birch"))
        assert store.waiting(WORKSPACE, "another") == 2
        put_bare(store, node("a", "ash"))
        with store.atomic(WORKSPACE) as batch:
            batch.remove(["b"])
        with store.claim(WORKSPACE, "another", 10) as texts:
            pass
        assert set(texts.values()) <= {"a\nash"}
        with store.claim(WORKSPACE, EMBEDDER.model, 10) as texts:
            assert list(texts.values()) == ["a\nash"]
        with pytest.raises(NotFound), store.claim("nowhere", EMBEDDER.model, 10):
            pass
