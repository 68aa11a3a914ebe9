"""Threads over files: the thread contract's interface on the one pipeline."""

from __future__ import annotations

from weftwork.answer import AnswerCheck, Quote
from weftwork.faces.thread.cache import ContextCache
from weftwork.faces.thread.citations import CitationManager
from weftwork.faces.thread.files import FileRepository, SearchResult
from weftwork.faces.thread.recipe import OptimizationResult, RelevanceScorer, TokenOptimizer, thread_recipe
from weftwork.faces.thread.service import MAX_TOKENS, SYSTEM_PROMPT_TOKENS, ContextAssemblyService, check_answer
from weftwork.faces.thread.values import (
    Citation,
    ContextItem,
    ContextMetrics,
    ContextStats,
    ItemMetadata,
    PrimeContext,
)
from weftwork.faces.thread.wire import to_response

__all__ = [
    "MAX_TOKENS",
    "SYSTEM_PROMPT_TOKENS",
    "AnswerCheck",
    "Citation",
    "CitationManager",
    "ContextAssemblyService",
    "ContextCache",
    "ContextItem",
    "ContextMetrics",
    "ContextStats",
    "FileRepository",
    "ItemMetadata",
    "OptimizationResult",
    "PrimeContext",
    "Quote",
    "RelevanceScorer",
    "SearchResult",
    "TokenOptimizer",
    "check_answer",
    "thread_recipe",
    "to_response",
]
