"""Collectors: each finds passages that might belong into the context, and says why."""

from __future__ import annotations

from weft.collect.activity import ActivityCollector
from weft.collect.beside import TURNS, BesideCollector
from weft.collect.due import DueCollector
from weft.collect.focus import FocusCollector
from weft.collect.gather import gather
from weft.collect.graph import GraphCollector
from weft.collect.history import HistoryCollector
from weft.collect.inquiry import USUAL_TOKENS, Collector, Found, Inquiry, depth_for
from weft.collect.keywords import FuzzyCollector, KeywordCollector
from weft.collect.lexical import DOCUMENTS, LexicalCollector
from weft.collect.pages import WholePages
from weft.collect.references import ReferencesCollector
from weft.collect.related import RelatedCollector
from weft.collect.relations import RelationsCollector
from weft.collect.semantic import SemanticCollector
from weft.collect.similar import SimilarCollector
from weft.collect.spread import SpreadCollector
from weft.collect.visual import VisualCollector

__all__ = [
    "DOCUMENTS",
    "TURNS",
    "USUAL_TOKENS",
    "ActivityCollector",
    "BesideCollector",
    "Collector",
    "DueCollector",
    "FocusCollector",
    "Found",
    "FuzzyCollector",
    "GraphCollector",
    "HistoryCollector",
    "Inquiry",
    "KeywordCollector",
    "LexicalCollector",
    "ReferencesCollector",
    "RelatedCollector",
    "RelationsCollector",
    "SemanticCollector",
    "SimilarCollector",
    "SpreadCollector",
    "VisualCollector",
    "WholePages",
    "depth_for",
    "gather",
]
