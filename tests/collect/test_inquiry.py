"""What collectors share is asked for once."""

from concurrent.futures import ThreadPoolExecutor

from weftwork.collect import Inquiry, LexicalCollector, SemanticCollector, depth_for, gather
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


def _depths(store, budget, count, text):
    """How many hits a search starts with, and ends with, and how many passages both searches found."""
    put(store, *(node(f"n{place:03}", f"violin {text} {place}") for place in range(count)))
    request = Request(query="violin", workspace=WORKSPACE, user="ana", budget=Budget(total=budget))
    with store.view(WORKSPACE, "ana") as view, ThreadPoolExecutor(1) as pool:
        inquiry = Inquiry(view, request, read_query("violin", NOW), NOW, EMBEDDER, depth_for(budget))
        before = inquiry.search_depth
        inquiry.start(pool)
        inquiry.deepen(pool)
        return before, inquiry.search_depth, len(inquiry.word_hits), len(inquiry.vector_hits)


def test_more_hits_are_read_where_passages_are_so_short_that_more_of_them_fit(store):
    before, after, words, vectors = _depths(store, 1000, 60, "")
    assert before == 15 < after == words == vectors <= 60


def test_no_more_hits_are_read_where_those_found_fill_the_budget(store):
    assert _depths(store, 300, 40, "") == (15, 15, 15, 15)
    assert _depths(store, 1000, 40, "said something of some length " * 10)[:2] == (15, 15)


def test_no_more_hits_are_asked_for_where_there_are_no_more(store):
    assert _depths(store, 1000, 5, "")[:3] == (15, 15, 5)
