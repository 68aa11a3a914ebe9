"""The engines that adapters take, and who asks them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weftwork.client import Client
from weftwork.engine import DEFAULT_WORKSPACE, Weft
from weftwork.results import SearchResult

Engine = Weft | Client


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """For whom and where an adapter asks."""

    user: str | None = None
    """None for the engine's own user, or for that of the client's key."""
    workspace: str = DEFAULT_WORKSPACE

    @property
    def options(self) -> dict[str, Any]:
        """The same as options of a call."""
        return {"workspace": self.workspace} | ({} if self.user is None else {"user": self.user})


def context_text(engine: Engine, query: str, budget: int, options: Mapping[str, Any]) -> str:
    """The text of the context of a query; empty where nothing was found."""
    context: Any = engine.context(query, budget=budget, **options)
    return context.text if context.citations else ""


def metadata_of(result: SearchResult) -> dict[str, Any]:
    """Metadata of a passage, as frameworks carry it beside the text."""
    node = result.node
    return {
        "citation": result.passage.citation,
        "node": node.id,
        "type": node.type,
        "title": node.title,
        "source": node.source,
        "path": list(reversed(result.trail)),
        "score": result.score,
    }
