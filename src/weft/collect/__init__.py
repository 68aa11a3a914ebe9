"""Collectors: each finds passages that might belong into the context, and says why."""

from __future__ import annotations

from weft.collect.activity import ActivityCollector
from weft.collect.focus import FocusCollector
from weft.collect.gather import gather
from weft.collect.graph import GraphCollector
from weft.collect.history import HistoryCollector
from weft.collect.inquiry import Collector, Found, Inquiry, depth_for
from weft.collect.lexical import LexicalCollector
from weft.collect.references import ReferencesCollector
from weft.collect.relations import RelationsCollector
from weft.collect.semantic import SemanticCollector

__all__ = [
    "ActivityCollector",
    "Collector",
    "FocusCollector",
    "Found",
    "GraphCollector",
    "HistoryCollector",
    "Inquiry",
    "LexicalCollector",
    "ReferencesCollector",
    "RelationsCollector",
    "SemanticCollector",
    "depth_for",
    "gather",
]
