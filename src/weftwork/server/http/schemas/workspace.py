"""Bodies and answers of the workspace contract, in its names and its spelling."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from weftwork.faces.workspace import ContextPayload, ContextRequest, User
from weftwork.faces.workspace.payload import Violation
from weftwork.server.http.schemas.values import (
    DEEPEST,
    LARGEST_BUDGET,
    LARGEST_NUMBER,
    MOST_NAMES,
    Json,
    Model,
    Moment,
    Name,
    Names,
    Number,
    Query,
    Reply,
    Several,
    Text,
)

Tokens = Annotated[int, Field(strict=True, ge=0, le=LARGEST_BUDGET)]
Count = Annotated[int, Field(strict=True, ge=0, le=LARGEST_NUMBER)]
Short = Annotated[str, Field(strict=True, max_length=200)]
REQUEST: Json = {
    "query": "Summarize this page",
    "focus": {"pageId": "ana/plan"},
    "type": "assist",
    "tokenBudget": {
        "total": 3000, "focus": 2500, "semantic": 200, "relations": 200, "activity": 0, "history": 0, "system": 100
    },
}  # fmt: skip
PAYLOAD: Json = {
    "sections": [
        {
            "type": "focus",
            "title": "Focused Content",
            "items": [
                {
                    "blockId": "ana/plan",
                    "blockType": "page",
                    "content": "The dome turns on twelve steel rollers.",
                    "relevance": 0.95,
                    "metadata": {"pageTitle": "Dome maintenance", "path": []},
                    "blockIds": ["ana/plan"],
                }
            ],
            "tokenCount": 17,
        }
    ],
    "metadata": {
        "totalTokens": 17,
        "focusPageId": "ana/plan",
        "timestamp": "2026-03-16T09:00:00Z",
        "collectorsUsed": ["focus"],
        "blocksIncluded": 1,
        "blocksConsidered": 1,
    },
    "serialized": "[Dome maintenance] [page]\nThe dome turns on twelve steel rollers.",
}


class Contract(Model):
    """A value of the contract; its fields are spelled as there."""

    model_config = ConfigDict(alias_generator=to_camel)


class FocusIn(Contract):
    """The place where the user works."""

    block_id: Name | None = None
    page_id: Name | None = None
    database_id: Name | None = None


class TokenBudgetIn(Contract):
    """Tokens for the context and for each of its sections; those left out are as configured by default."""

    total: Tokens | None = None
    focus: Tokens | None = None
    semantic: Tokens | None = None
    relations: Tokens | None = None
    activity: Tokens | None = None
    history: Tokens | None = None
    system: Tokens | None = None
    """Kept free for the caller's own prompt."""


class TimeRangeIn(Contract):
    """A stretch of time, both ends included."""

    start: Short
    """ISO format; UTC if it names no zone."""
    end: Short


class ContextHintsIn(Contract):
    """Hints on what to include."""

    prioritize_types: Names = []
    time_range: TimeRangeIn | None = None
    include_blocks: Names = []
    exclude_blocks: Names = []
    max_depth: Annotated[int, Field(strict=True, ge=1, le=DEEPEST)] | None = None


class ConversationMessageIn(Contract):
    """A turn of the conversation so far."""

    role: Name
    content: Text
    timestamp: Moment | None = None


class ContractUser(BaseModel):
    """The user as the contract's clients send it; whatever else they say of them is passed over."""

    id: Name


class ContextRequestIn(Contract):
    """A request for a context."""

    model_config = ConfigDict(json_schema_extra={"examples": [REQUEST]})

    query: Query
    focus: FocusIn | None = None
    type: Literal["assist", "chat", "search", "automate"] = "assist"
    user: ContractUser | None = None
    """Left out, or the one that the key acts for."""
    conversation_history: Annotated[Several[ConversationMessageIn], Field(max_length=200)] = []
    token_budget: TokenBudgetIn | None = None
    """Left out, the configured budget is divided as the type of the request does."""
    hints: ContextHintsIn | None = None

    def value(self, user: User) -> ContextRequest:
        """The request of this user."""
        given = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return ContextRequest.from_dict(given | {"user": {"id": user.id, "workspace": user.workspace}})


class ItemMetadataModel(Contract):
    """The origin of an item."""

    page_title: Text | None = None
    path: Annotated[list[Text], Field(max_length=MOST_NAMES)] = []
    """Titles of the ancestors that the user may see, from the top downwards."""
    last_modified: Short | None = None


class ContextItemModel(Contract):
    """An excerpt, under the id of the block that it is shown for."""

    block_id: Name
    block_type: Short
    content: Text
    relevance: Number
    """From 0 to 1."""
    metadata: ItemMetadataModel = ItemMetadataModel()
    block_ids: list[Name] = []
    """All blocks that are shown, in reading order."""


class ContextSectionModel(Contract):
    """A part of the context."""

    type: Short
    title: Short
    items: Several[ContextItemModel] = []
    token_count: Count = 0


class PayloadMetadataModel(Contract):
    """The circumstances in which the context was made."""

    total_tokens: Count
    timestamp: Short
    focus_block_id: Name | None = None
    focus_page_id: Name | None = None
    focus_database_id: Name | None = None
    collectors_used: Names = []
    blocks_included: Count = 0
    blocks_considered: Count = 0


class ContextPayloadModel(Contract):
    """A context: its sections, and the text for the model."""

    model_config = ConfigDict(json_schema_extra={"examples": [PAYLOAD]})

    sections: Annotated[Several[ContextSectionModel], Field(max_length=MOST_NAMES)]
    metadata: PayloadMetadataModel
    serialized: Text

    def value(self, request: ContextRequest) -> ContextPayload:
        """The payload for this request."""
        return ContextPayload.from_dict(self.model_dump(mode="json", by_alias=True, exclude_none=True), request)


class EstimateIn(Contract):
    """A payload to be counted."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"payload": PAYLOAD}]})

    payload: ContextPayloadModel


class ValidateIn(EstimateIn):
    """A payload to be checked, and the request that it answers."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"payload": PAYLOAD, "request": REQUEST}]})

    request: ContextRequestIn


class EstimateOut(Reply):
    """The tokens of a payload."""

    tokens: int


class ContextValidationResultOut(Reply):
    """The verdict on a payload, and the reasons."""

    valid: bool
    violations: list[Violation]
