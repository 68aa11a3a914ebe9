from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork.errors import DimensionError
from weftwork.store.index.nearest import Effort
from weftwork.store.index.rows import Scope
from weftwork.store.index.vectors import VectorIndex
from weftwork.types import Filters

from .vector_rows import DIMENSIONS, PUBLIC, SECRET, SEES_PUBLIC, brute_force, query, row, vectors

TINY = Effort(exact=10, shortlist=8, share=1_000, per_result=1)
"""So little effort that a search of a few rows goes by sign bits."""


def empty(effort=None, dimensions=DIMENSIONS):
    return VectorIndex(None, model="test", dimensions=dimensions, effort=effort)


def index_of(rows, seed=0, effort=None):
    index = empty(effort)
    index.apply(1, [], rows, vectors(rows, seed))
    return index


def keys(hits):
    return [key for key, _ in hits]


# The nearest rows


@pytest.mark.parametrize("count", [1, 5, 400])
@pytest.mark.parametrize("limit", [1, 10, 1_000])
def test_up_to_the_switch_over_a_search_finds_exactly_the_nearest(count, limit):
    rows = [row(key) for key in range(1, count + 1)]
    index, known = index_of(rows), vectors(rows)
    for seed in range(5):
        expected = brute_force(query(seed), rows, known, limit)
        found = index.search(query(seed), SEES_PUBLIC, limit=limit)
        assert keys(found) == keys(expected)
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=2e-6)


def test_above_the_switch_over_a_search_finds_the_nearest_of_those_with_the_nearest_signs():
    rows = [row(key) for key in range(1, 1_501)]
    known = vectors(rows)
    index = index_of(rows, effort=Effort(exact=100, shortlist=300))
    for seed in range(10):
        differing = {each.key: int(((known[each.digest] > 0) != (query(seed) > 0)).sum()) for each in rows}
        reach = sorted(differing.values())[299]
        shortlist = [each for each in rows if differing[each.key] <= reach]
        expected = keys(brute_force(query(seed), shortlist, known, 10))
        assert keys(index.search(query(seed), SEES_PUBLIC, limit=10)) == expected


def test_above_the_switch_over_a_search_finds_nearly_all_of_the_nearest():
    topics = np.random.default_rng(1).standard_normal((40, 256)).astype(np.float32)
    rows = [row(key) for key in range(1, 2_001)]
    noise = vectors(rows, dimensions=256)
    known = {each.digest: topics[each.key % 40] + noise[each.digest] for each in rows}
    index = empty(Effort(exact=100, shortlist=200), dimensions=256)
    index.apply(1, [], rows, known)
    found = 0
    for seed in range(10):
        asked = topics[seed] + query(seed, dimensions=256)
        best = set(keys(brute_force(asked, rows, known, 10)))
        found += len(best & set(keys(index.search(asked, SEES_PUBLIC, limit=10))))
    assert found >= 99


def test_a_narrow_filter_keeps_the_recall_of_the_shortlist():
    rows = [row(key, acl=PUBLIC if key % 10 == 0 else SECRET) for key in range(1, 2_001)]
    known = vectors(rows)
    index = index_of(rows, effort=Effort(exact=10, shortlist=100))
    visible = [each for each in rows if each.acl == PUBLIC]
    found = 0
    for seed in range(10):
        best = set(keys(brute_force(query(seed), visible, known, 10)))
        found += len(best & set(keys(index.search(query(seed), SEES_PUBLIC, limit=10))))
    # The hundred nearest of all 2,000 rows would hold four of each ten.
    assert found >= 95


def test_more_results_than_the_shortlist_is_long_are_found_when_asked_for():
    rows = [row(key) for key in range(1, 301)]
    index = index_of(rows, effort=TINY)
    assert len(index.search(query(), SEES_PUBLIC, limit=40, threshold=-1.0)) == 40
    assert len(index.search(query(), SEES_PUBLIC, limit=1_000, threshold=-1.0)) == 300


def test_rows_with_equal_vectors_come_in_the_order_of_their_keys():
    rows = [row(key, digest="same") for key in (5, 3, 9, 1)]
    for effort in (Effort(), replace(TINY, exact=1, shortlist=2)):
        index = empty(effort)
        index.apply(1, [], rows, {"same": query(1)})
        assert index.search(query(1), SEES_PUBLIC, limit=3) == [(1, 1.0), (3, 1.0), (5, 1.0)]


def test_rows_that_differ_by_less_than_a_score_shows_count_as_equal():
    rows = [row(key) for key in range(1, 301)]
    noise = vectors(rows)
    index = empty()
    index.apply(1, [], rows, {each.digest: query() + noise[each.digest] * np.float32(5e-4) for each in rows})
    assert index.search(query(), SEES_PUBLIC, limit=4) == [(1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0)]


def test_a_threshold_leaves_out_what_is_below_it_and_keeps_what_is_at_it():
    index = empty(dimensions=2)
    directions = {"digest 1": [1, 0], "digest 2": [0.6, 0.8], "digest 3": [0, 1], "digest 4": [-1, 0]}
    index.apply(1, [], [row(key) for key in (1, 2, 3, 4)], {k: np.array(v, np.float32) for k, v in directions.items()})
    asked = np.array([2, 0], np.float32)
    assert index.search(asked, SEES_PUBLIC, limit=9) == [(1, 1.0), (2, 0.6), (3, 0.0)]
    assert index.search(asked, SEES_PUBLIC, limit=9, threshold=0.6) == [(1, 1.0), (2, 0.6)]
    assert index.search(asked, SEES_PUBLIC, limit=9, threshold=-1.0)[-1] == (4, -1.0)


def test_an_empty_index_finds_nothing():
    assert empty().search(query(), SEES_PUBLIC, limit=5) == []
    assert empty().similarities(query(), [1, 2]) == {}
    assert index_of([row(1)]).search(query(), SEES_PUBLIC, limit=0, threshold=-1.0) == []


# Vectors that cannot be used


def test_rows_whose_vector_has_no_direction_are_never_found():
    index = empty()
    blank = np.zeros(DIMENSIONS, dtype=np.float32)
    index.apply(1, [], [row(1), row(2), row(3)], {"digest 1": blank, "digest 2": query(), "digest 3": blank * np.nan})
    assert keys(index.search(query(), SEES_PUBLIC, limit=9, threshold=-1.0)) == [2]
    assert index.search(blank, SEES_PUBLIC, limit=9, threshold=-1.0) == []
    assert index.similarities(blank, [2]) == {}


def test_rows_without_a_vector_are_skipped_and_the_change_still_counts():
    index = empty()
    index.apply(7, [], [row(1), row(2)], vectors([row(2)]))
    assert (len(index), index.seq) == (1, 7)


def test_a_vector_of_another_length_changes_nothing():
    index = index_of([row(1)])
    with pytest.raises(DimensionError, match=r"\(3,\).*\(24,\)"):
        index.apply(2, [1], [row(2), row(3)], {**vectors([row(2)]), "digest 3": np.ones(3, dtype=np.float32)})
    assert (index.seq, keys(index.search(query(), SEES_PUBLIC, limit=9, threshold=-1.0))) == (1, [1])


def test_a_question_of_another_length_is_refused():
    for ask in (lambda v: empty().search(v, SEES_PUBLIC, limit=1), lambda v: empty().similarities(v, [1])):
        with pytest.raises(DimensionError):
            ask(np.ones(DIMENSIONS + 1, dtype=np.float32))
        with pytest.raises(DimensionError):
            ask(np.ones((1, DIMENSIONS), dtype=np.float32))


def test_a_row_that_cannot_be_kept_changes_nothing():
    index = index_of([row(1)])
    broken = row(2, updated=2**70)
    with pytest.raises(OverflowError):
        index.apply(2, [1], [broken], vectors([broken]))
    assert (index.seq, len(index)) == (1, 1)


# Filters


def at(second):
    return datetime.fromtimestamp(second, UTC)


FILTERED = [
    row(1, type="note", tags=("x", "y"), updated=1_000_000, confidence=0.2, conversation="a"),
    row(2, type="page", tags=("y", "x", "z"), updated=2_000_000, confidence=0.7, conversation="b"),
    row(3, type="page", tags=("x",), updated=2_000_001, confidence=None, conversation=None),
    row(4, type="file", tags=(), updated=3_000_000, confidence=0.9, conversation="a", node=3),
    row(5, acl=SECRET, type="page", tags=("x", "y"), updated=2_000_000, confidence=1.0, conversation="a"),
]


@pytest.mark.parametrize("effort", [Effort(), replace(TINY, exact=0)], ids=["exact", "sign bits"])
@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(frozenset()), set()),
        (Scope(frozenset({99})), set()),
        (SEES_PUBLIC, {1, 2, 3, 4}),
        (Scope(frozenset({SECRET, 99})), {5}),
        (Scope(frozenset({PUBLIC, SECRET})), {1, 2, 3, 4, 5}),
        (replace(SEES_PUBLIC, filters=Filters(types=frozenset({"page"}))), {2, 3}),
        (replace(SEES_PUBLIC, filters=Filters(types=frozenset({"file", "note", "none"}))), {1, 4}),
        (replace(SEES_PUBLIC, filters=Filters(types=frozenset({"none"}))), set()),
        (replace(SEES_PUBLIC, filters=Filters(tags=frozenset({"x", "y"}))), {1, 2}),
        (replace(SEES_PUBLIC, filters=Filters(tags=frozenset({"x", "none"}))), set()),
        (replace(SEES_PUBLIC, filters=Filters(after=at(2))), {2, 3, 4}),
        (replace(SEES_PUBLIC, filters=Filters(before=at(2))), {1, 2}),
        (replace(SEES_PUBLIC, filters=Filters(after=at(2), before=at(2))), {2}),
        (replace(SEES_PUBLIC, filters=Filters(min_confidence=0.7)), {2, 4}),
        (replace(SEES_PUBLIC, filters=Filters(min_confidence=0.0)), {1, 2, 4}),
        (replace(SEES_PUBLIC, filters=Filters(conversation="a")), {1, 4}),
        (replace(SEES_PUBLIC, filters=Filters(conversation="none")), set()),
        (replace(SEES_PUBLIC, excluded=frozenset({3, 77})), {1, 2}),
        (replace(SEES_PUBLIC, filters=Filters(tags=frozenset({"x"}), after=at(2)), excluded=frozenset({3})), {2}),
    ],
)
@pytest.mark.parametrize("stored", [False, True], ids=["tail", "base"])
def test_a_search_stays_within_its_scope(scope, expected, effort, stored):
    index = index_of(FILTERED, effort=effort)
    if stored:
        index.checkpoint()
    assert set(keys(index.search(query(), scope, limit=9, threshold=-1.0))) == expected


def test_many_access_lists_are_told_apart():
    rows = [row(key, acl=key % 50) for key in range(1, 501)]
    index = index_of(rows)
    allowed = frozenset(range(0, 50, 3))
    found = index.search(query(), Scope(allowed), limit=1_000, threshold=-1.0)
    assert set(keys(found)) == {each.key for each in rows if each.acl in allowed}


# What is hidden influences nothing


@settings(deadline=None, max_examples=some(150))
@given(
    seed=st.integers(0, 10_000),
    visible=st.integers(1, 60),
    hidden=st.integers(0, 80),
    limit=st.integers(1, 12),
    checkpoints=st.booleans(),
)
def test_hidden_rows_change_no_byte_of_a_result(seed, visible, hidden, limit, checkpoints):
    shown = [row(key, acl=PUBLIC) for key in range(1, visible + 1)]
    secret = [row(key, acl=SECRET) for key in range(101, 101 + hidden)]
    known = vectors(shown + secret, seed)
    for each in secret[::2]:
        # Nearer to the question than anything that the viewer may see.
        known[each.digest] = query(seed) + known[each.digest] * np.float32(0.01)
    alone, together = empty(TINY), empty(TINY)
    alone.apply(1, [], shown, known)
    mixed = np.random.default_rng(seed).permutation(visible + hidden)
    for part in np.array_split(mixed, 3):
        together.apply(1, [], [(shown + secret)[i] for i in part], known)
        if checkpoints:
            together.checkpoint()
    ask = {"limit": limit, "threshold": -1.0}
    assert together.search(query(seed), SEES_PUBLIC, **ask) == alone.search(query(seed), SEES_PUBLIC, **ask)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 80), cuts=st.integers(1, 4), data=st.data())
def test_results_do_not_depend_on_the_order_of_rows_or_on_checkpoints(seed, count, cuts, data):
    rows = [row(key, digest=f"digest {key % 30}") for key in range(1, count + 1)]
    known = {each.digest: vectors([row(key % 30)])[f"digest {key % 30}"] for key, each in enumerate(rows, 1)}
    straight, other = empty(TINY), empty(TINY)
    straight.apply(1, [], rows, known)
    for part in np.array_split(data.draw(st.permutations(range(count))), cuts):
        other.apply(1, [], [rows[i] for i in part], known)
        if data.draw(st.booleans()):
            other.checkpoint()
    ask = {"limit": 7, "threshold": -1.0}
    assert other.search(query(seed), SEES_PUBLIC, **ask) == straight.search(query(seed), SEES_PUBLIC, **ask)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 60))
def test_similarities_are_the_numbers_that_a_search_gives(seed, count):
    rows = [row(key) for key in range(1, count + 1)]
    index = index_of(rows[::2], seed, TINY)
    index.checkpoint()
    index.apply(2, [], rows[1::2], vectors(rows, seed))
    found = index.search(query(seed), SEES_PUBLIC, limit=count, threshold=-1.0)
    assert index.similarities(query(seed), [*range(-3, count + 50)]) == dict(found)


# Changes


def test_removing_a_node_removes_all_its_rows():
    rows = [row(1, node=7), row(2, node=8), row(3, node=7), row(4, node=9)]
    index = index_of(rows)
    index.apply(2, [7, 1_000], [], {})
    assert keys(index.search(query(), SEES_PUBLIC, limit=9, threshold=-1.0)) == keys(
        index_of([rows[1], rows[3]]).search(query(), SEES_PUBLIC, limit=9, threshold=-1.0)
    )
    assert index.similarities(query(), [1, 3]) == {}
    assert len(index) == 2


def test_a_node_that_is_written_again_has_its_new_rows_only():
    index = index_of([row(1, node=7), row(2, node=7)])
    index.checkpoint()
    for seq in (2, 3, 4):
        again = [row(2, node=7, acl=SECRET), row(10 * seq, node=7)]
        index.apply(seq, [7], again, vectors(again, seed=seq))
        assert keys(index.search(query(), SEES_PUBLIC, limit=9, threshold=-1.0)) == [10 * seq]
        assert set(index.similarities(query(), range(100))) == {2, 10 * seq}


def test_a_row_with_a_known_key_replaces_it_even_if_its_node_was_not_removed():
    index = index_of([row(1), row(2)])
    index.checkpoint()
    for seed in (1, 2):
        index.apply(2, [], [row(1)], {"digest 1": query(seed)})
        assert index.search(query(seed), SEES_PUBLIC, limit=1) == [(1, 1.0)]
        assert len(index) == 2


def test_what_is_removed_no_longer_takes_a_place_on_the_shortlist():
    near = [row(key, digest="near") for key in range(100, 200)]
    far = [row(key) for key in range(1, 40)]
    known = {**vectors(far), "near": query()}
    index = empty(TINY)
    index.apply(1, [], near + far, known)
    index.apply(2, [each.node for each in near], [], {})
    fresh = empty(TINY)
    fresh.apply(1, [], far, known)
    assert index.search(query(), SEES_PUBLIC, limit=5) == fresh.search(query(), SEES_PUBLIC, limit=5) != []


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sets(st.integers(1, 8)), st.sets(st.integers(1, 8)), st.booleans()), max_size=12))
def test_any_sequence_of_changes_leaves_what_a_dictionary_would(changes):
    index, expected = empty(), {}
    for seq, (removed, added, checkpoint) in enumerate(changes, 1):
        rows = [row(100 * seq + node, node=node) for node in added]
        index.apply(seq, removed | added, rows, vectors(rows))
        expected = {node: key for node, key in expected.items() if node not in removed | added}
        expected |= {each.node: each.key for each in rows}
        if checkpoint:
            index.checkpoint()
    assert sorted(keys(index.search(query(), SEES_PUBLIC, limit=99, threshold=-1.0))) == sorted(expected.values())
    assert len(index) == len(expected)
    assert index.seq == len(changes)
