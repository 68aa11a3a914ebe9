"""A context as it is sent by default: its text, and where each part of it comes from, without repeating any of it."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.types import Context, Ended, Excerpt, Form


@dataclass(frozen=True, slots=True)
class LeanCitation:
    """A passage of the text, by its id: the node that it stands in, and which of that node's characters it is."""

    id: str
    node: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LeanExcerpt:
    """The part of one document that is shown."""

    document: str
    type: str
    title: str
    form: Form
    score: float
    citations: tuple[str, ...]
    """Ids of its passages, in the order of the text; the first stands in its heading."""


@dataclass(frozen=True, slots=True)
class LeanSection:
    """A part of the context with its excerpts, in the order of the text."""

    name: str
    tokens: int
    excerpts: tuple[LeanExcerpt, ...]


@dataclass(frozen=True, slots=True)
class LeanContext:
    """A context without the account of how it was made."""

    id: str
    query: str
    text: str
    tokens: int
    budget: int
    ended: Ended
    truncated: bool
    sections: tuple[LeanSection, ...]
    overflow: tuple[LeanExcerpt, ...]
    """Documents that are named in one line each."""
    citations: tuple[LeanCitation, ...]
    warnings: tuple[str, ...]


def lean(context: Context) -> LeanContext:
    """The context without trace, pieces and renderings."""
    return LeanContext(
        id=context.id,
        query=context.query,
        text=context.text,
        tokens=context.tokens,
        budget=context.budget,
        ended=context.ended,
        truncated=context.truncated,
        sections=tuple(
            LeanSection(each.name, each.tokens, tuple(_excerpt(excerpt) for excerpt in each.excerpts))
            for each in context.sections
        ),
        overflow=tuple(_excerpt(excerpt) for excerpt in context.overflow),
        citations=tuple(LeanCitation(each.id, each.node, each.start, each.end) for each in context.citations),
        warnings=context.warnings,
    )


def _excerpt(excerpt: Excerpt) -> LeanExcerpt:
    document = excerpt.document
    cited = tuple(dict.fromkeys(item.candidate.passage.citation for item in excerpt.items))
    return LeanExcerpt(document.id, document.type, document.title, excerpt.form, round(excerpt.score, 4), cited)
