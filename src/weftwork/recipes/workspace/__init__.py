"""The workspace face: contexts for block-and-page workspaces with an assistant inside."""

from __future__ import annotations

from weftwork.recipes.workspace.budget import RequestType, TokenBudget
from weftwork.recipes.workspace.builder import ContextBuilder
from weftwork.recipes.workspace.payload import (
    ContextItem,
    ContextPayload,
    ContextSection,
    ContextValidationResult,
    ItemMetadata,
    PayloadMetadata,
    Violation,
)
from weftwork.recipes.workspace.request import (
    ContextHints,
    ContextRequest,
    ConversationMessage,
    Focus,
    TimeRange,
    User,
)
from weftwork.recipes.workspace.settings import WorkspaceConfig
from weftwork.recipes.workspace.variation import configured_recipe

__all__ = [
    "ContextBuilder",
    "ContextHints",
    "ContextItem",
    "ContextPayload",
    "ContextRequest",
    "ContextSection",
    "ContextValidationResult",
    "ConversationMessage",
    "Focus",
    "ItemMetadata",
    "PayloadMetadata",
    "RequestType",
    "TimeRange",
    "TokenBudget",
    "User",
    "Violation",
    "WorkspaceConfig",
    "configured_recipe",
]
