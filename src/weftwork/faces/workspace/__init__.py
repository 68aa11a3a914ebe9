"""The workspace face: contexts for block-and-page workspaces with an assistant inside."""

from __future__ import annotations

from weftwork.faces.workspace.budget import RequestType, TokenBudget
from weftwork.faces.workspace.builder import ContextBuilder
from weftwork.faces.workspace.parts import AllocatedContext, BudgetAllocator, ContextCollector, RelevanceScorer
from weftwork.faces.workspace.payload import (
    ContextItem,
    ContextPayload,
    ContextSection,
    ContextValidationResult,
    ItemMetadata,
    PayloadMetadata,
    Violation,
)
from weftwork.faces.workspace.recipe import configured_recipe
from weftwork.faces.workspace.request import (
    ContextHints,
    ContextRequest,
    ConversationMessage,
    Focus,
    TimeRange,
    User,
)
from weftwork.faces.workspace.settings import (
    ActivitySettings,
    CollectorSettings,
    DueSettings,
    FocusSettings,
    LexicalSettings,
    RankingSettings,
    RelationsSettings,
    SemanticSettings,
    SimilarSettings,
    StatusSettings,
    TruncationSettings,
    Weights,
    WorkspaceConfig,
)

__all__ = [
    "ActivitySettings",
    "AllocatedContext",
    "BudgetAllocator",
    "CollectorSettings",
    "ContextBuilder",
    "ContextCollector",
    "ContextHints",
    "ContextItem",
    "ContextPayload",
    "ContextRequest",
    "ContextSection",
    "ContextValidationResult",
    "ConversationMessage",
    "DueSettings",
    "Focus",
    "FocusSettings",
    "ItemMetadata",
    "LexicalSettings",
    "PayloadMetadata",
    "RankingSettings",
    "RelationsSettings",
    "RelevanceScorer",
    "RequestType",
    "SemanticSettings",
    "SimilarSettings",
    "StatusSettings",
    "TimeRange",
    "TokenBudget",
    "TruncationSettings",
    "User",
    "Violation",
    "Weights",
    "WorkspaceConfig",
    "configured_recipe",
]
