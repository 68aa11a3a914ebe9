"""Payloads of the workspace contract (2.2): projections of the engine's context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from weftwork.faces.workspace.request import ContextRequest
from weftwork.faces.workspace.wire import to_json, to_snake_case
from weftwork.types import Context
from weftwork.wire import decode


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemMetadata:
    """The origin of an item."""

    page_title: str | None = None
    path: tuple[str, ...] = ()
    """Titles of the ancestors that the user may see, from the top downwards."""
    last_modified: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """An excerpt of a page, database or thread, under the id of the block that it is shown for."""

    block_id: str
    block_type: str
    content: str
    """In reading order, as its author wrote it."""
    relevance: float
    metadata: ItemMetadata = field(default_factory=ItemMetadata)
    block_ids: tuple[str, ...] = ()
    """All blocks that are shown, in reading order."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON values in the contract's spelling."""
        return cast(dict[str, Any], to_json(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSection:
    """A part of the context."""

    type: str
    title: str
    items: tuple[ContextItem, ...] = ()
    token_count: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON values in the contract's spelling."""
        return cast(dict[str, Any], to_json(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadMetadata:
    """The circumstances in which the context was made."""

    total_tokens: int
    timestamp: str
    focus_block_id: str | None = None
    focus_page_id: str | None = None
    focus_database_id: str | None = None
    collectors_used: tuple[str, ...] = ()
    """The collectors that found something."""
    blocks_included: int = 0
    blocks_considered: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON values in the contract's spelling."""
        return cast(dict[str, Any], to_json(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPayload:
    """A context with its request, which says for whom and within which budget it has to be valid."""

    sections: tuple[ContextSection, ...]
    metadata: PayloadMetadata
    serialized: str
    request: ContextRequest
    context: Context | None = field(default=None, repr=False, compare=False)
    """The engine's own result: citations, and a decision for each candidate."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON values in the contract's spelling, without the request."""
        return {
            "sections": to_json(self.sections),
            "metadata": self.metadata.to_dict(),
            "serialized": self.serialized,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], request: ContextRequest) -> ContextPayload:
        """The payload that `to_dict` gave for this request."""
        parts = decode(_Parts, to_snake_case(data))
        return cls(sections=parts.sections, metadata=parts.metadata, serialized=parts.serialized, request=request)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The members of a payload that travel."""

    sections: tuple[ContextSection, ...]
    metadata: PayloadMetadata
    serialized: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One way in which a payload does not meet its requirements."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextValidationResult:
    """The violations that keep a payload from being handed to a model."""

    violations: tuple[Violation, ...] = ()

    @property
    def valid(self) -> bool:
        """True without violations."""
        return not self.violations

    def __bool__(self) -> bool:
        """The verdict."""
        return self.valid

    def to_dict(self) -> dict[str, Any]:
        """The JSON values."""
        return {"valid": self.valid, "violations": to_json(self.violations)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ContextValidationResult:
        """The result that `to_dict` gave."""
        return decode(cls, data)
