"""Research over documents with page citations (research contract)."""

from __future__ import annotations

from weftwork.faces.research.ask import AskEvent, ResearchAnswer, answer_from, ask, ask_events
from weftwork.faces.research.builder import ContextBuilder
from weftwork.faces.research.everything import Mode, research
from weftwork.faces.research.model import ChatModel, LanguageModel, ModelSettings
from weftwork.faces.research.sources import PageIndex, PageSource, SearchEngine
from weftwork.faces.research.store import WeftSearch
from weftwork.faces.research.values import PageNotFound, ResearchContext, SourceDocument

__all__ = [
    "AskEvent",
    "ChatModel",
    "ContextBuilder",
    "LanguageModel",
    "Mode",
    "ModelSettings",
    "PageIndex",
    "PageNotFound",
    "PageSource",
    "ResearchAnswer",
    "ResearchContext",
    "SearchEngine",
    "SourceDocument",
    "WeftSearch",
    "answer_from",
    "ask",
    "ask_events",
    "research",
]
