"""BM25 against numbers worked out by hand, and against tantivy's own."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tantivy import Document, Index, SchemaBuilder

from weftwork.text import bm25

CORPUS = [
    "wing wing flow",
    "wing flow flow shell pressure heat layer",
    "heat transfer in a thin shell",
    "flow",
    "boundary layer flow over a flat plate with heat transfer and pressure gradient",
    "lens of the eye",
    "heat heat heat heat wing",
]


def test_idf_is_that_of_the_formula():
    assert bm25.idf(10, 3) == pytest.approx(math.log(1 + 7.5 / 3.5))
    assert bm25.idf(10, 3) == pytest.approx(1.1451323)


def test_a_word_that_every_passage_contains_is_still_worth_something():
    assert 0 < bm25.idf(10, 10) < bm25.idf(10, 9)


def test_a_frequency_above_the_number_of_documents_does_not_break_the_logarithm():
    assert bm25.idf(0, 5) > 0


def test_score_is_that_worked_out_by_hand():
    # tf 2 in 4 words of average 8: 2.2 * 2 / (2 + 1.2 * (0.25 + 0.75 * 0.5)) = 4.4 / 2.75 = 1.6
    # tf 1:                         2.2 * 1 / (1 + 0.75) = 1.2571429
    score = bm25.score({"wing": 2.0, "flow": 1.0, "absent": 9.0}, ["wing", "flow", "wing", "x"], 8.0)

    assert score == pytest.approx(2.0 * 1.6 + 1.0 * 1.2571429)


def test_a_prefix_counts_every_word_that_begins_with_it():
    tokens = ["polici", "polic", "other", "x"]

    assert bm25.score({"polic*": 2.0}, tokens, 8.0) == pytest.approx(bm25.score({"a": 2.0}, ["a", "a", "b", "c"], 8.0))


def test_nothing_scores_nothing():
    assert bm25.score({}, ["a"], 5.0) == 0
    assert bm25.score({"a": 1.0}, [], 5.0) == 0
    assert bm25.score({"a": 1.0}, ["a"], 0.0) > 0


@given(
    st.dictionaries(st.sampled_from("abcd"), st.floats(0.001, 20), min_size=1),
    st.lists(st.sampled_from("abcdef"), max_size=200),
    st.floats(0.5, 500),
)
def test_a_score_never_reaches_the_ceiling(idfs, tokens, average):
    assert 0 <= bm25.score(idfs, tokens, average) < bm25.ceiling(idfs.values())


def test_levels_rise_with_frequency_and_fall_with_length():
    by_frequency = [bm25.level(count, 64) for count in range(1, 40)]
    by_length = [bm25.level(1, length) for length in range(1, 2000, 7)]

    assert by_frequency == sorted(by_frequency)
    assert by_length == sorted(by_length, reverse=True)
    assert {0, bm25.LEVELS - 1} <= {*by_frequency, *by_length}


def test_a_level_stands_for_the_impacts_that_it_holds():
    for count in range(1, 6):
        for length in range(10, 200, 10):
            exact = bm25.impact(count, length, 64)

            assert bm25.worth(bm25.level(count, length)) == pytest.approx(exact, rel=0.15)


@pytest.mark.parametrize("query", ["wing flow", "heat", "heat transfer pressure", "shell layer lens"])
def test_the_order_is_the_one_that_tantivy_finds(query):
    tokens = [text.split() for text in CORPUS]
    frequency = Counter(word for words in tokens for word in set(words))
    idfs = {word: bm25.idf(len(CORPUS), frequency[word]) for word in query.split()}
    average = sum(map(len, tokens)) / len(CORPUS)
    ours = {number: bm25.score(idfs, words, average) for number, words in enumerate(tokens)}

    theirs = _search_with_tantivy(query)

    assert {number: pytest.approx(score, rel=1e-4) for number, score in theirs.items()} == {
        number: score for number, score in ours.items() if score
    }


def _search_with_tantivy(query):
    builder = SchemaBuilder()
    builder.add_unsigned_field("number", fast=True)
    builder.add_text_field("body", tokenizer_name="whitespace")
    schema = builder.build()
    index = Index(schema)
    writer = index.writer(15_000_000, 1)
    for number, text in enumerate(CORPUS):
        writer.add_document(Document.from_dict({"number": number, "body": text}, schema))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    hits = searcher.search(index.parse_query(query, ["body"]), 20).hits
    numbers = searcher.fast_field_values("number", [address for _, address in hits])
    return {number: score for (score, _), number in zip(hits, numbers, strict=True)}
