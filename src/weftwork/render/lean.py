"""A context as it is sent by default: its text once, and the sources of its parts."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.types import Context, Ended, Excerpt, Form


@dataclass(frozen=True, slots=True)
class LeanCitation:
    """A passage of the text by its id, with its node and its range of that node's characters."""

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
            LeanSection(section.name, section.tokens, tuple(_excerpt(excerpt) for excerpt in section.excerpts))
            for section in context.sections
        ),
        overflow=tuple(_excerpt(excerpt) for excerpt in context.overflow),
        citations=tuple(LeanCitation(cited.id, cited.node, cited.start, cited.end) for cited in context.citations),
        warnings=context.warnings,
    )


def _excerpt(excerpt: Excerpt) -> LeanExcerpt:
    document = excerpt.document
    cited = tuple(dict.fromkeys(item.candidate.passage.citation for item in excerpt.items))
    return LeanExcerpt(document.id, document.type, document.title, excerpt.form, round(excerpt.score, 4), cited)
