"""Research over documents with page citations (research contract)."""

from __future__ import annotations

from weftwork.faces.research.ask import ResearchAnswer, ask
from weftwork.faces.research.builder import ContextBuilder
from weftwork.faces.research.model import ChatModel, LanguageModel, ModelSettings
from weftwork.faces.research.sources import PageSource, SearchEngine
from weftwork.faces.research.store import WeftPages, WeftSearch
from weftwork.faces.research.values import PageNotFound, ResearchContext, SourceDocument

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
