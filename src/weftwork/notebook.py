"""A context at a prompt and in a notebook: one line, and a box with the text and its sources."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

QUERY_CHARACTERS = 60


class Displayable(Protocol):
    """The figures of a context that are displayed."""

    id: str
    query: str
    text: str
    tokens: int
    budget: int
    citations: Sequence[Any]
    warnings: Sequence[str]

    @property
    def excerpts(self) -> Sequence[Any]:
        """All excerpts, in the order of the text."""
        ...


class Displayed:
    """Gives a context a short `repr`, and a form for notebooks in which its content cannot be markup."""

    __slots__ = ()

    def __repr__(self: Displayable) -> str:
        query = self.query if len(self.query) <= QUERY_CHARACTERS else self.query[: QUERY_CHARACTERS - 1] + "…"
        return (
            f"<{type(self).__name__} {self.id} for {query!r}: {self.tokens:,} of {self.budget:,} tokens,"
            f" {len(self.excerpts)} documents, {len(self.citations)} citations>"
        )

    def _repr_html_(self: Displayable) -> str:
        """The text with its figures and sources, as HTML."""
        figures = (
            f"{self.tokens:,} of {self.budget:,} tokens · {len(self.excerpts)} documents ·"
            f" {len(self.citations)} citations"
        )
        warnings = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        return (
            f"<details open><summary><b>{escape(self.query or self.id)}</b> <small>{figures}</small></summary>"
            + (f"<ul>{warnings}</ul>" if warnings else "")
            + f'<pre style="white-space:pre-wrap">{escape(self.text)}</pre></details>'
        )
