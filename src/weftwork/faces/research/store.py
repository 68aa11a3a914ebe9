"""Weftwork's own store as a search and as a source of pages, for one user."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from weftwork.collect.pages import page_number
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput
from weftwork.faces.research.markdown import join_pages
from weftwork.faces.research.sources import at_least_one, check_mode
from weftwork.recipe import PAGES_BY_LOOK, PAGES_BY_TEXT, Recipe, get_recipe
from weftwork.score.pages import Best
from weftwork.store.protocol import View
from weftwork.types import PAGE, Budget, Candidate, Filters, Node, NodeInfo

UNBOUND = Budget(total=1_000_000_000)
"""A search is limited by its number of results; what fits is decided later."""
MOST_PAGES = 10_000
"""Pages of one document that are read together."""
ID_MARK = "#page="
"""Stands between the id of a document and the number of a page in the id of that page."""

_COLLECTORS = {"text": PAGES_BY_TEXT, "visual": PAGES_BY_LOOK, "hybrid": (*PAGES_BY_TEXT, *PAGES_BY_LOOK)}


@lru_cache(maxsize=64)
def research_recipe(mode: str, limit: int) -> Recipe:
    """The recipe "research", by one collection or by both, for so many pages."""
    recipe = get_recipe("research")
    hits = max(recipe.hits or 0, 2 * limit)
    return replace(recipe, collectors=_COLLECTORS[check_mode(mode)], order=Best(limit), hits=hits)


class WeftSearch:
    """Finds pages among those that one user may see."""

    def __init__(self, weft: Weft, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> None:
        self._weft = weft
        self._user = user
        self._workspace = workspace

    async def search(self, query: str, num_results: int = 10, search_mode: str = "hybrid") -> list[dict[str, Any]]:
        """The best pages, each once, made in a worker thread."""
        return await asyncio.to_thread(self.find, query, num_results, search_mode)

    def find(self, query: str, num_results: int = 10, search_mode: str = "hybrid") -> list[dict[str, Any]]:
        """The same, for callers that wait."""
        context = self._weft.context(
            query,
            user=self._user,
            workspace=self._workspace,
            budget=UNBOUND,
            recipe=research_recipe(check_mode(search_mode), at_least_one("num_results", num_results)),
            filters=Filters(types=frozenset({PAGE})),
        )
        return [_result(item.candidate) for item in context.items]


def _result(candidate: Candidate) -> dict[str, Any]:
    metadata = metadata_of(candidate.node)
    known = {name: metadata[name] for name in ("doc_id", "page", "filename")}
    return {**known, "score": candidate.score, "metadata": metadata}


def metadata_of(node: NodeInfo) -> dict[str, Any]:
    """What is known of a page, in the contract's names."""
    fields = node.fields
    name = str(fields.get("filename") or node.source or node.title)
    known = {
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
    return {name: value for name, value in known.items() if value is not None}


class WeftPages:
    """The pages that one user may see; every call reads the store as it is by then."""

    def __init__(self, weft: Weft, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> None:
        self._weft = weft
        self._user = user
        self._workspace = workspace

    @property
    def visual_collection(self) -> _Pages:
        """Metadata of pages, asked for as ChromaDB is."""
        return _Pages(self)

    async def get_document_markdown(self, doc_id: str) -> str | None:
        """The text of all visible pages of a document; None if there is none."""
        return await asyncio.to_thread(self._document, doc_id)

    async def get_page_markdown(self, doc_id: str, page: int) -> str | None:
        """The text of one page."""
        node = await asyncio.to_thread(self.page, doc_id, page)
        return None if node is None else node.text

    def page(self, doc_id: str, page: int) -> Node | None:
        """The node of a page, if this user may see it."""
        with self._weft.store.view(self._workspace, self._user) as view:
            found = view.nodes([f"{doc_id}{ID_MARK}{page}"]) or [
                node for node in _pages_of(view, doc_id) if page_number(node) == page
            ]
        return next((node for node in found if node.type == PAGE), None)

    def _document(self, doc_id: str) -> str | None:
        with self._weft.store.view(self._workspace, self._user) as view:
            pages = _pages_of(view, doc_id)
        return join_pages({page_number(node): node.text for node in pages}) if pages else None


def _pages_of(view: View, doc_id: str) -> list[Node]:
    return view.nodes([node.id for node in view.children(doc_id, MOST_PAGES) if node.type == PAGE])


@dataclass(frozen=True, slots=True)
class _Pages:
    source: WeftPages

    def get(self, *, where: Any, include: Any = ()) -> Mapping[str, Any]:
        """The page that the condition names."""
        try:
            wanted = {name: value["$eq"] for part in where["$and"] for name, value in part.items()}
            doc_id, page = str(wanted["doc_id"]), int(wanted["page"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(
                f"pages are asked for by doc_id and page, got where={where!r}: use page_filter(doc_id, page)"
            ) from error
        node = self.source.page(doc_id, page)
        return {"ids": [], "metadatas": []} if node is None else {"ids": [node.id], "metadatas": [metadata_of(node)]}
