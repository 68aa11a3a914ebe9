from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest

from weftwork.embed.cache import CacheConfig, EmbeddingCache
from weftwork.embed.protocol import Vector
from weftwork.errors import InvalidInput
from weftwork.identity import text_hash


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def vector(number: float) -> Vector:
    return np.full(2, number, dtype=np.float32)


def test_a_key_is_the_model_and_the_hash_of_the_text() -> None:
    digest = blake2b("héllo".encode(), digest_size=16).hexdigest()
    assert EmbeddingCache().generate_key("héllo", "m") == f"m:{digest}"
    assert text_hash("héllo") == digest


def test_texts_that_differ_only_in_a_lone_surrogate_have_different_hashes() -> None:
    assert len({text_hash("\ud800"), text_hash("\ud801"), text_hash("?")}) == 3


def test_an_absent_key_gives_none() -> None:
    assert EmbeddingCache().get("k") is None


def test_an_entry_lives_for_its_time_and_no_longer() -> None:
    clock = Clock()
    cache = EmbeddingCache(CacheConfig(ttl=10), clock=clock)
    cache.set("k", vector(1))
    clock.now = 9.9
    assert cache.get("k") is not None
    clock.now = 10
    assert cache.get("k") is None


def test_reading_does_not_lengthen_a_life_but_writing_does() -> None:
    clock = Clock()
    cache = EmbeddingCache(CacheConfig(ttl=10), clock=clock)
    cache.set("read", vector(1))
    cache.set("written", vector(1))
    clock.now = 6
    cache.get("read")
    cache.set("written", vector(2))
    clock.now = 12
    assert cache.get("read") is None
    assert cache.get("written") is not None


def test_without_a_time_limit_entries_stay() -> None:
    clock = Clock()
    cache = EmbeddingCache(CacheConfig(ttl=None), clock=clock)
    cache.set("k", vector(1))
    clock.now = 1e9
    assert cache.get("k") is not None


def test_the_least_recently_used_entry_makes_room() -> None:
    cache = EmbeddingCache(CacheConfig(max_size=2))
    cache.set("a", vector(1))
    cache.set("b", vector(2))
    cache.get("a")
    cache.set("c", vector(3))
    assert [cache.get(key) is not None for key in "abc"] == [True, False, True]


def test_a_size_of_zero_keeps_nothing() -> None:
    cache = EmbeddingCache(CacheConfig(max_size=0))
    cache.set("k", vector(1))
    assert cache.get("k") is None


def test_clear_forgets_everything() -> None:
    cache = EmbeddingCache()
    cache.set("k", vector(1))
    cache.clear()
    assert cache.get("k") is None


def test_neither_side_can_change_what_is_kept() -> None:
    cache = EmbeddingCache()
    mine = vector(1)
    cache.set("k", mine)
    mine[0] = 5
    kept = cache.get("k")
    assert kept is not None
    assert kept.tolist() == [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 5


@pytest.mark.parametrize("options", [{"max_size": -1}, {"ttl": 0}, {"ttl": -5}])
def test_impossible_limits_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options))):
        EmbeddingCache(CacheConfig(**options))


def test_threads_never_exceed_the_size_nor_mix_up_vectors() -> None:
    cache = EmbeddingCache(CacheConfig(max_size=5))

    def work(number: int) -> bool:
        key = str(number % 9)
        cache.set(key, vector(number % 9))
        cached = cache.get(key)
        return cached is None or cached.tolist() == [number % 9] * 2

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(2000)))
    assert sum(cache.get(str(number)) is not None for number in range(9)) <= 5


def test_a_list_of_numbers_is_kept_as_an_array() -> None:
    cache = EmbeddingCache(CacheConfig(max_size=1))
    cache.set("k", [1.0, 2.0])
    kept = cache.get("k")
    assert kept is not None and kept.dtype == np.float32 and kept.tolist() == [1.0, 2.0]
