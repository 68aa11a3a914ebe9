from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from weftwork.embed.cache import CacheConfig, EmbeddingCache
from weftwork.embed.cached import CachedEmbedder
from weftwork.embed.hashing import HashingEmbedder
from weftwork.embed.protocol import Matrix, Vector
from weftwork.errors import DimensionError
from weftwork.identity import text_hash


class Recorder(HashingEmbedder):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(8)
        self.asked: list[list[str]] = []

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        self.asked.append(list(texts))
        return super().embed_batch(texts)


class DictCache:
    """A lasting cache in a dictionary."""

    def __init__(self) -> None:
        self.vectors: dict[tuple[str, str], Vector] = {}

    def get_many(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        return {name: self.vectors[model, name] for name in hashes if (model, name) in self.vectors}

    def put_many(self, model: str, vectors: Mapping[str, Vector]) -> None:
        self.vectors |= {(model, name): vector for name, vector in vectors.items()}


def test_the_provider_is_asked_for_each_missing_text_once_and_rows_keep_their_order() -> None:
    provider = Recorder()
    embedder = CachedEmbedder(provider, EmbeddingCache())
    embedder.embed("b")
    matrix = embedder.embed_batch(["a", "b", "c", "a", "c"])
    assert provider.asked == [["b"], ["a", "c"]]
    assert matrix.tobytes() == HashingEmbedder(8).embed_batch(["a", "b", "c", "a", "c"]).tobytes()


def test_nothing_missing_asks_nobody() -> None:
    provider = Recorder()
    embedder = CachedEmbedder(provider, EmbeddingCache())
    embedder.embed_batch(["a", "b"])
    embedder.embed_batch(["b", "a"])
    assert embedder.embed_batch([]).shape == (0, 8)
    assert provider.asked == [["a", "b"]]


def test_a_batch_larger_than_the_cache_is_whole() -> None:
    texts = [f"text {number}" for number in range(20)]
    matrix = CachedEmbedder(HashingEmbedder(8), EmbeddingCache(CacheConfig(max_size=3))).embed_batch(texts)
    assert (matrix == HashingEmbedder(8).embed_batch(texts)).all()


def test_a_lasting_cache_spares_the_provider_after_a_restart() -> None:
    lasting = DictCache()
    CachedEmbedder(Recorder(), EmbeddingCache(), lasting).embed_batch(["a", "b"])
    provider = Recorder()
    embedder = CachedEmbedder(provider, EmbeddingCache(), lasting)
    matrix = embedder.embed_batch(["b", "new", "a"])
    assert provider.asked == [["new"]]
    assert (matrix == HashingEmbedder(8).embed_batch(["b", "new", "a"])).all()
    assert set(lasting.vectors) == {("hashing-8", text_hash(text)) for text in ["a", "b", "new"]}


def test_what_the_lasting_cache_gave_is_then_in_memory() -> None:
    lasting = DictCache()
    CachedEmbedder(Recorder(), EmbeddingCache(), lasting).embed("a")
    provider = Recorder()
    embedder = CachedEmbedder(provider, EmbeddingCache(), lasting)
    embedder.embed("a")
    lasting.vectors.clear()
    embedder.embed("a")
    assert provider.asked == []


def test_two_models_in_one_cache_do_not_mix() -> None:
    cache = EmbeddingCache()
    assert CachedEmbedder(HashingEmbedder(8), cache).embed("a").shape == (8,)
    assert CachedEmbedder(HashingEmbedder(16), cache).embed("a").shape == (16,)


def test_a_result_may_be_changed_without_harm_to_the_cache() -> None:
    embedder = CachedEmbedder(HashingEmbedder(8), EmbeddingCache())
    embedder.embed("a")[:] = 7
    assert (embedder.embed("a") == HashingEmbedder(8).embed("a")).all()


def test_a_stored_vector_of_the_wrong_length_is_an_error_not_a_broadcast() -> None:
    lasting = DictCache()
    lasting.put_many("hashing-8", {text_hash("a"): np.ones(1, dtype=np.float32)})
    with pytest.raises(DimensionError, match="hashing-8 has 8 dimensions"):
        CachedEmbedder(HashingEmbedder(8), EmbeddingCache(), lasting).embed("a")


def test_the_wrapper_bears_the_name_and_size_of_its_provider() -> None:
    embedder = CachedEmbedder(HashingEmbedder(8), EmbeddingCache())
    assert (embedder.model, embedder.dimensions) == ("hashing-8", 8)
