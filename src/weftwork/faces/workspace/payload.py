"""Payloads of the workspace contract (2.2): projections of the engine's context."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from weftwork.faces.workspace.request import ContextRequest
from weftwork.types import Context


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
        return _mapped(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSection:
    """A part of the context."""

    type: str
    title: str
    items: tuple[ContextItem, ...] = ()
    token_count: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON values in the contract's spelling."""
        return _mapped(self)


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
        return _mapped(self)


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
            "sections": _camel(self.sections),
            "metadata": self.metadata.to_dict(),
            "serialized": self.serialized,
        }


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

    def to_dict(self) -> dict[str, Any]:
        """The JSON values."""
        return {"valid": self.valid, "violations": _camel(self.violations)}


def _camel(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_camel(part) for part in value]
    return _mapped(value) if is_dataclass(value) else value


def _mapped(value: Any) -> dict[str, Any]:
    """JSON values under the names of the contract; None is left out."""
    values = {member.name: getattr(value, member.name) for member in fields(value)}
    return {_spelled(name): _camel(part) for name, part in values.items() if part is not None}


def _spelled(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
