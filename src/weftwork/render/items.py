"""One candidate as it may stand in the text: in full, shortened, or as one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import sqrt

from weftwork.render.quote import cite, clean, disown, escape, fence, inline
from weftwork.render.templates import Template, substitute, variables
from weftwork.render.values import ALL_FIELDS, FieldChoice, fields_of, titles_of, values_of
from weftwork.text.tokens import TokenCounter
from weftwork.types import Candidate, Form, Rendering

Truncate = Callable[[str, int], tuple[str, str]]
"""From content and a limit in tokens to the shortened content and a note on how it was done."""

_MIN_CONTENT = 12
_LEAST = "x"
_LINE_WORTH = 0.1
_TRUNCATED_WORTH = 0.99
_BLANK_START = re.compile(r"\A(?:[^\S\n]*\n)+")
_BULLET = re.compile(r"(?:^|\n)[-*+] \Z")


class ItemRenderer:
    """Renders candidates by a template and counts each piece exactly as it will stand in the text."""

    def __init__(
        self, template: Template, counter: TokenCounter, truncate: Truncate, fields: FieldChoice = ALL_FIELDS
    ) -> None:
        self._template = template.check()
        self._counter = counter
        self._truncate = truncate
        self._fields = fields
        self._variables = frozenset(variables(template.item)) - {"content"}
        self._form: Form = "full" if "{{content}}" in template.item else "summary"
        self._block = template.content_on_own_lines
        self._hanging = _BULLET.search(template.item.partition("{{content}}")[0]) is not None

    def full(self, candidate: Candidate, number: int | None = None) -> Rendering:
        """The candidate with all of its content."""
        values = values_of(self._variables, candidate, self._template, number, self._fields)
        text = self._piece(values, self._content(candidate))
        return Rendering(form=self._form, text=text, tokens=self._counter.count(text))

    def shorten(self, candidate: Candidate, limit: int, number: int | None = None) -> Rendering | None:
        """The candidate within a limit of tokens, or None if too little of it would be left."""
        whole = self.full(candidate, number)
        if whole.tokens <= limit:
            return whole
        content = self._content(candidate)
        values = values_of(self._variables, candidate, self._template, number, self._fields)
        full = self._counter.count(content)
        around = self._counter.count(self._piece(values, _LEAST)) - 1
        room = min(limit - around, full - 1)
        while room >= _MIN_CONTENT:
            cut, note = self._truncate(content, room)
            kept = self._counter.count(cut)
            if kept < _MIN_CONTENT:
                return None
            text = self._piece(values, _trim(cut))
            tokens = self._counter.count(text)
            if tokens <= limit:
                worth = min(_TRUNCATED_WORTH, sqrt(kept / full))
                return Rendering(form="truncated", text=text, tokens=tokens, worth=worth, note=note)
            room -= tokens - limit
        return None

    def line(self, candidate: Candidate, number: int | None = None) -> Rendering:
        """The candidate as one line, without its content."""
        names = frozenset(variables(self._template.line))
        values = values_of(names - {"content"}, candidate, self._template, number, self._fields)
        if "content" in names:
            values["content"] = inline(self._content(candidate))
        text = substitute(self._template.line, values)
        return Rendering(form="line", text=text, tokens=self._counter.count(text), worth=_LINE_WORTH)

    def _content(self, candidate: Candidate) -> str:
        """What the candidate says, and what is to be said of it."""
        own = disown(self._own(candidate))
        return f"{own} ({candidate.note})" if candidate.note else own

    def _own(self, candidate: Candidate) -> str:
        """The passage, or of a node without text what the template does not show already."""
        text = _trim(clean(candidate.passage.text))
        if text and not self._template.fields_first:
            return text
        shown = self._variables
        fields = "" if "fields" in shown else fields_of(candidate.node.fields, self._fields)
        if text:
            return f"{fields}\n{text}" if fields and candidate.passage.ordinal == 0 else text
        title = "" if shown & {"about", "title", "page"} else "".join(titles_of(candidate)[:1])
        return f"{title} ({fields})" if title and fields else title or fields

    def _piece(self, values: Mapping[str, str], content: str) -> str:
        quoted = self._quote(content)
        return substitute(self._template.item, {**values, "content": quoted}) + self._template.separator

    def _quote(self, content: str) -> str:
        if not content:
            return ""
        if self._template.quote == "fence":
            return fence(content)
        if self._template.quote == "cite":
            return cite(content)
        text = escape(content, block=self._block)
        mark = self._template.separator.strip()
        if mark:
            text = text.replace(mark, f"\\{mark}")
        # The lines after the first belong to the same point of the list.
        return re.sub(r"\n(?=[^\n])", "\n  ", text) if self._hanging else text


def _trim(text: str) -> str:
    """The text without the blank lines around it; the indentation of its first line stays."""
    return _BLANK_START.sub("", text).rstrip()
