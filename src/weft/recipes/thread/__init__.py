"""Threads over files: the thread contract's interface on the one pipeline."""

from __future__ import annotations

from weft.answer import AnswerCheck, Quote
from weft.recipes.thread.cache import ContextCache
from weft.recipes.thread.citations import CitationManager
from weft.recipes.thread.files import FileRepository, SearchResult
from weft.recipes.thread.parts import OptimizationResult, RelevanceScorer, TokenOptimizer
from weft.recipes.thread.service import MAX_TOKENS, SYSTEM_PROMPT_TOKENS, ContextAssemblyService, check_answer
from weft.recipes.thread.values import (
    Citation,
    ContextItem,
    ContextMetrics,
    ContextStats,
    ItemMetadata,
    PrimeContext,
)
from weft.recipes.thread.wire import to_response

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
