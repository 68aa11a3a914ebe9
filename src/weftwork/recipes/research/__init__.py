"""Research over documents with page citations (research contract)."""

from __future__ import annotations

from weftwork.recipes.research.ask import ResearchAnswer, ask
from weftwork.recipes.research.builder import ContextBuilder
from weftwork.recipes.research.model import ChatModel, LanguageModel, ModelSettings
from weftwork.recipes.research.sources import PageSource, SearchEngine
from weftwork.recipes.research.store import WeftPages, WeftSearch
from weftwork.recipes.research.values import PageNotFound, ResearchContext, SourceDocument

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
