"""Numbered sources from everything in a workspace: notes, chats, memories and documents alike."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from weftwork.collect import Collector
from weftwork.collect.inquiry import Inquiry
from weftwork.compose.offers import has_fields
from weftwork.compose.ordering import Order, Ordered, collapsed
from weftwork.engine import Weft
from weftwork.faces.research.builder import ContextBuilder
from weftwork.faces.research.settings import ResearchSettings
from weftwork.faces.research.sources import check_query
from weftwork.faces.research.store import matched_page, metadata_of
from weftwork.faces.research.values import ResearchContext, SourceDocument
from weftwork.recipe import Recipe
from weftwork.render import get_template
from weftwork.render.values import file_name
from weftwork.types import PAGE, Candidate, Decision, Excerpt

_TEMPLATE = replace(get_template("research"), name="sources", item="[Document {{number}}: {{about}}]\n{{content}}")


CHILDREN = 10
"""Sections below a title that are looked through for a text."""


@dataclass(frozen=True, slots=True)
class MostNodes:
    """An order that keeps the best nodes of another order: a page of a document, a section of a note."""

    limit: int
    order: Order

    def __call__(self, inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
        """The candidates of the first `limit` nodes."""
        ordered, left_out = self.order(inquiry, candidates)
        ordered, titles = _with_text(inquiry, ordered)
        left_out += [Decision.on(title, "dropped", "a title alone: what stands below it is shown") for title in titles]
        best = set(list(dict.fromkeys(candidate.node.id for candidate in ordered))[: self.limit])
        beyond = [candidate for candidate in ordered if candidate.node.id not in best]
        kept = [candidate for candidate in ordered if candidate.node.id in best]
        reason = f"not among the best {self.limit} sources"
        return kept, left_out + [Decision.on(candidate, "dropped", reason) for candidate in beyond]


def _with_text(inquiry: Inquiry, candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """The candidates, with the best section below each title that has no text in its place; and those titles."""
    below: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.passage.text.strip():
            below.setdefault(candidate.document, candidate)
    shown: dict[int, Candidate] = {}
    titles: list[Candidate] = []
    for candidate in candidates:
        section = None
        if not candidate.passage.text.strip() and not has_fields(candidate):
            section = below.get(candidate.node.id) or _first_below(inquiry, candidate)
        if section is not None:
            titles.append(candidate)
            section = replace(section, score=candidate.score)
        shown.setdefault((section or candidate).key, section or candidate)
    return list(shown.values()), titles


def _first_below(inquiry: Inquiry, title: Candidate) -> Candidate | None:
    """The first text right below a title, in its place."""
    as_of = inquiry.request.filters.as_of
    children = [child.id for child in inquiry.view.children(title.node.id, CHILDREN) if child.valid_at(as_of)]
    keys = inquiry.view.passages(children)
    for record in inquiry.load([key for child in children for key in keys.get(child, ())]):
        if record.passage.text.strip():
            return replace(title, node=record.node, passage=record.passage, trail=record.trail)
    return None


Mode = Literal["everything", "text", "visual", "hybrid"]
"""What is searched: everything, or the pages of documents by their text, their look, or both."""


def research(
    weft: Weft,
    query: str,
    *,
    mode: Mode = "everything",
    user: str,
    workspace: str,
    max_sources: int = 10,
    max_tokens: int = 10_000,
    min_support: float | None = None,
) -> ResearchContext:
    """The sources for a question, each page of a document or section of a note with a number to cite it by.

    Everything is what the default recipe finds.
    """
    if mode != "everything":
        builder = ContextBuilder.for_weft(
            weft,
            user=user,
            workspace=workspace,
            max_sources=max_sources,
            max_tokens=max_tokens,
            min_support=min_support,
        )
        return asyncio.run(builder.build_context(query, max_sources, mode != "visual", mode != "text"))
    settings = weft.tools.settings.get("research")
    configured = settings.collectors(workspace) if isinstance(settings, ResearchSettings) else ()
    recipe = _recipe(weft.tools.recipes.get("default"), max_sources, configured)
    request = weft.request(
        check_query(query), recipe, user=user, workspace=workspace, budget=max_tokens, min_support=min_support
    )
    context = weft.assemble(request, recipe)
    sources = [_source(excerpt, query) for excerpt in context.excerpts]
    return ResearchContext.from_context(context, sources, len(sources))


def _recipe(default: Recipe, limit: int, collectors: tuple[Collector, ...]) -> Recipe:
    order = MostNodes(limit, default.order or collapsed)
    found_by = (*default.collectors, *collectors)
    return replace(default, name="ask", collectors=found_by, template=_TEMPLATE, order=order, unit="node", lines=False)


def _source(excerpt: Excerpt, query: str) -> SourceDocument:
    """A source by its excerpt: the page of a document, or the section of a note, which has no page."""
    candidate = excerpt.items[0].candidate
    node = candidate.node
    if node.type == PAGE:
        return replace(matched_page(candidate, query), node_id=node.id)
    heading = f"# {node.title}\n\n" if node.title else ""
    source = SourceDocument.from_metadata(
        {**metadata_of(node), "filename": file_name(excerpt.document) or excerpt.document.id},
        doc_id=excerpt.document.id,
        page=0,
        text=heading + excerpt.content,
        score=excerpt.score,
    )
    return replace(source, node_id=node.id, section_path=node.title if candidate.document != node.id else None)
