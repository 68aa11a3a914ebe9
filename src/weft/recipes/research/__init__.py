"""Research over documents with page citations (research contract)."""

from __future__ import annotations

from weft.recipes.research.ask import ResearchAnswer, ask
from weft.recipes.research.builder import ContextBuilder
from weft.recipes.research.model import ChatModel, LanguageModel, ModelSettings
from weft.recipes.research.sources import PageSource, SearchEngine
from weft.recipes.research.store import WeftPages, WeftSearch
from weft.recipes.research.values import PageNotFound, ResearchContext, SourceDocument

__all__ = [
    "ChatModel",
    "ContextBuilder",
    "LanguageModel",
    "ModelSettings",
    "PageNotFound",
    "PageSource",
    "ResearchAnswer",
    "ResearchContext",
    "SearchEngine",
    "SourceDocument",
    "WeftPages",
    "WeftSearch",
    "ask",
]
