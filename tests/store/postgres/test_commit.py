from concurrent.futures import ThreadPoolExecutor

from tests.write.committing import Committing

from weftwork.store.contract.kit import opened
from weftwork.store.contract.threads import places, threads_of


class TestOnPostgres(Committing):
    """As on SQLite."""


def test_messages_posted_by_two_stores_at_the_same_time_have_a_total_order(store, traced):
    opened(store)
    here, there = threads_of(store), threads_of(traced[0])
    thread = here.create("Busy").id
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: (here, there)[number % 2].post(thread, "Same."), range(20)))
    assert places(there, thread) == list(range(1, 21))
