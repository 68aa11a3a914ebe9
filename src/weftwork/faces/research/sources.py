"""Protocols of the research contract: a search, and a source of pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Protocol, runtime_checkable

from weftwork.errors import InvalidInput, UnknownName
from weftwork.faces.research.values import ResearchContext, SourceDocument
from weftwork.render.quote import writable

LONGEST_NUMBER = 18
"""Characters of a page number that is given as text."""
MODES = ("text", "visual", "hybrid")


class SearchEngine(Protocol):
    """Finds pages."""

    async def search(
        self, query: str, num_results: int = 10, search_mode: str = "hybrid"
    ) -> Sequence[Mapping[str, Any]]:
        """Results with `doc_id`, `page`, `score` (0 to 1), `filename` and `metadata`; pages may repeat.

        A result may say in `collection` whether the "text" or the "visual" collection has it.
        """


class Collection(Protocol):
    """Metadata of pages, asked for as ChromaDB is."""

    def get(self, *, where: Any, include: Any) -> Mapping[str, Any]:
        """`ids` and `metadatas` of the matches."""


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


@runtime_checkable
class PageRecords(Protocol):
    """A source that has the text of pages apart from the Markdown of their document."""

    async def get_page_records(self, doc_id: str, page: int) -> str | None:
        """The text of one page, for documents whose Markdown is absent or does not tell pages apart."""


@runtime_checkable
class PageIndex(Protocol):
    """A search that has the pages as well, and makes contexts of them."""

    async def research(
        self, query: str, *, mode: str, num_results: int, limit: int, max_tokens: int
    ) -> ResearchContext:
        """The best `limit` pages of a search for `num_results`, as far as they fit."""

    async def source(self, doc_id: str, page: int) -> SourceDocument:
        """The text and metadata of a page; raises PageNotFound if there is no such page."""


def check_mode(mode: str) -> str:
    """The mode, if there is such a one."""
    if mode not in MODES:
        raise UnknownName("search mode", str(mode), MODES)
    return mode


def check_query(query: object) -> str:
    """The query, as text that can be looked up and printed."""
    if not isinstance(query, str):
        raise InvalidInput(f"the query must be text, got {query!r}")
    return writable(query)


def at_least_one(name: str, value: int) -> int:
    """The value, if it is a whole number that allows anything."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1, got {value!r}")
    return value


def page_key(doc_id: object, page: object) -> tuple[str, int]:
    """A document's id and the number of a page, which may be a whole number of any kind, or its digits."""
    if isinstance(page, str) and page.strip().isdecimal() and len(page) <= LONGEST_NUMBER:
        page = int(page)
    whole = isinstance(page, Integral) or (isinstance(page, Real) and float(page).is_integer())
    if not isinstance(doc_id, str) or not whole or isinstance(page, bool):
        raise InvalidInput(f"a page is named by a doc_id (text) and a number, got {doc_id!r} and {page!r}")
    return doc_id, int(page)  # type: ignore[call-overload]


def page_filter(doc_id: str, page: int) -> dict[str, Any]:
    """The condition that picks a page out of a collection."""
    return {"$and": [{"doc_id": {"$eq": doc_id}}, {"page": {"$eq": page}}]}
