"""A ChromaDB index as a search and as a source of pages.

The layout is the research contract's: a visual and a text collection, in both of which each record names its `doc_id`
and `page` in its metadata, and the Markdown of the whole document, compressed, in `full_markdown_compressed`. A page
may have one record in the visual collection, or one for each of its vectors: they are compared by MaxSim either way.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from weftwork.collect import Found, Inquiry
from weftwork.embed.cached import query_vector
from weftwork.embed.protocol import EmbeddingProvider, Matrix
from weftwork.embed.vectors import unit_rows
from weftwork.embed.visual import VisualEmbedder
from weftwork.errors import InvalidInput, MissingExtra, NotFound
from weftwork.faces.research.markdown import Document, PageSplitter, decompress, split_pages
from weftwork.faces.research.nearest_pages import (
    ChromaCollection,
    Hit,
    Page,
    any_kind,
    nearest_pages,
    of_page,
    vectors_of,
)
from weftwork.faces.research.pages import page_node
from weftwork.faces.research.sources import Collection, check_mode
from weftwork.faces.research.values import SourceDocument
from weftwork.types import Kind

VISUAL, TEXT = "visual_collection", "text_collection"
CANDIDATES = 30
"""Pages that a visual search compares in full, if they are found within so many rounds; more if more are wanted."""
MOST_VECTORS = 10_000
"""Vectors after which a visual search compares the nearest one of each page that is left."""
FUSED = 2
"""Pages of each collection that a hybrid search ranks for each result that is wanted."""
DAMPING = 1
"""Added to ranks before they are compared (reciprocal rank fusion)."""
WEIGHTS = {"text": 1.0, "visual": 5.0}
"""Weights of the collections in a hybrid search, in the proportion that the recipe "research" has for them."""
SCANNED_AT_ONCE, MOST_SCANNED = 250, 2_000
"""Records of a document that are looked through for a copy of its Markdown, if the first has none."""
KNOWN = "full_markdown_compressed"

ClientAPI: TypeAlias = Any
"""Chroma's own type, which is there only with the extra."""


def connect(target: str) -> ClientAPI:
    """A client for a folder, or for a server at `http://host:port`."""
    try:
        import chromadb  # noqa: PLC0415  (an optional extra)
        from chromadb.config import Settings  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("chromadb", "chroma") from error
    quiet = Settings(anonymized_telemetry=False)
    if target.startswith(("http://", "https://")):
        return chromadb.HttpClient(host=target, settings=quiet)
    if not Path(target).is_dir():
        raise NotFound(f"there is no ChromaDB index in {target}: give the folder of one, or http://host:port")
    return chromadb.PersistentClient(path=target, settings=quiet)


class ChromaPages:
    """The pages of a ChromaDB index."""

    def __init__(self, client: ClientAPI, *, visual: str = VISUAL, text: str = TEXT) -> None:
        self.visual = opened(client, visual)
        self.text = opened(client, text)

    @property
    def visual_collection(self) -> Collection:
        """Metadata of pages; of those without a picture, from the text collection."""
        return _Either(self.visual, self.text)

    async def get_document_markdown(self, doc_id: str) -> str | None:
        """The text of a whole document; None if no record of it has a copy."""
        return await asyncio.to_thread(self.markdown, doc_id)

    async def get_page_records(self, doc_id: str, page: int) -> str | None:
        """The text of a page from its records in the text collection."""
        return await asyncio.to_thread(self.recorded, doc_id, page)

    def markdown(self, doc_id: str) -> str | None:
        """The first undamaged copy of a document's Markdown; each of its records may have one."""
        damage: InvalidInput | None = None
        for packed in self._packed(doc_id):
            try:
                return decompress(packed)
            except InvalidInput as error:
                damage = error
        if damage is not None:
            raise InvalidInput(f"the Markdown of document {doc_id!r} is damaged: index it again") from damage
        return None

    def recorded(self, doc_id: str, page: int) -> str | None:
        """The text records of a page, in the order of the numbers in their ids."""
        answer = self.text.get(where=of_page(doc_id, page), include=["documents"])
        rows = sorted(zip(answer["ids"], answer["documents"] or (), strict=False), key=lambda row: _natural(row[0]))
        return "\n\n".join(text for _, text in rows if text) or None

    def _packed(self, doc_id: str) -> Iterator[str]:
        """Copies of the Markdown: that of the first record, which is usually enough, then those of others."""
        seen: set[str] = set()
        for collection in (self.visual, self.text):
            offset, count = 0, 1
            while offset < MOST_SCANNED:
                answer = collection.get(
                    where={"doc_id": {"$eq": doc_id}}, include=["metadatas"], limit=count, offset=offset
                )
                copies = {str(metadata[KNOWN]): None for metadata in answer["metadatas"] or () if metadata.get(KNOWN)}
                yield from (packed for packed in copies if packed not in seen)
                seen.update(copies)
                if len(answer["ids"]) < count:
                    break
                offset, count = offset + count, SCANNED_AT_ONCE


class ChromaSearch:
    """Searches a ChromaDB index with Weftwork's embeddings, which must be those that it was made with."""

    def __init__(
        self, pages: ChromaPages, *, embedder: EmbeddingProvider, visual: VisualEmbedder | None = None
    ) -> None:
        self.pages = pages
        self._embedder = embedder
        self._visual = visual

    async def search(self, query: str, num_results: int = 10, search_mode: str = "hybrid") -> list[dict[str, Any]]:
        """The best of each collection that is searched, the best first; a page may be found in both."""
        depth = num_results if search_mode != "hybrid" else FUSED * num_results
        searches = [asyncio.to_thread(search, query, depth) for search in self._searches(search_mode)]
        return self._fused(await asyncio.gather(*searches), num_results)

    def find(self, query: str, num_results: int = 10, search_mode: str = "hybrid") -> list[dict[str, Any]]:
        """The same, for callers that wait."""
        depth = num_results if search_mode != "hybrid" else FUSED * num_results
        return self._fused([search(query, depth) for search in self._searches(search_mode)], num_results)

    def _searches(self, mode: str) -> Iterator[Callable[[str, int], list[dict[str, Any]]]]:
        if check_mode(mode) == "visual" and self._visual is None:
            raise InvalidInput("a visual search needs an embedder of pages: give ChromaSearch visual=…")
        if mode != "visual":
            yield self._by_text
        if mode != "text" and self._visual is not None:
            yield partial(self._by_look, self._visual)

    def _by_text(self, query: str, limit: int) -> list[dict[str, Any]]:
        """The pages of the nearest records, each with the metadata of the nearest."""
        asked: Matrix = query_vector(self._embedder, query)[np.newaxis]
        nearest = nearest_pages(self.pages.text, asked, limit)
        vectors = vectors_of(self.pages.text, [hit.record for hit in nearest.values()])
        return _ranked(asked, [(hit, vectors[hit.record][np.newaxis]) for hit in nearest.values()], limit, "text")

    def _by_look(self, visual: VisualEmbedder, query: str, limit: int) -> list[dict[str, Any]]:
        """First the pages near any part of the query, then all vectors of each of them."""
        asked, collection = visual.embed_query(query), self.pages.visual
        pages, taken = [], 0
        near = nearest_pages(collection, asked, limit, more=max(0, CANDIDATES - limit), vectors=MOST_VECTORS)
        for page, hit in near.items():
            rows = hit.rows
            if rows is None and taken < MOST_VECTORS:
                rows = np.asarray(collection.get(where=of_page(*page), include=["embeddings"])["embeddings"])
            if rows is not None:
                taken += len(rows)
                pages.append((hit, rows))
        whole = {hit.page for hit, _ in pages}
        rest = vectors_of(collection, [hit.record for page, hit in near.items() if page not in whole])
        pages += [(hit, rest[hit.record][np.newaxis]) for hit in near.values() if hit.record in rest]
        return _ranked(asked, pages, limit, "visual")

    def _fused(self, rankings: Sequence[list[dict[str, Any]]], limit: int) -> list[dict[str, Any]]:
        """One order of what several collections found: by reciprocal ranks, the scores of two being no measure.

        A page that only one collection has is taken to have the same rank in the other.
        """
        if len(rankings) < 2:
            return [result for ranking in rankings for result in ranking[:limit]]
        text, visual = ({_page_of(each): rank for rank, each in enumerate(results, start=1)} for results in rankings)
        # To look for a page in the other collection costs most: those that come too late even so are not looked up.
        waiting = [(-_share(text.get(page), visual.get(page), alone=True), page) for page in text | visual]
        heapify(waiting)
        shares: dict[Page, float] = {}
        looked_up = text.keys() & visual.keys()
        while waiting and len(shares) < limit:
            share, page = heappop(waiting)
            if page in looked_up:
                shares[page] = -share
                continue
            looked_up.add(page)
            other = self.pages.visual if page in text else self.pages.text
            alone = not other.get(where=of_page(*page), include=[], limit=1)["ids"]
            heappush(waiting, (-_share(text.get(page), visual.get(page), alone=alone), page))
        best = list(shares)
        merged = [
            {**result, "score": shares[_page_of(result)], "similarity": result["score"]}
            for ranking in rankings
            for result in ranking
            if _page_of(result) in shares
        ]
        return sorted(merged, key=lambda result: best.index(_page_of(result)))


def _share(text: int | None, visual: int | None, *, alone: bool) -> float:
    """The worth of a page by its ranks; one that stands `alone` in a collection has the same rank in the other."""
    first = text or visual
    ranks = {"text": text or (first if alone else None), "visual": visual or (first if alone else None)}
    worths = [WEIGHTS[name] * (1 + DAMPING) / (rank + DAMPING) for name, rank in ranks.items() if rank]
    return round(sum(worths) / sum(WEIGHTS.values()), 6)


@dataclass(frozen=True, slots=True)
class ChromaCollector:
    """Finds pages of a ChromaDB index for any recipe, beside those of the store.

    An index has no access lists: every user of this collector sees all of it.
    """

    search: ChromaSearch
    limit: int = 10
    mode: str = "hybrid"
    name: str = "chroma"
    section: str = "pages"
    split: PageSplitter = split_pages

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Pages, the best first; one that both collections have is found twice."""
        query = inquiry.request.query
        if not query.strip():
            return []
        results = self.search.find(query, self.limit, self.mode)
        index = self.search.pages
        documents: dict[str, Document] = {}
        for doc_id in dict.fromkeys(result["doc_id"] for result in results):
            try:
                documents[doc_id] = Document.split(index.markdown(doc_id), self.split)
            except InvalidInput as error:
                inquiry.warnings.append(f"the pages of document {doc_id!r} are left out: {error}")
        pages = []
        for result in results:
            doc_id, page, collection, score = (result[name] for name in ("doc_id", "page", "collection", "score"))
            if doc_id not in documents:
                continue
            text = documents[doc_id].page(page)
            if text is None:
                text = index.recorded(doc_id, page) or documents[doc_id].undivided(page)
            source = SourceDocument.from_metadata(result["metadata"], doc_id=doc_id, page=page, text=text)
            kind: Kind = "look" if collection == "visual" else "vector"
            score = result.get("similarity", score)  # the recipe has a fusion of its own
            pages.append(Found.unstored(page_node(source), score, f"{collection} search {score:.2f}", kind))
        return pages


def opened(client: ClientAPI, name: str) -> ChromaCollection:
    """A collection, without the embedding function that Chroma would otherwise load."""
    from chromadb.errors import NotFoundError  # noqa: PLC0415  (loaded with the client)

    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError as error:
        raise NotFound(f"the ChromaDB index has no collection {name!r}: name the one that it has") from error


def _natural(name: str) -> list[tuple[int, str]]:
    """A sort key by which chunk-2 comes before chunk-10."""
    return [(int(digits or 0), text) for text, digits in re.findall(r"(\D*)(\d{0,18})", name)]


class _Either:
    def __init__(self, first: ChromaCollection, second: ChromaCollection) -> None:
        self._collections = (first, second)

    def get(self, *, where: Any, include: Any) -> Mapping[str, Any]:
        """One match in the first collection, or else in the second: all records of a page say the same of it."""
        for collection in self._collections:
            answer: Mapping[str, Any] = collection.get(where=any_kind(where), include=include, limit=1)
            if answer["ids"]:
                break
        return answer


def _page_of(result: Mapping[str, Any]) -> Page:
    return result["doc_id"], result["page"]


def _ranked(asked: Matrix, pages: Iterable[tuple[Hit, Matrix]], limit: int, collection: str) -> list[dict[str, Any]]:
    """Pages by MaxSim, which for a query of one part is the cosine of the nearest record."""
    results = []
    for hit, vectors in pages:
        best = (unit_rows(vectors) @ asked.T).max(axis=0)
        shown = {name: value for name, value in hit.metadata.items() if name != KNOWN}
        doc_id, page = hit.page
        results.append(
            {
                "doc_id": doc_id,
                "page": page,
                "score": min(1.0, round(float(np.maximum(best, 0.0).mean()), 6)),
                "filename": hit.metadata.get("filename", ""),
                "metadata": shown,
                "collection": collection,
            }
        )
    return sorted(results, key=lambda result: (-result["score"], result["doc_id"], result["page"]))[:limit]
