"""What the research contract depends on: a search, and a place that knows pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from weftwork.errors import InvalidInput, UnknownName

MODES = ("text", "visual", "hybrid")


class SearchEngine(Protocol):
    """Finds pages."""

    async def search(
        self, query: str, num_results: int = 10, search_mode: str = "hybrid"
    ) -> Sequence[Mapping[str, Any]]:
        """Results with `doc_id`, `page`, `score` from 0 to 1, `filename` and `metadata`; a page may come twice."""


class Collection(Protocol):
    """Metadata of pages, asked for as ChromaDB is."""

    def get(self, *, where: Any, include: Any) -> Mapping[str, Any]:
        """`ids` and `metadatas` of what matches."""


class PageSource(Protocol):
    """Knows the metadata and the text of pages."""

    @property
    def visual_collection(self) -> Collection:
        """Metadata of pages."""

    async def get_document_markdown(self, doc_id: str) -> str | None:
        """The text of a whole document, in which `extract_page` finds the pages."""


@runtime_checkable
class PageReader(Protocol):
    """A source that need not read a whole document for one page of it."""

    async def get_page_markdown(self, doc_id: str, page: int) -> str | None:
        """The text of one page."""


def check_mode(mode: str) -> str:
    """The mode, if there is such a one."""
    if mode not in MODES:
        raise UnknownName("search mode", str(mode), MODES)
    return mode


def at_least_one(name: str, value: int) -> int:
    """The value, if it is a whole number that allows anything."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1, got {value!r}")
    return value


def page_filter(doc_id: str, page: int) -> dict[str, Any]:
    """The condition that picks a page out of a collection."""
    return {"$and": [{"doc_id": {"$eq": doc_id}}, {"page": {"$eq": page}}]}
