"""The context for a research question: pages with numbered citations, within an exact budget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weftwork.collect import Collector
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput
from weftwork.faces.research.fetch import FetchedPages, deduplicate
from weftwork.faces.research.markdown import PageSplitter, split_pages
from weftwork.faces.research.pages import FoundPage, fit_pages, format_page
from weftwork.faces.research.settings import ResearchSettings
from weftwork.faces.research.sources import PageIndex, PageSource, SearchEngine, at_least_one, check_query, page_key
from weftwork.faces.research.store import WeftSearch
from weftwork.faces.research.values import ResearchContext, SourceDocument
from weftwork.pack import check_budget
from weftwork.request import Request
from weftwork.text.tokens import TokenCounter, get_counter
from weftwork.types import Budget

_MODES = {(True, True): "hybrid", (True, False): "text", (False, True): "visual"}


class ContextBuilder:
    """Builds contexts from what a search finds and a source of pages knows.

    Nothing is kept between calls: what a user may see is asked anew each time.
    """

    def __init__(
        self,
        search_engine: SearchEngine | PageIndex,
        chroma_client: PageSource | None,
        max_sources: int = 10,
        max_tokens: int = 10000,
        *,
        counter: TokenCounter | None = None,
        user: str = DEFAULT_USER,
        workspace: str = "",
        split: PageSplitter = split_pages,
    ) -> None:
        """`chroma_client` is None for a search that has the pages itself, such as `WeftSearch`.

        `counter` counts tokens; exactly, as OpenAI's current models do, if none is given. `user` and `workspace` are
        what contexts say of who asked and where; a search of one's own decides what that user may see. `split` tells
        the pages of a document's Markdown apart.
        """
        check_budget(Budget(total=max_tokens))
        self.max_sources = at_least_one("max_sources", max_sources)
        self.max_tokens = max_tokens
        self._counter = counter or get_counter("o200k_base")
        self._user, self._workspace = user, workspace
        self._index: PageIndex
        if chroma_client is not None:
            search: SearchEngine = search_engine  # type: ignore[assignment]
            self._index = FetchedPages(search, chroma_client, self._counter, user, workspace, split)
        elif isinstance(search_engine, PageIndex):
            self._index = search_engine
        else:
            named = type(search_engine).__name__
            raise InvalidInput(f"{named} finds pages and does not have them: give a source of pages too")

    @classmethod
    def for_weft(
        cls,
        weft: Weft,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        max_sources: int = 10,
        max_tokens: int = 10000,
        collectors: Iterable[Collector] = (),
        min_support: float | None = None,
    ) -> ContextBuilder:
        """A builder on Weftwork's own store, for one user; `collectors` and a configured index find pages beside it.

        Where nothing answers a question there are no sources: `min_support` says how little is enough, 0 for anything.
        """
        settings = weft.tools.settings.get("research")
        configured = settings.collectors(workspace) if isinstance(settings, ResearchSettings) else ()
        found_by = (*collectors, *configured)
        search = WeftSearch(weft, user=user, workspace=workspace, collectors=found_by, min_support=min_support)
        counter = weft.tools.counter
        return cls(search, None, max_sources, max_tokens, counter=counter, user=user, workspace=workspace)

    async def build_context(
        self, query: str, num_results: int = 10, include_text: bool = True, include_visual: bool = True
    ) -> ResearchContext:
        """The pages that answer a question, numbered, the best first."""
        mode = _MODES.get((bool(include_text), bool(include_visual)))
        if mode is None:
            raise InvalidInput("nothing is searched without text and without pictures: include one of them")
        return await self._index.research(
            check_query(query),
            mode=mode,
            num_results=at_least_one("num_results", num_results),
            limit=min(num_results, self.max_sources),
            max_tokens=self.max_tokens,
        )

    async def get_source_metadata(self, doc_id: str, page: int) -> SourceDocument:
        """The text and metadata of a page; raises a ValueError if there is no such page."""
        return await self._index.source(*page_key(doc_id, page))

    def format_source_citation(self, source: SourceDocument, citation_num: int) -> str:
        """`[Document 1: crisis.pdf, Page 3]` and the text of the page."""
        return format_page(source, citation_num, self._counter)

    def deduplicate_results(self, results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The pages, each once with its highest score, the best first; ties keep their order."""
        return deduplicate(results)

    def truncate_to_budget(self, sources: Sequence[SourceDocument], max_tokens: int) -> list[SourceDocument]:
        """The first of these sources that fit whole, formatted, numbered and joined."""
        check_budget(Budget(total=max_tokens))
        parts = [self.format_source_citation(source, number) for number, source in enumerate(sources, start=1)]

        def cost(count: int) -> int:
            return self.estimate_tokens("\n\n".join(parts[:count]))

        return list(sources[: bisect_right(range(1, len(parts) + 1), max_tokens, key=cost)])

    def estimate_tokens(self, text: str) -> int:
        """The tokens of a text; exact unless the builder was given another counter."""
        return self._counter.count(text)

    def fitted(self, sources: Sequence[SourceDocument], *, query: str = "") -> ResearchContext:
        """The context of these sources; if even the first is too long, the part of it that answers."""
        pages = [FoundPage(source) for source in sources]
        budget = Budget(total=self.max_tokens)
        request = Request(query=query, workspace=self._workspace, user=self._user, budget=budget)
        return fit_pages(pages, request, self._counter)
