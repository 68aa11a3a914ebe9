"""LlamaIndex: sentence splitter, vector index and BM25 retriever, fused by reciprocal rank as its guide recommends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.rivals.contestant import Piece, Ways

PACKAGES = ("llama-index-core", "llama-index-retrievers-bm25")


def build(documents: Sequence[Any], embedder: Any) -> Ways:
    """Index the texts."""
    from llama_index.core import Document, VectorStoreIndex  # noqa: PLC0415
    from llama_index.core.base.embeddings.base import BaseEmbedding  # noqa: PLC0415
    from llama_index.core.llms import MockLLM  # noqa: PLC0415
    from llama_index.core.node_parser import SentenceSplitter  # noqa: PLC0415
    from llama_index.core.retrievers import QueryFusionRetriever  # noqa: PLC0415
    from llama_index.retrievers.bm25 import BM25Retriever  # noqa: PLC0415

    class Embedding(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            return embedder.embed(query).tolist()

        def _get_text_embedding(self, text: str) -> list[float]:
            return embedder.embed(text).tolist()

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return embedder.embed_batch(texts).tolist()

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    given = [Document(text=each.whole, doc_id=each.id) for each in documents if each.whole.strip()]
    nodes = SentenceSplitter().get_nodes_from_documents(given)
    index = VectorStoreIndex(nodes, embed_model=Embedding(embed_batch_size=256))

    def ask(question: str, depth: int) -> list[Piece]:
        ways = [
            index.as_retriever(similarity_top_k=depth),
            keywords(depth),
        ]
        fused = QueryFusionRetriever(
            ways, llm=MockLLM(), similarity_top_k=depth, num_queries=1, mode="reciprocal_rerank", use_async=False
        )
        return [Piece(hit.node.ref_doc_id, hit.node.get_content()) for hit in fused.retrieve(question)]

    retrievers: dict[int, Any] = {}

    def keywords(depth: int) -> Any:
        if depth not in retrievers:
            retrievers[depth] = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=min(depth, len(nodes)))
        return retrievers[depth]

    keywords(100)  # its index belongs to building, not to the first question
    return Ways(ask)
