"""Two stores that differ only in what is hidden answer alike: SQLite here, PostgreSQL in `tests/store/postgres`.

`WEFTWORK_PAIRS=10000` compares so many pairs.
"""

import os
from itertools import count

from tests.depth import some

from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore

from .differential import ROUNDS, Pair

PAIRS = int(os.environ.get("WEFTWORK_PAIRS", some(300, part=30)))
FIRST = int(os.environ.get("WEFTWORK_PAIRS_FROM", "0"))
"""The seed of the first world."""


def compare(stores, pairs, first=FIRST):
    """Compare so many pairs, ten of each world."""
    for start in range(0, pairs, ROUNDS):
        seed = first + start // ROUNDS
        pair = Pair.make(seed, stores)
        for turn in range(min(ROUNDS, pairs - start)):
            pair.hide()
            if turn % 3 == 2:
                pair.change()
            bare, full = pair.answers()
            assert bare == full, f"world {seed}, pair {turn}"
        pair.close()


def test_stores_that_differ_only_in_what_is_hidden_answer_alike(folder):
    numbers, opened = count(), []

    def stores():
        for store in opened:
            assert store.check() == []
            store.close()
        opened[:] = [SqliteStore(folder / f"pair-{next(numbers)}.weft", clock=lambda: NOW) for _ in range(2)]
        return opened[0], opened[1]

    compare(stores, PAIRS)
    for store in opened:
        store.close()
