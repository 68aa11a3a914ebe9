"""The context for a research question: pages with numbered citations, within an exact budget."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weftwork.clock import system_clock
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput
from weftwork.faces.research.markdown import extract_page
from weftwork.faces.research.sources import PageReader, PageSource, SearchEngine, at_least_one, page_filter
from weftwork.faces.research.store import ID_MARK, WeftPages, WeftSearch
from weftwork.faces.research.values import PageNotFound, ResearchContext, SourceDocument
from weftwork.fit import Fitting, fit
from weftwork.identity import text_hash
from weftwork.pack import check_budget
from weftwork.query import read_query
from weftwork.recipe import get_recipe
from weftwork.render import Templates
from weftwork.render.items import ItemRenderer
from weftwork.render.quote import clean, inline
from weftwork.render.templates import Template
from weftwork.request import Request
from weftwork.score.ordering import with_descending_scores
from weftwork.text.tokens import TokenCounter, get_counter
from weftwork.types import PAGE, Budget, Candidate, Context, NodeInfo, Passage

TEMPLATE = Template(
    name="research",
    section="",
    item="[{{title}}]\n{{content}}",
    separator="\n\n",
    quote="escape",
    include_metadata=False,
)
LONGEST_NAME = 90
"""Characters of a file's name in a header, so that the number of the page behind it always stands there."""

# Anywhere in a line, since a list, a quotation or a table may stand before it; in linear time, since a page may be
# nothing but marks and line breaks.
_HEADER = re.compile(r"\[(?=[^\w\n\[]{0,20}document\b)", re.IGNORECASE)
_TURN = re.compile(r"^(?=[^\w\n]{0,20}(?:question|answer)\s{0,5}:)", re.IGNORECASE | re.MULTILINE)
"""What `ask` sets before the question itself."""


class ContextBuilder:
    """Builds contexts from what a search finds and a source of pages knows.

    Nothing is kept between calls: what a user may see is asked anew each time.
    """

    def __init__(
        self,
        search_engine: SearchEngine,
        chroma_client: PageSource,
        max_sources: int = 10,
        max_tokens: int = 10000,
        *,
        counter: TokenCounter | None = None,
    ) -> None:
        """`counter` counts tokens; exactly, as OpenAI's current models do, if none is given."""
        check_budget(Budget(total=max_tokens))
        self.search_engine = search_engine
        self.chroma_client = chroma_client
        self.max_sources = at_least_one("max_sources", max_sources)
        self.max_tokens = max_tokens
        self._counter = counter or get_counter("o200k_base")

    @classmethod
    def for_weft(
        cls,
        weft: Weft,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        max_sources: int = 10,
        max_tokens: int = 10000,
    ) -> ContextBuilder:
        """A builder on Weftwork's own store, for one user."""
        return cls(
            WeftSearch(weft, user=user, workspace=workspace),
            WeftPages(weft, user=user, workspace=workspace),
            max_sources,
            max_tokens,
            counter=weft.tools.counter,
        )

    async def build_context(
        self, query: str, num_results: int = 10, include_text: bool = True, include_visual: bool = True
    ) -> ResearchContext:
        """The pages that answer a question, numbered, the best first."""
        mode = {(True, True): "hybrid", (True, False): "text", (False, True): "visual"}.get(
            (bool(include_text), bool(include_visual))
        )
        if mode is None:
            raise InvalidInput("nothing is searched without text and without pictures: include one of them")
        at_least_one("num_results", num_results)
        results = await self.search_engine.search(query=query, num_results=num_results, search_mode=mode)
        best = self.deduplicate_results(results)[: min(num_results, self.max_sources)]
        sources = await self._sources(best)
        return self.fitted(sources, query=query)

    async def get_source_metadata(self, doc_id: str, page: int) -> SourceDocument:
        """All that is known of a page; raises a ValueError if there is no such page."""
        return await self._source(doc_id, page, _Documents(self.chroma_client))

    def format_source_citation(self, source: SourceDocument, citation_num: int) -> str:
        """`[Document 1: crisis.pdf, Page 3]` and the text of the page."""
        renderer = ItemRenderer(TEMPLATE, self._counter, lambda content, limit: (content, ""))
        return renderer.full(_candidate(source, citation_num)).text.removesuffix(TEMPLATE.separator)

    def deduplicate_results(self, results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Each page once, with its highest score, the best first; of equal ones the first comes first."""
        best: dict[tuple[str, int], dict[str, Any]] = {}
        for result in results:
            key, score = _identified(result)
            if key not in best or score > best[key]["score"]:
                best[key] = dict(result)
        return sorted(best.values(), key=lambda result: -result["score"])

    def truncate_to_budget(self, sources: Sequence[SourceDocument], max_tokens: int) -> list[SourceDocument]:
        """The first of these sources that fit, formatted, numbered and joined."""
        check_budget(Budget(total=max_tokens))
        return list(sources[: len(self._fit(sources, max_tokens, "").items)])

    def estimate_tokens(self, text: str) -> int:
        """How many tokens a text is; exact unless the builder was given another counter."""
        return self._counter.count(text)

    def fitted(self, sources: Sequence[SourceDocument], *, query: str = "") -> ResearchContext:
        """The context that the budget allows; if even the best source is too long, the part of it that answers."""
        context = self._fit(sources, self.max_tokens, query)
        if sources and not context.items:
            context = self._fit(sources[:1], self.max_tokens, query, packer="greedy")
        kept = tuple(sources[: len(context.items)])
        whole = len(kept) == len(sources) and all(item.rendering.form == "full" for item in context.items)
        return ResearchContext(context.text, kept, context.tokens, not whole, context)

    def _fit(self, sources: Sequence[SourceDocument], max_tokens: int, query: str, packer: str = "ranked") -> Context:
        recipe = replace(get_recipe("research"), template=TEMPLATE, packer=packer)
        ranked = with_descending_scores([_candidate(source, number) for number, source in enumerate(sources, start=1)])
        question = read_query(query, system_clock())
        # Each source is counted with the blank line behind it, which the last one does not have.
        for spare in (self._counter.count(TEMPLATE.separator), 0):
            request = Request(query=query, workspace="", user="", budget=Budget(total=max_tokens + spare))
            context = fit(Fitting(request, question, recipe, self._counter, Templates()), ranked, [])
            if context.tokens <= max_tokens:
                break
        return context

    async def _sources(self, results: Sequence[Mapping[str, Any]]) -> list[SourceDocument]:
        """The sources behind results, fetched side by side; a page that is gone by now is left out."""
        documents = _Documents(self.chroma_client)

        async def known(result: Mapping[str, Any]) -> SourceDocument | None:
            try:
                source = await self._source(result["doc_id"], result["page"], documents)
            except PageNotFound:
                return None
            return replace(source, relevance_score=min(1.0, max(0.0, float(result["score"]))))

        found = await asyncio.gather(*map(known, results))
        return [source for source in found if source is not None]

    async def _source(self, doc_id: str, page: int, documents: _Documents) -> SourceDocument:
        metadata, text = await asyncio.gather(documents.metadata(doc_id, page), documents.text(doc_id, page))
        return SourceDocument(
            doc_id=doc_id,
            filename=str(metadata.get("filename") or doc_id),
            page=page,
            extension=str(metadata.get("extension", "")),
            thumbnail_path=metadata.get("thumb_path"),
            image_path=metadata.get("image_path"),
            timestamp=str(metadata.get("timestamp", "")),
            section_path=metadata.get("section_path"),
            parent_heading=metadata.get("parent_heading"),
            markdown_content=text,
        )


@dataclass(frozen=True, slots=True)
class _Documents:
    """What one call asks of a source of pages: the text of a document is asked for once."""

    source: PageSource
    whole: dict[str, asyncio.Task[str | None]] = field(default_factory=dict)

    async def metadata(self, doc_id: str, page: int) -> Mapping[str, Any]:
        """What is known of a page."""
        found = await asyncio.to_thread(
            self.source.visual_collection.get, where=page_filter(doc_id, page), include=["metadatas"]
        )
        if not found["ids"]:
            raise PageNotFound(doc_id, page)
        metadata: Mapping[str, Any] = found["metadatas"][0]
        return metadata

    async def text(self, doc_id: str, page: int) -> str:
        """The text of a page; "" if it has none."""
        if isinstance(self.source, PageReader):
            return await self.source.get_page_markdown(doc_id, page) or ""
        if doc_id not in self.whole:
            self.whole[doc_id] = asyncio.ensure_future(self.source.get_document_markdown(doc_id))
        markdown = await self.whole[doc_id]
        return (extract_page(markdown, page) if markdown else None) or ""


def _identified(result: Mapping[str, Any]) -> tuple[tuple[str, int], float]:
    """Which page a result is, and its score."""
    doc_id, page, score = (result.get(name) for name in ("doc_id", "page", "score"))
    if not isinstance(doc_id, str) or not isinstance(page, int) or isinstance(page, bool):
        raise InvalidInput(f"a result needs a doc_id (text) and a page (number), got {doc_id!r} and {page!r}")
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise InvalidInput(f"the score of {doc_id!r} page {page} must be a number, got {score!r}")
    return (doc_id, page), float(score)


def _candidate(source: SourceDocument, number: int) -> Candidate:
    """A source as the pipeline packs and renders it; its header is the title, which content cannot forge."""
    text = _TURN.sub(r"\\", _HEADER.sub(r"\\[", clean(source.markdown_content)))
    name = inline(source.filename, LONGEST_NAME) or "untitled"
    title = f"Document {number}: {name}, Page {source.page}"
    node = NodeInfo(id=f"{source.doc_id}{ID_MARK}{source.page}", type=PAGE, title=title, source=source.filename)
    passage = Passage(0, 0, len(text), text, 0, text_hash(text), f"doc-{number}", -number)
    return Candidate(node=node, passage=passage, section="pages", findings=(), score=source.relevance_score)
