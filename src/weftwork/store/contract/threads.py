"""Threads: the order of messages that are posted at the same time, and who sees them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from weftwork.errors import NotFound
from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, opened
from weftwork.store.protocol import Store
from weftwork.text.tokens import CharacterCounter
from weftwork.write.commit import Writer
from weftwork.write.threads import Threads


def threads_of(store: Store) -> Threads:
    """The threads of a store whose clock stands still."""
    return Threads(store, Writer(store, CharacterCounter(), EMBEDDER), lambda: NOW, WORKSPACE, "ana")


def places(threads: Threads, thread: str) -> Sequence[int]:
    """The positions of the messages of a thread, in their order."""
    return [message.position for message in threads.messages(thread)]


class ThreadsContract:
    def test_messages_posted_at_the_same_time_have_a_total_order(self, store: Store) -> None:
        opened(store)
        threads = threads_of(store)
        thread = threads.create("Busy").id
        with ThreadPoolExecutor(8) as pool:
            # The same texts at the same moment: still forty messages, each pair side by side.
            pairs = list(pool.map(lambda _: threads.post(thread, "Same.", "Again."), range(20)))
        assert places(threads, thread) == list(range(1, 41))
        order = {message.id: message.position for message in threads.messages(thread)}
        assert sorted(order) == sorted(name for pair in pairs for name in pair)
        assert all(order[second] == order[first] + 1 for first, second in pairs)

    def test_a_thread_of_somebody_else_looks_absent(self, store: Store) -> None:
        opened(store, "ben")
        threads = threads_of(store)
        thread = threads.create("Private").id
        calls = (
            lambda name: threads.messages(name, user="ben"),
            lambda name: threads.references(name, user="ben"),
            lambda name: threads.post(name, "Hello.", user="ben"),
            lambda name: threads.reference(name, name, user="ben"),
            lambda name: threads.unreference(name, name, user="ben"),
            lambda name: threads.rename(name, "Mine", user="ben"),
            lambda name: threads.remove(name, user="ben"),
        )
        for call in calls:
            told = []
            for name in (thread, "nowhere"):
                with pytest.raises(NotFound) as refused:
                    call(name)
                told.append(str(refused.value).replace(name, "…"))
            assert told[0] == told[1]
        assert threads.list(user="ben") == []
        assert [node.title for node in threads.list()] == ["Private"]
