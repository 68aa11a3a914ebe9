"""Caches of embeddings: an LRU in memory, and the protocol of a persistent one. Importing it loads no numpy."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from weftwork.embed.protocol import Vector
from weftwork.errors import InvalidInput
from weftwork.identity import text_hash


def cache_key(digest: str, model: str) -> str:
    """The key of a text's hash in the memory cache."""
    return f"{model}:{digest}"


class VectorCache(Protocol):
    """A persistent cache, which a store implements."""

    def get_many(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """The cached vectors, by hash of text."""

    def put_many(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep these vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheConfig:
    """The most embeddings to cache in memory, and their time to live in seconds; None for ever."""

    max_size: int = 1000
    ttl: float | None = 3600


DEFAULT_CACHE = CacheConfig()


class EmbeddingCache:
    """An LRU in memory whose entries expire after `ttl` seconds."""

    def __init__(self, config: CacheConfig = DEFAULT_CACHE, *, clock: Callable[[], float] = time.monotonic) -> None:
        if config.max_size < 0:
            raise InvalidInput(f"max_size must be at least 0, not {config.max_size}")
        if config.ttl is not None and config.ttl <= 0:
            raise InvalidInput(f"ttl must be positive or None, not {config.ttl}")
        self._max_size = config.max_size
        self._ttl = config.ttl
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, Vector]] = OrderedDict()
        self._lock = threading.Lock()

    @staticmethod
    def generate_key(text: str, model: str) -> str:
        """The model's name and the hash of the text."""
        return cache_key(text_hash(text), model)

    def get(self, key: str) -> Vector | None:
        """The vector, read-only, or None if it is absent or expired."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            stored_at, vector = entry
            if self._ttl is not None and self._clock() - stored_at >= self._ttl:
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
            return vector

    def set(self, key: str, embedding: Vector | Sequence[float]) -> None:
        """Store a copy of the vector, as an array."""
        import numpy as np  # noqa: PLC0415 - importing this module loads no numpy

        copy = np.array(embedding, dtype=np.float32)
        copy.flags.writeable = False
        with self._lock:
            self._entries[key] = (self._clock(), copy)
            self._entries.move_to_end(key)
            while len(self._entries) > self._max_size:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._entries.clear()
