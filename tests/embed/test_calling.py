"""Providers of all kinds, behind the same cache."""

import asyncio
from typing import Any

import numpy as np
import pytest

from weftwork import Weft
from weftwork.embed.cache import EmbeddingCache
from weftwork.embed.cached import CachedEmbedder
from weftwork.embed.hashing import HashingEmbedder
from weftwork.errors import DimensionError, EmbeddingError
from weftwork.faces.memory import ContextEngine, ContextEngineConfig, Memories

TRUE = HashingEmbedder(16)
TEXTS = ["green tea", "a ship at sea"]


class Provider:
    model, dimensions = "own", 16


class Lists(Provider):
    def embed_batch(self, texts):
        return [TRUE.embed(text).tolist() for text in texts]


class Long(Provider):
    """Vectors that are not of length one."""

    def embed_batch(self, texts):
        return 7 * TRUE.embed_batch(texts).astype(np.float64)


class OneByOne(Provider):
    def embed(self, text):
        return tuple(TRUE.embed(text).tolist())


class Asynchronous(Provider):
    """Uses one event loop for all of its calls, as a client with open connections must."""

    def __init__(self):
        self.loops = set()

    async def embed_batch(self, texts):
        self.loops.add(id(asyncio.get_running_loop()))
        await asyncio.sleep(0)
        return [TRUE.embed(text).tolist() for text in texts]


class AsynchronousOneByOne(Provider):
    async def embed(self, text):
        return TRUE.embed(text)


@pytest.mark.parametrize("provider", [Lists(), Long(), OneByOne(), Asynchronous(), AsynchronousOneByOne()])
def test_lists_arrays_and_coroutines_give_the_same_vectors(provider):
    matrix = CachedEmbedder(provider, EmbeddingCache()).embed_batch(TEXTS)
    assert matrix.dtype == np.float32
    assert np.allclose(matrix, TRUE.embed_batch(TEXTS), atol=1e-6)


def test_an_asynchronous_one_is_awaited_on_one_loop_even_inside_of_another():
    provider = Asynchronous()
    embedder = CachedEmbedder(provider, EmbeddingCache())

    async def inside(text):
        return embedder.embed(text)

    for text in TEXTS:
        asyncio.run(inside(text))
    assert len(provider.loops) == 1


@pytest.mark.parametrize("provider", [Lists(), Asynchronous()])
def test_a_store_and_the_memory_engine_take_them(tmp_path, provider):
    with Weft.open(tmp_path / "own.weft", embedder=provider) as weft:
        for text in TEXTS:
            Memories(weft).remember(text)
        engine = ContextEngine(ContextEngineConfig(storage_client=weft, embedding_provider=provider))
        found = asyncio.run(engine.search_by_vector(TRUE.embed("tea").tolist(), "main"))
        assert found.ok and found.value[0].memory.content == "green tea"


def given(answer):
    provider: Any = Provider()
    provider.embed_batch = answer
    return CachedEmbedder(provider, EmbeddingCache())


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda texts: 1 / 0, EmbeddingError, "'own' failed with ZeroDivisionError: division by zero"),
        (lambda texts: None, EmbeddingError, "no vectors of numbers"),
        (lambda texts: [["a"] * 16 for _ in texts], EmbeddingError, "no vectors of numbers"),
        (lambda texts: [], EmbeddingError, "0 vectors for 2 texts"),
        (lambda texts: [[1.0] * 3 for _ in texts], DimensionError, r"16 dimensions, but its provider gave \(3,\)"),
        (lambda texts: [[float("nan")] * 16 for _ in texts], EmbeddingError, "not finite"),
    ],
)
def test_answers_that_cannot_be_used_are_refused(answer, error, message):
    with pytest.raises(error, match=message):
        given(answer).embed_batch(TEXTS)
