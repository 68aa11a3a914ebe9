"""The workspace face: contexts for block-and-page workspaces with an assistant inside."""

from __future__ import annotations

from weft.recipes.workspace.budget import RequestType, TokenBudget
from weft.recipes.workspace.builder import ContextBuilder
from weft.recipes.workspace.payload import (
    ContextItem,
    ContextPayload,
    ContextSection,
    ContextValidationResult,
    ItemMetadata,
    PayloadMetadata,
    Violation,
)
from weft.recipes.workspace.request import (
    ContextHints,
    ContextRequest,
    ConversationMessage,
    Focus,
    TimeRange,
    User,
)
from weft.recipes.workspace.settings import WorkspaceConfig
from weft.recipes.workspace.variation import configured_recipe

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
