"""What collectors share is asked for once."""

from weft.collect import Inquiry, LexicalCollector, SemanticCollector, gather
from weft.embed.hashing import HashingEmbedder
from weft.query import read_query
from weft.request import Request
from weft.store.contract.kit import EMBEDDER, NOW, WORKSPACE, node, put
from weft.types import Budget


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
