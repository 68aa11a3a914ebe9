"""The memory face: memories that are written, searched and formatted for a conversation."""

from __future__ import annotations

from weftwork.embed.cache import CacheConfig
from weftwork.faces.memory.adding import Addition, Change
from weftwork.faces.memory.asynchronous import AsyncMemories
from weftwork.faces.memory.details import Details
from weftwork.faces.memory.engine import ContextEngine, ContextEngineConfig
from weftwork.faces.memory.formatter import ContextFormatter
from weftwork.faces.memory.options import ContextOptions, SearchOptions, memory_settings
from weftwork.faces.memory.rankers import MemoryRanker, RankingFunction, RankingOptions
from weftwork.faces.memory.results import ContextError, Err, Ok, Result
from weftwork.faces.memory.types import (
    MEMORY_TYPES,
    Conflict,
    ContextPreview,
    ContextResult,
    Memory,
    RelatedMemory,
    SearchResult,
)
from weftwork.faces.memory.writing import POLICIES, Memories, Policy
from weftwork.render import get_template
from weftwork.types import MEMORY

DEFAULT_TEMPLATES = {name: get_template(name) for name in ("chat", "detailed", "summary")}
"""The templates of the contract, by name."""

__all__ = [
    "DEFAULT_TEMPLATES",
    "MEMORY",
    "MEMORY_TYPES",
    "POLICIES",
    "Addition",
    "AsyncMemories",
    "CacheConfig",
    "Change",
    "Conflict",
    "ContextEngine",
    "ContextEngineConfig",
    "ContextError",
    "ContextFormatter",
    "ContextOptions",
    "ContextPreview",
    "ContextResult",
    "Details",
    "Err",
    "Memories",
    "Memory",
    "MemoryRanker",
    "Ok",
    "Policy",
    "RankingFunction",
    "RankingOptions",
    "RelatedMemory",
    "Result",
    "SearchOptions",
    "SearchResult",
    "memory_settings",
]
