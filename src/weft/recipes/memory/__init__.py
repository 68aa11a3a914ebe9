"""The memory face: memories that are written, searched and formatted for a conversation."""

from __future__ import annotations

from weft.recipes.memory.engine import ContextEngine, ContextEngineConfig
from weft.recipes.memory.options import CacheConfig, ContextOptions, SearchOptions, memory_settings
from weft.recipes.memory.rankers import MemoryRanker, RankingFunction, RankingOptions
from weft.recipes.memory.results import ContextError, Err, Ok, Result
from weft.recipes.memory.types import (
    MEMORY,
    MEMORY_TYPES,
    ContextPreview,
    ContextResult,
    Memory,
    RelatedMemory,
    SearchResult,
)
from weft.recipes.memory.writing import Details, Memories

__all__ = [
    "MEMORY",
    "MEMORY_TYPES",
    "CacheConfig",
    "ContextEngine",
    "ContextEngineConfig",
    "ContextError",
    "ContextOptions",
    "ContextPreview",
    "ContextResult",
    "Details",
    "Err",
    "Memories",
    "Memory",
    "MemoryRanker",
    "Ok",
    "RankingFunction",
    "RankingOptions",
    "RelatedMemory",
    "Result",
    "SearchOptions",
    "SearchResult",
    "memory_settings",
]
