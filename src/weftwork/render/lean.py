"""A context or a delta as it is sent by default: its text once, and the sources of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weftwork.notebook import Displayed
from weftwork.types import Citation, Context, Ended, Excerpt, Form


@dataclass(frozen=True, slots=True)
class LeanCitation:
    """A passage of the text, by its id: its node, and the range of that node's characters."""

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
    source: str
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


@dataclass(frozen=True, slots=True, repr=False)
class LeanContext(Displayed):
    """A context without its trace, its pieces and the contents of its excerpts."""

    id: str
    query: str
    text: str
    tokens: int
    budget: int
    ended: Ended
    support: float | None
    truncated: bool
    sections: tuple[LeanSection, ...]
    overflow: tuple[LeanExcerpt, ...]
    """Documents that are named in one line each."""
    citations: tuple[LeanCitation, ...]
    warnings: tuple[str, ...]

    @property
    def excerpts(self) -> tuple[LeanExcerpt, ...]:
        """All excerpts, in the order of the text."""
        return tuple(excerpt for section in self.sections for excerpt in section.excerpts)


@dataclass(frozen=True, slots=True)
class LeanDelta:
    """A delta without its pieces and the fresh context."""

    since: str
    id: str
    """The id of the fresh context, to be named next time."""
    text: str
    tokens: int
    whole: bool
    """True if the text is the whole fresh context."""
    added: tuple[LeanExcerpt, ...]
    changed: tuple[LeanExcerpt, ...]
    replaced: Mapping[str, str]
    """For each changed excerpt that is cited by another id than before, the earlier id and the present one."""
    withdrawn: Mapping[str, str]
    """For each citation id that means nothing any more, the reason."""
    citations: tuple[LeanCitation, ...]
    """The passages of the excerpts that were added or changed; where the text is the whole context, all."""
    warnings: tuple[str, ...]


def lean(context: Context) -> LeanContext:
    """Return the context without trace, pieces and renderings."""
    return LeanContext(
        id=context.id,
        query=context.query,
        text=context.text,
        tokens=context.tokens,
        budget=context.budget,
        ended=context.ended,
        support=context.support,
        truncated=context.truncated,
        sections=tuple(
            LeanSection(section.name, section.tokens, lean_excerpts(section.excerpts)) for section in context.sections
        ),
        overflow=lean_excerpts(context.overflow),
        citations=lean_citations(context.citations),
        warnings=context.warnings,
    )


def lean_excerpts(excerpts: Iterable[Excerpt]) -> tuple[LeanExcerpt, ...]:
    """Return the excerpts without their contents."""
    return tuple(
        LeanExcerpt(
            document=excerpt.document.id,
            type=excerpt.document.type,
            title=excerpt.document.title,
            source=excerpt.document.source,
            form=excerpt.form,
            score=round(excerpt.score, 4),
            citations=tuple(dict.fromkeys(item.candidate.passage.citation for item in excerpt.items)),
        )
        for excerpt in excerpts
    )


def lean_citations(citations: Iterable[Citation]) -> tuple[LeanCitation, ...]:
    """Return the citations without what their excerpts say of them."""
    return tuple(LeanCitation(each.id, each.node, each.start, each.end) for each in citations)
