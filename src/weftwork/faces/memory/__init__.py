"""The memory face: memories that are written, searched and formatted for a conversation."""

from __future__ import annotations

from weftwork.faces.memory.engine import ContextEngine, ContextEngineConfig
from weftwork.faces.memory.options import CacheConfig, ContextOptions, SearchOptions, memory_settings
from weftwork.faces.memory.rankers import MemoryRanker, RankingFunction, RankingOptions
from weftwork.faces.memory.results import ContextError, Err, Ok, Result
from weftwork.faces.memory.types import (
    MEMORY,
    MEMORY_TYPES,
    ContextPreview,
    ContextResult,
    Memory,
    RelatedMemory,
    SearchResult,
)
from weftwork.faces.memory.writing import Details, Memories

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
