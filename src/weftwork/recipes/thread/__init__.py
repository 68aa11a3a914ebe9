"""Threads over files: the thread contract's interface on the one pipeline."""

from __future__ import annotations

from weftwork.answer import AnswerCheck, Quote
from weftwork.recipes.thread.cache import ContextCache
from weftwork.recipes.thread.citations import CitationManager
from weftwork.recipes.thread.files import FileRepository, SearchResult
from weftwork.recipes.thread.parts import OptimizationResult, RelevanceScorer, TokenOptimizer
from weftwork.recipes.thread.service import MAX_TOKENS, SYSTEM_PROMPT_TOKENS, ContextAssemblyService, check_answer
from weftwork.recipes.thread.values import (
    Citation,
    ContextItem,
    ContextMetrics,
    ContextStats,
    ItemMetadata,
    PrimeContext,
)
from weftwork.recipes.thread.wire import to_response

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
    "to_response",
]
