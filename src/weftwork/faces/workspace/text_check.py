"""The comparison of a payload's text with its sections: whatever a model is given has to stand in both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from weftwork.faces.workspace.payload import ContextItem, ContextPayload
from weftwork.render import Template, Templates
from weftwork.render.quote import clean, inline
from weftwork.validation import valid_query

TEMPLATES = ("workspace", "plain")
"""The template of the face, and the one that small budgets fall back to."""
_QUOTING = re.compile(r"[\\`~>]+")
_VARIABLE = re.compile(r"\{\{.*?\}\}")
_WORD = re.compile(r"\w+")
_BRIEF = 5
"""Words below which a content may be a part of its heading, such as a title."""
_QUOTED = 60
"""Characters of the text that a message quotes."""

Words = frozenset[str]
Expected = tuple[str, Words]
"""A piece that must stand in the text, and the words of headings that may stand before it."""


def difference(payload: ContextPayload, templates: Templates, names: Mapping[str, str]) -> str | None:
    """Say what the text has or lacks beside the sections; None if it agrees with them.

    `names` are titles, tags and fields of blocks by their ids: they may stand in headings.
    """
    if not payload.serialized and not any(section.items for section in payload.sections):
        return None
    differences = [_difference(payload, templates.get(name), names) for name in TEMPLATES]
    return None if None in differences else differences[0]


def _difference(payload: ContextPayload, template: Template, names: Mapping[str, str]) -> str | None:
    text, place, known = _bare(payload.serialized), 0, Words()
    for piece, heading in _pieces(payload, template, names):
        known |= heading
        bare = _bare(piece)
        if not bare:
            continue
        at = text.find(bare, place)
        if at < 0:
            return f"the text lacks {bare[:_QUOTED]!r}"
        if _has_others(text[place:at], known):
            return f"the text has {text[place:at].strip()[:_QUOTED]!r}, which stands in no section"
        place, words = at + len(bare), _words(bare)
        # So brief a content may have been found in its heading already.
        known = heading | words if heading and len(words) < _BRIEF else Words()
    rest = text[place:].strip()
    return f"the text has {rest[:_QUOTED]!r} at its end" if _has_others(rest, known) else None


def _pieces(payload: ContextPayload, template: Template, names: Mapping[str, str]) -> Iterator[Expected]:
    """The frame and the contents, in the order of the text."""
    yield from _around(template.header, payload)
    for section in payload.sections:
        if not section.items and (template.empty is None or section.type not in template.sections):
            continue
        heading = template.section.replace("{{count}}", str(len(section.items)))
        yield heading.replace("{{title}}", section.title), Words()
        if not section.items:
            yield template.empty or "", Words()
        for item in section.items:
            own = (names.get(block, "") for block in (item.block_id, *item.block_ids))
            yield item.content, _heading_words(item, template) | _words(" ".join(own))
    yield from _around(template.footer, payload)


def _around(slot: str, payload: ContextPayload) -> Iterator[Expected]:
    """The header or footer, with the query."""
    before, variable, after = slot.partition("{{query}}")
    yield before, Words()
    if variable:
        yield clean(valid_query(payload.request.query)), Words()
        yield after, Words()


def _heading_words(item: ContextItem, template: Template) -> Words:
    """Words that may stand in the heading of an item: of its type, its page, and what it stands below."""
    names = (item.block_type, item.metadata.page_title or "", *item.metadata.path)
    return _words(" ".join((_VARIABLE.sub(" ", template.item + template.line), *names, *map(inline, names))))


def _has_others(text: str, known: Words) -> bool:
    """Return True if a text has other words than these; a title may be cut, and a score or a citation has digits."""
    others = (word for word in _words(text) - known if not any(map(str.isdigit, word)))
    return any(not any(name.startswith(word) for name in known) for word in others)


def _words(text: str) -> Words:
    return frozenset(_WORD.findall(text.casefold()))


def _bare(text: str) -> str:
    """The text without what quoting adds, with each break as one space."""
    return " ".join(_QUOTING.sub("", text).split())
