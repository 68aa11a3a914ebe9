from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from weftwork.store.index.columns import Columns, labelled, microseconds
from weftwork.store.index.labels import Labels, Vocabulary

from .vector_rows import row


def codes(*values):
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize("wanted", [[], [1], [0, 3], [0, 1, 2, 3, 4, 6]])
def test_a_mask_marks_the_rows_that_have_one_of_the_codes(wanted):
    column = codes(0, 1, 2, 3, 4, 5, 6, 0, 3)
    mask = labelled(column, Labels("abcdefg"), wanted)
    assert mask.tolist() == [code in wanted for code in column.tolist()]


def test_there_is_no_mask_where_every_label_is_wanted():
    assert labelled(codes(0, 1, 1), Labels("ab"), [1, 0]) is None


def test_a_label_that_was_added_meanwhile_does_not_open_the_others():
    assert labelled(codes(0, 1), Labels("ab"), [0, 2]).tolist() == [True, False]


def test_compacting_forgets_the_labels_that_no_row_has():
    labels, column = Labels("abcd").compacted(codes(3, 1, 3))
    assert labels.values == ("b", "d")
    assert column.tolist() == [1, 0, 1]


def test_compacting_no_rows_leaves_no_labels():
    labels, column = Labels("ab").compacted(codes())
    assert (labels.values, column.tolist()) == ((), [])


def test_a_vocabulary_survives_being_stored():
    vocabulary = Vocabulary()
    rows = [row(1, tags=("b", "a")), row(2, conversation="ü", type="page", acl=7), row(3, tags=("a", "b"))]
    columns = Columns.from_rows(rows, vocabulary)
    again = Vocabulary.from_json(vocabulary.to_json())
    assert again.tags.values == (frozenset("ab"), frozenset())
    assert again.conversation.values == (None, "ü")
    assert again.type.values == ("note", "page")
    assert again.acl.values == (1, 7)
    assert columns.tags.tolist() == [0, 1, 0]


def test_moments_are_exact_to_the_microsecond():
    moment = datetime(2262, 4, 11, 23, 47, 16, 854775, tzinfo=UTC)
    assert microseconds(moment) == 9_223_372_036_854_775
    assert microseconds(datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)) == -1


def test_a_moment_without_a_zone_is_in_utc():
    assert microseconds(datetime(1970, 1, 1, 2)) == 7_200_000_000
    assert microseconds(datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))) == 0
