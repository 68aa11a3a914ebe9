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
from typing import Any, TypeAlias

import numpy as np

from weftwork.collect import Found, Inquiry
from weftwork.embed.protocol import EmbeddingProvider, Matrix
from weftwork.embed.vectors import unit_rows
from weftwork.embed.visual import VisualEmbedder
from weftwork.errors import InvalidInput, MissingExtra, NotFound
from weftwork.faces.research.markdown import decompress, extract_page, join_pages, tells_pages
from weftwork.faces.research.pages import page_node
from weftwork.faces.research.sources import Collection, check_mode
from weftwork.faces.research.values import SourceDocument
from weftwork.types import Kind

VISUAL, TEXT = "visual_collection", "text_collection"
SPARE = 4
"""Records that are looked at for each result that is wanted: several may be of one page."""
KNOWN = "full_markdown_compressed"

Page = tuple[str, int]
ClientAPI: TypeAlias = Any
ChromaCollection: TypeAlias = Any
"""Chroma's own types, which are there only with the extra."""


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
        """The text of a whole document; if it has no page marks, that of the pages' text records."""
        return await asyncio.to_thread(self.markdown, doc_id)

    def markdown(self, doc_id: str) -> str | None:
        """The same, for callers that wait."""
        markdown = self._unpacked(doc_id)
        if markdown is not None and tells_pages(markdown):
            return markdown
        return join_pages(self._recorded(doc_id)) or markdown

    def _unpacked(self, doc_id: str) -> str | None:
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

    def _packed(self, doc_id: str) -> Iterator[str]:
        for collection in (self.visual, self.text):
            for limit in (1, None):  # one record is enough unless only others have a copy
                answer = collection.get(where={"doc_id": {"$eq": doc_id}}, include=["metadatas"], limit=limit)
                copies = (metadata.get(KNOWN) for metadata in answer["metadatas"] or ())
                yield from dict.fromkeys(str(packed) for packed in copies if packed)

    def _recorded(self, doc_id: str) -> dict[int, str]:
        """The text records of a document by page, in the order of the numbers in their ids."""
        answer = self.text.get(where={"doc_id": {"$eq": doc_id}}, include=["metadatas", "documents"])
        rows = zip(answer["ids"], answer["metadatas"] or (), answer["documents"] or (), strict=False)
        pages: dict[int, list[str]] = {}
        for _, metadata, text in sorted(rows, key=lambda row: _natural(row[0])):
            if text and isinstance(metadata.get("page"), int | float):
                pages.setdefault(int(metadata["page"]), []).append(text)
        return {page: "\n\n".join(texts) for page, texts in pages.items()}


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
        searches = [asyncio.to_thread(search, query, num_results) for search in self._searches(search_mode)]
        return _best_first(await asyncio.gather(*searches))

    def find(self, query: str, num_results: int = 10, search_mode: str = "hybrid") -> list[dict[str, Any]]:
        """The same, for callers that wait."""
        return _best_first([search(query, num_results) for search in self._searches(search_mode)])

    def _searches(self, mode: str) -> Iterator[Callable[[str, int], list[dict[str, Any]]]]:
        if check_mode(mode) == "visual" and self._visual is None:
            raise InvalidInput("a visual search needs an embedder of pages: give ChromaSearch visual=…")
        if mode != "visual":
            yield self._by_text
        if mode != "text" and self._visual is not None:
            yield partial(self._by_look, self._visual)

    def _by_text(self, query: str, limit: int) -> list[dict[str, Any]]:
        asked: Matrix = self._embedder.embed(query)[np.newaxis]
        return _ranked(asked, _near(self.pages.text, asked, limit), limit, "text")

    def _by_look(self, visual: VisualEmbedder, query: str, limit: int) -> list[dict[str, Any]]:
        """First the pages near any part of the query, then each of them in full."""
        asked = visual.embed_query(query)
        pages = list(_near(self.pages.visual, asked, limit))
        return _ranked(asked, _whole(self.pages.visual, pages), limit, "visual")


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

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Pages, the best first; one that both collections have is found twice."""
        query = inquiry.request.query
        if not query.strip():
            return []
        results = self.search.find(query, self.limit, self.mode)
        texts: dict[str, str] = {}
        for doc_id in dict.fromkeys(result["doc_id"] for result in results):
            try:
                texts[doc_id] = self.search.pages.markdown(doc_id) or ""
            except InvalidInput as error:
                inquiry.warnings.append(f"the pages of document {doc_id!r} are left out: {error}")
        pages = []
        for result in results:
            doc_id, page, collection, score = (result[name] for name in ("doc_id", "page", "collection", "score"))
            if doc_id not in texts:
                continue
            text = extract_page(texts[doc_id], page) or ""
            source = SourceDocument.from_metadata(result["metadata"], doc_id=doc_id, page=page, text=text)
            kind: Kind = "look" if collection == "visual" else "vector"
            pages.append(Found.unstored(page_node(source), score, f"{collection} search {score:.2f}", kind))
        return pages


def opened(client: ClientAPI, name: str) -> ChromaCollection:
    """A collection, without the embedding function that Chroma would otherwise load."""
    from chromadb.errors import NotFoundError  # noqa: PLC0415  (loaded with the client)

    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError as error:
        raise NotFound(f"the ChromaDB index has no collection {name!r}: name the one that it has") from error


def _best_first(rankings: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return sorted((result for results in rankings for result in results), key=lambda result: -result["score"])


def _natural(name: str) -> list[tuple[int, str]]:
    """A sort key by which chunk-2 comes before chunk-10."""
    return [(int(digits or 0), text) for text, digits in re.findall(r"(\D*)(\d{0,18})", name)]


class _Either:
    def __init__(self, first: ChromaCollection, second: ChromaCollection) -> None:
        self._collections = (first, second)

    def get(self, *, where: Any, include: Any) -> Mapping[str, Any]:
        """The matches in the first collection, or else in the second."""
        for collection in self._collections:
            answer: Mapping[str, Any] = collection.get(where=where, include=include)
            if answer["ids"]:
                break
        return answer


_Records = dict[Page, tuple[Mapping[str, Any], list[Any]]]
"""Metadata and vectors by page."""


def _near(collection: ChromaCollection, asked: Matrix, limit: int) -> _Records:
    """The records nearest to each part of a query, of at least `limit` pages if there are enough."""
    total, count = collection.count(), limit * SPARE
    if not total or not len(asked):
        return {}
    while True:
        answer = collection.query(
            query_embeddings=list(asked), n_results=min(count, total), include=["metadatas", "embeddings"]
        )
        rows = zip(answer["metadatas"] or (), answer["embeddings"] or (), strict=True)
        records = _by_page([pair for metadatas, vectors in rows for pair in zip(metadatas, vectors, strict=True)])
        if len(records) >= limit or count >= total:
            return records
        count *= SPARE


def _whole(collection: ChromaCollection, pages: Sequence[Page]) -> _Records:
    """All records of these pages."""
    records: _Records = {}
    for doc_id in dict.fromkeys(doc_id for doc_id, _ in pages):
        numbers = [page for other, page in pages if other == doc_id]
        answer = collection.get(
            where={"$and": [{"doc_id": {"$eq": doc_id}}, {"page": {"$in": list(numbers)}}]},
            include=["metadatas", "embeddings"],
        )
        vectors = answer["embeddings"]
        records |= _by_page(list(zip(answer["metadatas"] or (), () if vectors is None else vectors, strict=True)))
    return records


def _by_page(pairs: Sequence[tuple[Mapping[str, Any], Any]]) -> _Records:
    records: _Records = {}
    for metadata, vector in pairs:
        if not metadata.get("doc_id") or not isinstance(metadata.get("page"), int | float):
            continue  # written by something else: it names no page
        page = (str(metadata["doc_id"]), int(metadata["page"]))
        records.setdefault(page, (metadata, []))[1].append(vector)
    return records


def _ranked(asked: Matrix, records: _Records, limit: int, collection: str) -> list[dict[str, Any]]:
    """Pages by MaxSim, which for a query of one part is the cosine of the nearest record."""
    results = []
    for (doc_id, page), (metadata, vectors) in records.items():
        best = (unit_rows(np.stack(vectors)) @ asked.T).max(axis=0)
        shown = {name: value for name, value in metadata.items() if name != KNOWN}
        results.append(
            {
                "doc_id": doc_id,
                "page": page,
                "score": min(1.0, round(float(np.maximum(best, 0.0).mean()), 6)),
                "filename": metadata.get("filename", ""),
                "metadata": shown,
                "collection": collection,
            }
        )
    return sorted(results, key=lambda result: (-result["score"], result["doc_id"], result["page"]))[:limit]
