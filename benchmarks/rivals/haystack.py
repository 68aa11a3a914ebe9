"""Haystack: document splitter, in-memory BM25 and embedding retrievers, joined by reciprocal rank as it teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks.rivals.contestant import Piece, Ways

PACKAGES = ("haystack-ai",)


def build(documents: Sequence[Any], embedder: Any) -> Ways:
    """Index the texts."""
    from haystack import Document  # noqa: PLC0415
    from haystack.components.joiners import DocumentJoiner  # noqa: PLC0415
    from haystack.components.preprocessors import DocumentSplitter  # noqa: PLC0415
    from haystack.components.retrievers.in_memory import (  # noqa: PLC0415
        InMemoryBM25Retriever,
        InMemoryEmbeddingRetriever,
    )
    from haystack.document_stores.in_memory import InMemoryDocumentStore  # noqa: PLC0415

    given = [Document(content=each.whole, meta={"name": each.id}) for each in documents if each.whole.strip()]
    splitter = DocumentSplitter(split_by="word", split_length=200, split_overlap=20)
    splitter.warm_up()
    pieces = splitter.run(documents=given)["documents"]
    rows = embedder.embed_batch([piece.content or "" for piece in pieces])
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents([replace(piece, embedding=row.tolist()) for piece, row in zip(pieces, rows, strict=True)])
    words, meaning = InMemoryBM25Retriever(store), InMemoryEmbeddingRetriever(store)
    joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion")

    def ask(question: str, depth: int) -> list[Piece]:
        lists = [
            words.run(query=question, top_k=depth)["documents"],
            meaning.run(query_embedding=embedder.embed(question).tolist(), top_k=depth)["documents"],
        ]
        found = joiner.run(documents=lists, top_k=depth)["documents"]
        return [Piece(hit.meta["name"], hit.content or "") for hit in found]

    return Ways(ask)
