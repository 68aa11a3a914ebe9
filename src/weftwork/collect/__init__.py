"""Collectors: each finds passages that might belong into the context, and says why."""

from __future__ import annotations

from weftwork.collect.activity import ActivityCollector
from weftwork.collect.adjacent import TURNS, AdjacentCollector
from weftwork.collect.conversation import ConversationCollector
from weftwork.collect.due import DueCollector
from weftwork.collect.files import AmongFiles
from weftwork.collect.focus import FocusCollector
from weftwork.collect.gather import gather
from weftwork.collect.graph import GraphCollector
from weftwork.collect.history import HistoryCollector
from weftwork.collect.inquiry import Collector, Found, Inquiry
from weftwork.collect.keywords import FuzzyCollector, KeywordCollector
from weftwork.collect.lexical import LexicalCollector
from weftwork.collect.link_rank import LinkRankCollector
from weftwork.collect.memories import MemoriesCollector
from weftwork.collect.pages import WholePages
from weftwork.collect.question import ForQuestions
from weftwork.collect.references import ReferencesCollector
from weftwork.collect.related import RelatedCollector
from weftwork.collect.relations import RelationsCollector
from weftwork.collect.semantic import SemanticCollector
from weftwork.collect.similar import SimilarCollector
from weftwork.collect.status import StatusCollector
from weftwork.collect.visual import VisualCollector

__all__ = [
    "TURNS",
    "ActivityCollector",
    "AdjacentCollector",
    "AmongFiles",
    "Collector",
    "ConversationCollector",
    "DueCollector",
    "FocusCollector",
    "ForQuestions",
    "Found",
    "FuzzyCollector",
    "GraphCollector",
    "HistoryCollector",
    "Inquiry",
    "KeywordCollector",
    "LexicalCollector",
    "LinkRankCollector",
    "MemoriesCollector",
    "ReferencesCollector",
    "RelatedCollector",
    "RelationsCollector",
    "SemanticCollector",
    "SimilarCollector",
    "StatusCollector",
    "VisualCollector",
    "WholePages",
    "gather",
]
