from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weftwork.embed.cache import EmbeddingCache, VectorCache, cache_key
from weftwork.embed.calling import ProviderCalls
from weftwork.embed.protocol import AnyProvider, EmbeddingProvider, Matrix, Vector
from weftwork.errors import DimensionError
from weftwork.identity import text_hash

LOCAL_MODELS = ("wordllama-", "hashing-")
"""Models that compute a query faster than a disk could remember it."""


def with_caches(
    provider: AnyProvider, lasting: VectorCache | None, cache: EmbeddingCache | None = None
) -> CachedEmbedder:
    """Put a cache in memory before a provider, and a lasting one unless it is faster than that."""
    local = provider.model.startswith(LOCAL_MODELS)
    return CachedEmbedder(provider, cache or EmbeddingCache(), None if local else lasting)


class CachedEmbedder:
    """Calls any provider only for texts that are in neither cache, once each."""

    def __init__(self, provider: AnyProvider, cache: EmbeddingCache, persistent: VectorCache | None = None) -> None:
        self._provider = provider
        self._calls = ProviderCalls(provider)
        self._cache = cache
        self._persistent = persistent

    @property
    def model(self) -> str:
        """The provider's name."""
        return self._provider.model

    @property
    def dimensions(self) -> int:
        """The provider's dimensions."""
        return self._provider.dimensions

    def embed(self, text: str) -> Vector:
        """The vector of one text."""
        row: Vector = self.embed_batch([text])[0]
        return row

    @property
    def provider(self) -> AnyProvider:
        """The provider behind the caches."""
        return self._provider

    def embed_query(self, text: str) -> Vector:
        """The vector of a question, where the provider tells questions from passages; else that of any text."""
        if not hasattr(self._provider, "embed_query"):
            return self.embed(text)
        digest, model = text_hash(text), f"{self.model}#query"
        vector = self._cache.get(cache_key(digest, model))
        if vector is None and self._persistent is not None:
            vector = self._persistent.get_many(model, [digest]).get(digest)
        if vector is None:
            vector = self._rows(list(self._calls.embed_query(text)))[0]
            if self._persistent is not None:
                self._persistent.put_many(model, {digest: vector})
        self._cache.set(cache_key(digest, model), vector)
        return vector

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        """Return one row per text: from memory, else from the store, else from the provider."""
        hashes = [text_hash(text) for text in texts]
        missing = dict(zip(hashes, texts, strict=True))
        vectors: dict[str, Vector] = {}
        for look_up in (self._remembered, self._stored, self._computed):
            vectors |= look_up(missing)
            missing = {digest: text for digest, text in missing.items() if digest not in vectors}
        return self._rows([vectors[digest] for digest in hashes])

    def _remembered(self, missing: Mapping[str, str]) -> dict[str, Vector]:
        cached = {digest: self._cache.get(cache_key(digest, self.model)) for digest in missing}
        return {digest: vector for digest, vector in cached.items() if vector is not None}

    def _stored(self, missing: Mapping[str, str]) -> dict[str, Vector]:
        if self._persistent is None or not missing:
            return {}
        return self._remember(self._persistent.get_many(self.model, list(missing)))

    def _computed(self, missing: Mapping[str, str]) -> dict[str, Vector]:
        if not missing:
            return {}
        vectors = dict(zip(missing, self._calls.embed_batch(list(missing.values())), strict=True))
        if self._persistent is not None:
            self._persistent.put_many(self.model, vectors)
        return self._remember(vectors)

    def _remember(self, vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        for digest, vector in vectors.items():
            self._cache.set(cache_key(digest, self.model), vector)
        return dict(vectors)

    def _rows(self, vectors: list[Vector]) -> Matrix:
        width = self.dimensions
        matrix = np.zeros((len(vectors), width), dtype=np.float32)
        for row, vector in enumerate(vectors):
            if vector.shape != (width,):
                raise DimensionError(
                    f"{self.model} has {width} dimensions, a cached vector {vector.shape}: clear the cache"
                )
            matrix[row] = vector
        return matrix


def query_vector(embedder: EmbeddingProvider, text: str) -> Vector:
    """The vector of a question by any provider: by its `embed_query` if it has one."""
    asked: Vector = getattr(embedder, "embed_query", embedder.embed)(text)
    return asked
