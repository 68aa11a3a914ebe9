"""Pages that do not come from Weftwork's store, through its composing, packing and rendering."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from weftwork.clock import system_clock
from weftwork.compose.offers import Offer, alone, offer
from weftwork.compose.ordering import with_descending_scores
from weftwork.compose.reading import Reading
from weftwork.faces.research.values import ResearchContext, SourceDocument
from weftwork.fit import Fitting, fit
from weftwork.identity import SHORT, citation_id, text_hash
from weftwork.query import read_query
from weftwork.recipe import get_recipe
from weftwork.render import ExcerptRenderer, Template, Templates, get_template
from weftwork.render.quote import plain
from weftwork.render.stretches import trim
from weftwork.request import Request
from weftwork.text.tokens import TokenCounter
from weftwork.types import PAGE, Candidate, FieldValue, Finding, Kind, Node, Passage

SECTION = "pages"
ID_MARK = "#page="
"""Stands between the id of a document and the number of a page in the id of that page."""
SIGNALS: Mapping[Kind, str] = {"vector": "page_meaning", "look": "page_look"}
"""The signal of the recipe "research" that a kind of finding stands for."""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page with the findings for it."""

    source: SourceDocument
    findings: tuple[Finding, ...] = ()


def fit_pages(
    pages: Sequence[FoundPage], request: Request, counter: TokenCounter, warnings: Iterable[str] = ()
) -> ResearchContext:
    """Fit the first of these pages into the budget; of one that is too long, the part that answers."""
    ranked = with_descending_scores([_candidate(page, number, counter) for number, page in enumerate(pages, start=1)])
    candidates = {candidate.key: candidate for candidate in ranked}
    fitting = Fitting(
        request,
        read_query(request.query, system_clock()),
        get_recipe("research"),
        counter,
        Templates(),
        load=lambda keys: {key: candidates[key] for key in keys},
    )
    context = fit(fitting, [_offer(candidate) for candidate in ranked], [])
    context = replace(context, warnings=(*warnings, *context.warnings))
    sources = [pages[excerpt.items[0].candidate.key - 1].source for excerpt in context.excerpts]
    return ResearchContext.from_context(context, sources, len(pages))


def format_page(source: SourceDocument, number: int, counter: TokenCounter) -> str:
    """A page as it stands in a context under this number."""
    template = _template()
    candidate = _candidate(FoundPage(source), number, counter)
    renderer = ExcerptRenderer(
        template, counter, load=lambda keys: {number: candidate}, truncate=lambda text, limit: (text, "")
    )
    return renderer.excerpt(_offer(candidate), [number], "hits", number).text.removesuffix(template.separator)


def _template() -> Template:
    return get_template(get_recipe("research").template)


def _offer(candidate: Candidate) -> Offer:
    return offer(SECTION, Reading(alone([candidate])), [candidate], whole=True)


def page_node(source: SourceDocument) -> Node:
    """A page of a document that is not in the store, as the store would have it."""
    values: dict[str, FieldValue] = {
        "filename": source.filename,
        "page": source.page,
        "extension": source.extension,
        "timestamp": source.timestamp,
        "image_path": source.image_path,
        "thumbnail_path": source.thumbnail_path,
        "section_path": source.section_path,
        "parent_heading": source.parent_heading,
    }
    return Node(
        id=f"{source.doc_id}{ID_MARK}{source.page}",
        type=PAGE,
        title=source.filename and f"{source.filename}, page {source.page}",
        text=source.markdown_content,
        position=source.page,
        fields={name: value for name, value in values.items() if value},
        source=source.filename,
    )


def _candidate(page: FoundPage, number: int, counter: TokenCounter) -> Candidate:
    """A page as one passage; its key is its number among those that were found."""
    source = page.source
    node, text = page_node(source), source.markdown_content
    passage = Passage(
        ordinal=0,
        start=0,
        end=len(text),
        text=text,
        tokens=counter.count(plain(trim(text), _template().guards)),
        digest=text_hash(text),
        citation=citation_id(node.id, text)[:SHORT],
        key=number,
    )
    signals = {SIGNALS[finding.kind]: finding.score for finding in page.findings if finding.kind in SIGNALS}
    return Candidate(
        node, passage, SECTION, page.findings, signals=signals, score=source.relevance_score, document=source.doc_id
    )
