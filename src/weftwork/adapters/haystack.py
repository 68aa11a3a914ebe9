"""Haystack: a component that assembles the context of a query."""

from __future__ import annotations

from typing import Any

from weftwork.adapters.engines import Asking, Engine, metadata_of
from weftwork.engine import DEFAULT_WORKSPACE
from weftwork.errors import MissingExtra

try:
    from haystack import Document, component
except ModuleNotFoundError as error:
    raise MissingExtra("The adapter for Haystack", "haystack") from error


@component
class WeftContext:
    """Gives `context`, a text packed to the budget, and `documents`, the passages that answer best."""

    def __init__(
        self,
        engine: Engine,
        *,
        budget: int = 4_000,
        top_k: int = 10,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        recipe: str = "default",
    ) -> None:
        self._engine = engine
        self._budget, self._top_k, self._recipe = budget, top_k, recipe
        self._asked = Asking(user=user, workspace=workspace).options

    @component.output_types(context=str, documents=list[Document], citations=list[str])
    def run(self, query: str, budget: int | None = None, top_k: int | None = None) -> dict[str, Any]:
        """Assemble the context of a query."""
        context = self._engine.context(query, budget=budget or self._budget, recipe=self._recipe, **self._asked)
        results = self._engine.search(query, limit=top_k or self._top_k, **self._asked)
        documents = [
            Document(id=each.passage.citation, content=each.passage.text, meta=metadata_of(each), score=each.score)
            for each in results
        ]
        return {
            "context": context.text,
            "documents": documents,
            "citations": [each.id for each in context.citations],
        }
