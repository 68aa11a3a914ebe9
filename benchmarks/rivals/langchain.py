"""LangChain: recursive splitter, in-memory vectors and BM25, joined by its ensemble retriever with equal weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.rivals.contestant import Piece, Ways

PACKAGES = ("langchain", "langchain-classic", "langchain-community", "langchain-text-splitters", "rank_bm25")


def build(documents: Sequence[Any], embedder: Any) -> Ways:
    """Index the texts."""
    from langchain_classic.retrievers import EnsembleRetriever  # noqa: PLC0415
    from langchain_community.retrievers import BM25Retriever  # noqa: PLC0415
    from langchain_core.documents import Document  # noqa: PLC0415
    from langchain_core.embeddings import Embeddings  # noqa: PLC0415
    from langchain_core.vectorstores import InMemoryVectorStore  # noqa: PLC0415
    from langchain_text_splitters import RecursiveCharacterTextSplitter  # noqa: PLC0415

    class Embedding(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return embedder.embed_batch(texts).tolist()

        def embed_query(self, text: str) -> list[float]:
            return embedder.embed(text).tolist()

    given = [Document(page_content=each.whole, metadata={"id": each.id}) for each in documents if each.whole.strip()]
    pieces = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200).split_documents(given)
    store = InMemoryVectorStore(Embedding())
    store.add_documents(pieces)
    words = BM25Retriever.from_documents(pieces)

    def ask(question: str, depth: int) -> list[Piece]:
        words.k = depth
        ways = [words, store.as_retriever(search_kwargs={"k": depth})]
        found = EnsembleRetriever(retrievers=ways, weights=[0.5, 0.5]).invoke(question)
        return [Piece(hit.metadata["id"], hit.page_content) for hit in found[:depth]]

    return Ways(ask)
