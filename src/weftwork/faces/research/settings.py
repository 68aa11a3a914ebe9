"""The table `[recipes.research]`: a ChromaDB index whose pages are found beside those of the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from weftwork.embed import get_embedder
from weftwork.embed.visual import get_visual_embedder
from weftwork.errors import InvalidInput

if TYPE_CHECKING:
    from weftwork.faces.research.chroma import ChromaCollector


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchSettings:
    """A ChromaDB index, and the workspace whose readers see it: ChromaDB knows no users."""

    chroma: str = ""
    """A folder, or a server at http://host:port; empty for no index."""
    workspace: str
    embedder: str
    """The embedder that the text collection was made with."""
    visual: str = "none"
    """The embedder that the visual collection was made with; "none" leaves it out."""
    visual_collection: str = "visual_collection"
    text_collection: str = "text_collection"

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any], *, workspace: str, embedder: str) -> ResearchSettings:
        """The settings of a table; what it leaves out is as in the rest of the configuration."""
        known = [field.name for field in fields(cls)]
        for name, value in table.items():
            if name not in known or not isinstance(value, str):
                raise InvalidInput(
                    f"unknown setting recipes.research.{name} = {value!r}: use {', '.join(known)}, each with a text"
                )
        return cls(**{"workspace": workspace, "embedder": embedder, **table})

    def collectors(self, workspace: str) -> tuple[ChromaCollector, ...]:
        """The collector of the index, for the workspace that it belongs to."""
        return (_collector(self),) if self.chroma and workspace == self.workspace else ()


@lru_cache(maxsize=8)
def _collector(settings: ResearchSettings) -> ChromaCollector:
    """Connect at the first question: other commands need no index."""
    from weftwork.faces.research.chroma import ChromaCollector, ChromaPages, ChromaSearch, connect  # noqa: PLC0415

    embedder = get_embedder(settings.embedder)
    if embedder is None:
        raise InvalidInput("recipes.research needs an embedder: name the one that the index was made with")
    index = ChromaPages(connect(settings.chroma), visual=settings.visual_collection, text=settings.text_collection)
    look = get_visual_embedder(settings.visual, embedder)
    return ChromaCollector(ChromaSearch(index, embedder=embedder, visual=look))
