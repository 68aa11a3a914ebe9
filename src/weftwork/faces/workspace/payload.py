"""What the context builder gives (workspace contract, 2.2): a projection of the engine's context."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from weftwork.faces.workspace.request import ContextRequest
from weftwork.types import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemMetadata:
    """Where an item comes from."""

    page_title: str | None = None
    path: tuple[str, ...] = ()
    """Titles of the ancestors that the user may see, from the top downwards."""
    last_modified: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """What is shown of a page, a database or a thread, under the id of the block that it is shown for."""

    block_id: str
    block_type: str
    content: str
    """In reading order, as its author wrote it."""
    relevance: float
    metadata: ItemMetadata = field(default_factory=ItemMetadata)
    block_ids: tuple[str, ...] = ()
    """All blocks that are shown, in reading order."""

    def to_dict(self) -> dict[str, Any]:
        """In the contract's spelling."""
        return _mapped(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSection:
    """A part of the context."""

    type: str
    title: str
    items: tuple[ContextItem, ...] = ()
    token_count: int = 0

    def to_dict(self) -> dict[str, Any]:
        """In the contract's spelling."""
        return _mapped(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadMetadata:
    """How the context came about."""

    total_tokens: int
    timestamp: str
    focus_block_id: str | None = None
    focus_page_id: str | None = None
    focus_database_id: str | None = None
    collectors_used: tuple[str, ...] = ()
    """Those that found something."""
    blocks_included: int = 0
    blocks_considered: int = 0

    def to_dict(self) -> dict[str, Any]:
        """In the contract's spelling."""
        return _mapped(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPayload:
    """A context with what it was asked by, which tells for whom and within which budget it has to be valid."""

    sections: tuple[ContextSection, ...]
    metadata: PayloadMetadata
    serialized: str
    request: ContextRequest
    context: Context | None = field(default=None, repr=False, compare=False)
    """The engine's own result: citations, and a decision for each candidate."""

    def to_dict(self) -> dict[str, Any]:
        """In the contract's spelling: what was given, not what was asked."""
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
    """Whether a payload may be handed to a model, and if not, why."""

    violations: tuple[Violation, ...] = ()

    @property
    def valid(self) -> bool:
        """True without violations."""
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"valid": self.valid, "violations": _camel(self.violations)}


def _camel(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_camel(part) for part in value]
    return _mapped(value) if is_dataclass(value) else value


def _mapped(value: Any) -> dict[str, Any]:
    """Values that JSON has, with names as the contract writes them; what is absent is left out."""
    given = {each.name: getattr(value, each.name) for each in fields(value)}
    return {_spelled(name): _camel(part) for name, part in given.items() if part is not None}


def _spelled(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
