"""Pages that a search engine finds and a page source knows: search, deduplicate, fetch, fit."""

from __future__ import annotations

import asyncio
import gzip
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from weftwork.errors import InvalidInput
from weftwork.faces.research.markdown import Document, PageSplitter, split_pages
from weftwork.faces.research.pages import FoundPage, fit_pages
from weftwork.faces.research.sources import PageReader, PageRecords, PageSource, SearchEngine, page_filter, page_key
from weftwork.faces.research.values import PageNotFound, ResearchContext, SourceDocument
from weftwork.request import Request
from weftwork.text.tokens import TokenCounter
from weftwork.types import Budget, Finding, Kind

PageKey = tuple[str, int]

ENOUGH = frozenset({"extension", "thumb_path", "timestamp"})
"""Metadata of a result with which the page source need not be asked for more."""
DAMAGED = (ValueError, EOFError, zlib.error, gzip.BadGzipFile)
"""The exceptions raised by reading damaged Markdown of a document."""


class UnreadableDocument(InvalidInput):
    """A document whose text is damaged."""


@dataclass(frozen=True, slots=True)
class FetchedPages:
    """The pages of a search engine and a page source, as one index."""

    search_engine: SearchEngine
    pages: PageSource
    counter: TokenCounter
    user: str
    workspace: str
    split: PageSplitter = split_pages

    async def research(
        self, query: str, *, mode: str, num_results: int, limit: int, max_tokens: int
    ) -> ResearchContext:
        """The best `limit` pages of a search for `num_results`, as far as they fit."""
        answer = await self.search_engine.search(query=query, num_results=num_results, search_mode=mode)
        warnings = dict[str, None]()
        results = _usable(answer, warnings)
        findings = _findings(results, mode)
        best = {page_key(result["doc_id"], result["page"]): result for result in deduplicate(results)[:limit]}
        documents = _Documents(self.pages, self.split)

        async def fetched(key: PageKey, result: Mapping[str, Any]) -> FoundPage | None:
            try:
                source = await documents.found(key, result)
            except UnreadableDocument as error:
                warnings[f"the pages of document {key[0]!r} are left out: {error}"] = None
                return None
            return None if source is None else FoundPage(source, findings[key])

        fetched_pages = await asyncio.gather(*(fetched(key, result) for key, result in best.items()))
        return await asyncio.to_thread(
            fit_pages,
            [page for page in fetched_pages if page is not None],
            Request(query=query, workspace=self.workspace, user=self.user, budget=Budget(total=max_tokens)),
            self.counter,
            warnings,
        )

    async def source(self, doc_id: str, page: int) -> SourceDocument:
        """The text and metadata of a page; raises PageNotFound if there is no such page."""
        documents = _Documents(self.pages, self.split)
        metadata, text = await asyncio.gather(documents.metadata(doc_id, page), documents.text(doc_id, page))
        if metadata is None:
            raise PageNotFound(doc_id, page)
        return SourceDocument.from_metadata(metadata, doc_id=doc_id, page=page, text=text)


def deduplicate(results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The pages, each once with its highest score, the best first; ties keep their order."""
    best: dict[PageKey, dict[str, Any]] = {}
    for result in map(_checked, results):
        key = (result["doc_id"], result["page"])
        if key not in best or result["score"] > best[key]["score"]:
            best[key] = result
    return sorted(best.values(), key=lambda result: -result["score"])


def _checked(result: Mapping[str, Any]) -> dict[str, Any]:
    """A search result with its page and its score as plain numbers; raises InvalidInput if it has none."""
    if not isinstance(result, Mapping):
        raise InvalidInput(f"a search result must be a mapping with doc_id, page and score, got {result!r}")
    doc_id, page = page_key(result.get("doc_id"), result.get("page"))
    score = result.get("score")
    if isinstance(score, bool) or not isinstance(score, Real) or not math.isfinite(score):
        raise InvalidInput(f"the score of {doc_id!r} page {page} must be a number, got {score!r}")
    if page < 1:
        raise InvalidInput(f"pages are counted from 1, got page {page} of {doc_id!r}")
    return {**result, "page": page, "score": float(score)}


def _usable(results: Iterable[Mapping[str, Any]], warnings: dict[str, None]) -> list[dict[str, Any]]:
    """The results that name a page and have a score; a warning for each of the others."""
    usable = []
    for result in results:
        try:
            usable.append(_checked(result))
        except InvalidInput as error:
            warnings[f"a search result is left out: {error}"] = None
    return usable


def _findings(results: Sequence[Mapping[str, Any]], mode: str) -> dict[PageKey, tuple[Finding, ...]]:
    """The findings of each page: one for each collection that results name, or else for the search."""
    collections: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        collections.setdefault(str(result.get("collection") or mode), []).append(result)
    findings: dict[PageKey, tuple[Finding, ...]] = {}
    for name, members in collections.items():
        for rank, result in enumerate(deduplicate(members), start=1):
            key, score = (result["doc_id"], result["page"]), result["score"]
            kind: Kind = "look" if name == "visual" else "vector"
            findings[key] = (*findings.get(key, ()), Finding(name, rank, score, f"{name} search {score:.2f}", kind))
    return findings


@dataclass(frozen=True, slots=True)
class _Documents:
    """The page source of one request, which reads and splits the text of a document once."""

    source: PageSource
    split: PageSplitter
    documents: dict[str, asyncio.Task[Document]] = field(default_factory=dict)

    async def found(self, key: PageKey, result: Mapping[str, Any]) -> SourceDocument | None:
        """The page that a result names; None if it is gone: neither metadata nor text is left of it."""
        named = {"filename": result["filename"]} if result.get("filename") else {}
        own_metadata = {**(result.get("metadata") or {}), **named}
        if named and own_metadata.keys() >= ENOUGH:
            metadata, text = None, await self.text(*key)
        else:
            metadata, text = await asyncio.gather(self.metadata(*key), self.text(*key))
        if not text and metadata is None:
            metadata = await self.metadata(*key)
            if metadata is None:
                return None
        merged = {**(metadata or {}), **own_metadata}
        return SourceDocument.from_metadata(merged, doc_id=key[0], page=key[1], text=text, score=result["score"])

    async def metadata(self, doc_id: str, page: int) -> Mapping[str, Any] | None:
        """The metadata of a page in the visual collection; None if it does not have it."""
        answer = await asyncio.to_thread(
            self.source.visual_collection.get, where=page_filter(doc_id, page), include=["metadatas"]
        )
        return answer["metadatas"][0] if answer["ids"] else None

    async def text(self, doc_id: str, page: int) -> str:
        """The text of a page; "" if it has none."""
        try:
            if isinstance(self.source, PageReader):
                return await self.source.get_page_markdown(doc_id, page) or ""
            if doc_id not in self.documents:
                self.documents[doc_id] = asyncio.ensure_future(self._read(doc_id))
            document = await self.documents[doc_id]
            text = document.page(page)
            if text is None and isinstance(self.source, PageRecords):
                text = await self.source.get_page_records(doc_id, page)
            return document.undivided(page) if text is None else text
        except DAMAGED as error:
            raise UnreadableDocument(str(error)) from error

    async def _read(self, doc_id: str) -> Document:
        return Document.split(await self.source.get_document_markdown(doc_id), self.split)
