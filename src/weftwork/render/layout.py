"""Layout: the pieces of a context joined, deterministically."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from weftwork.render.quote import escape
from weftwork.render.templates import Template, substitute
from weftwork.text.tokens import TokenCounter
from weftwork.types import Excerpt, Piece, Section

_MOST_ITEMS = 999
_QUERY = "{{query}}"
_SEPARATOR = "separator"


def lay_out(sections: Sequence[Section], overflow: Sequence[Excerpt], template: Template, query: str) -> str:
    """The text of a context."""
    return "".join(piece.text for piece in _parts(sections, overflow, template, query))


def pieces_of(
    sections: Sequence[Section], overflow: Sequence[Excerpt], template: Template, query: str
) -> tuple[Piece, ...]:
    """The pieces that the text consists of, in their order; those of the same name have the same text."""
    return tuple(piece for piece in _parts(sections, overflow, template, query) if piece.text)


def overhead(
    template: Template, section_names: Iterable[str], query: str, has_overflow: bool, counter: TokenCounter
) -> int:
    """The most tokens that everything but the items can come to when these sections are open."""
    texts = [piece.text for slot in ("header", "footer") for piece in _around(template, slot, query)]
    for name in dict.fromkeys([*template.sections, *section_names]):
        texts.append(_heading(template, name, _MOST_ITEMS))
        if template.empty is not None:
            texts.append(template.empty + template.separator)
    if has_overflow:
        texts.append(template.overflow)
    return sum(counter.count(text) for text in texts if text)


def _parts(sections: Sequence[Section], overflow: Sequence[Excerpt], template: Template, query: str) -> Iterator[Piece]:
    yield from _around(template, "header", query)
    excerpts: dict[str, tuple[Excerpt, ...]] = dict.fromkeys(template.sections, ())
    for section in sections:
        excerpts[section.name] = excerpts.get(section.name, ()) + section.excerpts
    shown = {name: members for name, members in excerpts.items() if members or template.empty is not None}
    # A single section needs no heading, unless the template has its sections anyway.
    alone = len(shown) == 1 and not template.sections and not overflow
    body = [part for name, members in shown.items() for part in _section(template, name, members, alone=alone)]
    # Between an item and the list of titles it has to end the line, unless the list does so itself.
    parted = overflow and not template.overflow.startswith("\n")
    if body and not parted and body[-1].name == _SEPARATOR:
        body.pop()
    yield from body
    if overflow:
        yield Piece("overflow", template.overflow)
        yield from (_piece(excerpt, excerpt.text) for excerpt in overflow)
    yield from _around(template, "footer", query)


def _around(template: Template, slot: str, query: str) -> Iterator[Piece]:
    """The header or footer, split where the query begins."""
    before, variable, after = getattr(template, slot).partition(_QUERY)
    yield Piece(slot, before)
    if variable:
        asked = substitute(variable + after, {"query": escape(query, block=False)})
        yield Piece(f"{slot} with query", asked)


def _piece(excerpt: Excerpt, text: str) -> Piece:
    name = excerpt.document.id if excerpt.items[0].candidate.key > 0 else excerpt.items[0].candidate.node.id
    return Piece(f"{excerpt.section}: {name}", text, excerpt.citation)


def _section(template: Template, name: str, excerpts: tuple[Excerpt, ...], *, alone: bool) -> Iterator[Piece]:
    separator = Piece(_SEPARATOR, template.separator)
    if not alone:
        yield Piece(f"section {name}", _heading(template, name, len(excerpts)))
    if not excerpts:
        yield Piece("empty", template.empty or "")
        yield separator
    for excerpt in excerpts:
        yield _piece(excerpt, excerpt.text.removesuffix(template.separator))
        yield separator


def _heading(template: Template, name: str, count: int) -> str:
    return substitute(template.section, {"title": template.title_of(name), "count": str(count)})
