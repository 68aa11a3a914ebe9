"""Searches and look-ups that collectors share run once."""

import pytest

from weftwork.collect import Inquiry, LexicalCollector, SemanticCollector, gather
from weftwork.collect.inquiry import FEWEST_HITS, MOST_HITS, depth_for
from weftwork.embed.hashing import HashingEmbedder
from weftwork.query import read_query
from weftwork.request import Request
from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, node, put
from weftwork.types import Budget


class CountingEmbedder:
    """Counts how often it is asked."""

    def __init__(self):
        self._inner = HashingEmbedder(EMBEDDER.dimensions)
        self.model, self.dimensions, self.asked = self._inner.model, self._inner.dimensions, 0

    def embed(self, text):
        self.asked += 1
        return self._inner.embed(text)

    def embed_batch(self, texts):
        return self._inner.embed_batch(texts)


def test_the_query_is_embedded_once_for_all_collectors(store):
    put(store, node("a", "violin"))
    embedder = CountingEmbedder()
    request = Request(query="violin", workspace=WORKSPACE, user="ana", budget=Budget(total=9))
    with store.view(WORKSPACE, "ana") as view:
        inquiry = Inquiry(view, request, read_query("violin", NOW), NOW, embedder)
        gather(inquiry, [SemanticCollector(), LexicalCollector(), SemanticCollector(name="again")])
        assert inquiry.vector is not None
    assert embedder.asked == 1


def test_a_blank_query_is_neither_embedded_nor_searched(store):
    put(store, node("a", "violin"))
    embedder = CountingEmbedder()
    request = Request(query=" \n", workspace=WORKSPACE, user="ana", budget=Budget(total=9))
    with store.view(WORKSPACE, "ana") as view:
        inquiry = Inquiry(view, request, read_query(" \n", NOW), NOW, embedder)
        assert (inquiry.vector, inquiry.word_hits, inquiry.vector_hits) == (None, [], [])
    assert embedder.asked == 0


def _depth(store, budget, count, text, others=()):
    """The depth of the search, and the number of word hits."""
    put(store, *(node(f"n{place:03}", f"violin {text} {place}") for place in range(count)), *others)
    request = Request(query="violin", workspace=WORKSPACE, user="ana", budget=Budget(total=budget))
    with store.view(WORKSPACE, "ana") as view:
        inquiry = Inquiry(view, request, read_query("violin", NOW), NOW, EMBEDDER)
        inquiry.settle_depth()
        return inquiry.search_depth, len(inquiry.word_hits)


def test_searches_go_so_deep_that_they_offer_twice_what_fits(store):
    depth, found = _depth(store, 1000, 90, "said something of some length " * 3)
    length = 1.4 * 17
    assert depth == found
    assert 1.5 * depth * length == pytest.approx(2 * 1000, rel=0.5)


def test_a_small_budget_or_long_passages_need_few_hits(store):
    assert _depth(store, 100, 40, "said something " * 9) == (15, 15)


def test_where_the_hits_are_shorter_than_the_rest_the_search_goes_deeper(store):
    long = [node(f"long{place}", "Words about something else. " * 60) for place in range(60)]
    depth, found = _depth(store, 2000, 90, "", others=long)
    assert depth > 90 and found == 90


def test_no_budget_makes_a_search_endless():
    assert (depth_for(10**9, 1), depth_for(1, 10**6)) == (MOST_HITS, FEWEST_HITS)
