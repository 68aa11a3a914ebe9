"""Weftwork's own store as an index of pages, for one user."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from weftwork.collect import Collector
from weftwork.compose.ordering import Best
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.faces.research.pages import ID_MARK
from weftwork.faces.research.sources import at_least_one, check_mode, check_query
from weftwork.faces.research.values import PageNotFound, ResearchContext, SourceDocument
from weftwork.recipe import PAGES_BY_LOOK, PAGES_BY_TEXT, Recipe, get_recipe
from weftwork.render.values import file_name, page_number
from weftwork.request import Request
from weftwork.text.analysis import analyse
from weftwork.text.languages import language_of
from weftwork.text.outline import headings_of, sections
from weftwork.tools import DEFAULT_BUDGET
from weftwork.types import PAGE, Budget, Candidate, Filters, Node, NodeInfo

MOST_PAGES = 10_000
"""Pages of one document that are looked through for one with an id of another kind."""

_COLLECTORS = {"text": PAGES_BY_TEXT, "visual": PAGES_BY_LOOK, "hybrid": (*PAGES_BY_TEXT, *PAGES_BY_LOOK)}
_PAGES_ONLY = Filters(types=frozenset({PAGE}))


@lru_cache(maxsize=64)
def research_recipe(mode: str, limit: int) -> Recipe:
    """The recipe "research", by one collection or by both, for `limit` pages."""
    recipe = get_recipe("research")
    hits = max(recipe.hits or 0, 2 * limit)
    return replace(recipe, collectors=_COLLECTORS[check_mode(mode)], order=Best(limit), hits=hits)


class WeftSearch:
    """Finds pages among those that one user may see, and makes contexts of them."""

    def __init__(
        self,
        weft: Weft,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        collectors: Iterable[Collector] = (),
        min_support: float | None = None,
    ) -> None:
        """`collectors` find pages beside those of the store, such as `ChromaCollector`.

        `min_support` is the least support of a question with which pages are shown; None for the recipe's.
        """
        self._min_support = min_support
        self._weft = weft
        self._user = user
        self._workspace = workspace
        self._collectors = tuple(collectors)

    async def search(self, query: str, num_results: int = 10, search_mode: str = "hybrid") -> list[dict[str, Any]]:
        """The best pages, each once, made in a worker thread."""
        return await asyncio.to_thread(self.find, query, num_results, search_mode)

    def find(self, query: str, num_results: int = 10, search_mode: str = "hybrid") -> list[dict[str, Any]]:
        """The same, for callers that wait."""
        recipe = self._recipe(search_mode, at_least_one("num_results", num_results))
        return [_result(candidate) for candidate in self._weft.rank(self._request(query), recipe).candidates]

    async def research(
        self, query: str, *, mode: str, num_results: int, limit: int, max_tokens: int
    ) -> ResearchContext:
        """The best `limit` pages as far as they fit, from one snapshot."""
        recipe = self._recipe(mode, limit)
        context = await asyncio.to_thread(self._weft.assemble, self._request(query, max_tokens), recipe)
        best = [excerpt.items[0].candidate for excerpt in context.excerpts]
        sources = [matched_page(page, query) for page in best]
        unanswered = not sources and context.support is not None and context.support < self._least(recipe)
        return ResearchContext.from_context(context, sources, 0 if unanswered else min(limit, len(context.trace)))

    def _least(self, recipe: Recipe) -> float:
        return recipe.min_support if self._min_support is None else self._min_support

    async def source(self, doc_id: str, page: int) -> SourceDocument:
        """The text and metadata of a page; raises PageNotFound if there is none that this user may see."""
        node = await asyncio.to_thread(self._page, doc_id, page)
        if node is None:
            raise PageNotFound(doc_id, page)
        return replace(_source(node, node.text), doc_id=doc_id, page=page, node_id=node.id)

    def _recipe(self, mode: str, limit: int) -> Recipe:
        recipe = research_recipe(mode, limit)
        return replace(recipe, collectors=(*recipe.collectors, *self._collectors)) if self._collectors else recipe

    def _request(self, query: str, max_tokens: int = DEFAULT_BUDGET) -> Request:
        return Request(
            query=check_query(query),
            workspace=self._workspace,
            user=self._user,
            budget=Budget(total=max_tokens),
            filters=_PAGES_ONLY,
            min_support=self._min_support,
        )

    def _page(self, doc_id: str, page: int) -> Node | None:
        with self._weft.store.view(self._workspace, self._user) as view:
            nodes = view.nodes([f"{doc_id}{ID_MARK}{page}"])
            if not nodes:
                below = [node.id for node in view.children(doc_id, MOST_PAGES) if page_number(node) == page]
                nodes = view.nodes(below)
        return next((node for node in nodes if node.type == PAGE), None)


def _source(node: NodeInfo, text: str, score: float = 0.0) -> SourceDocument:
    metadata = metadata_of(node)
    return SourceDocument.from_metadata(
        metadata, doc_id=metadata["doc_id"], page=metadata["page"], text=text, score=score
    )


def matched_page(page: Candidate, query: str) -> SourceDocument:
    """A page with the label of the section that has most of the query's words, not of its first text."""
    node, text = page.node, page.passage.text
    language = language_of(text)
    words = set(analyse(query, language))
    path, levels = (str(node.fields.get(name) or "") for name in ("section_path", "section_levels"))
    best, most = headings_of(path, levels), 0
    for headings, content in sections(text, best):
        found = len(words.intersection(analyse(f"{headings[-1][1] if headings else ''}\n{content}", language)))
        if found > most:
            best, most = headings, found
    return replace(
        _source(node, text, page.score),
        section_path=" > ".join(title for _, title in best) or None,
        parent_heading=best[-1][1] if best else None,
        node_id=node.id if page.passage.key > 0 else None,
    )


def _result(candidate: Candidate) -> dict[str, Any]:
    metadata = metadata_of(candidate.node)
    key_values = {name: metadata[name] for name in ("doc_id", "page", "filename")}
    return {**key_values, "score": candidate.score, "metadata": metadata}


def metadata_of(node: NodeInfo) -> dict[str, Any]:
    """The metadata of a page, in the contract's names."""
    fields = node.fields
    name = file_name(node)
    values = {
        "doc_id": node.id.rpartition(ID_MARK)[0] or node.parent or node.id,
        "filename": name,
        "page": page_number(node),
        "extension": str(fields.get("extension") or name.rpartition(".")[2]),
        "timestamp": str(fields.get("timestamp") or (node.updated_at.isoformat() if node.updated_at else "")),
        "source_path": node.source,
        "image_path": fields.get("image_path"),
        "thumb_path": fields.get("thumbnail_path"),
        "section_path": fields.get("section_path"),
        "parent_heading": fields.get("parent_heading"),
        "num_headings": fields.get("headings", 0),
        "num_tables": fields.get("tables", 0),
        "num_pictures": fields.get("pictures", 0),
    }
    return {name: value for name, value in values.items() if value is not None}
