"""Requests to the context builder (workspace contract, 2.1)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from weftwork.clock import aware
from weftwork.errors import InvalidInput
from weftwork.faces.workspace.budget import RequestType, TokenBudget
from weftwork.faces.workspace.wire import to_json, to_snake_case
from weftwork.wire import decode

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{8}")
FocusKind = Literal["block", "page", "database"]


@dataclass(frozen=True, slots=True)
class User:
    """The user who asks, and their workspace."""

    id: str
    workspace: str = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """The place where the user works: a block, a page, or a database."""

    block_id: str | None = None
    page_id: str | None = None
    database_id: str | None = None

    @property
    def places(self) -> dict[FocusKind, str]:
        """The ids that are set, the nearest to the user first."""
        ids: tuple[tuple[FocusKind, str | None], ...] = (
            ("block", self.block_id),
            ("page", self.page_id),
            ("database", self.database_id),
        )
        return {kind: node for kind, node in ids if node is not None}


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    """A turn of the conversation so far."""

    role: str
    content: str
    timestamp: datetime | str | None = None

    def __post_init__(self) -> None:
        _check("role", self.role, str)
        _check("content", self.content, str)

    @property
    def moment(self) -> datetime | None:
        """The timestamp as a time."""
        return None if self.timestamp is None else _moment(self.timestamp)


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A stretch of time, both ends included; text is ISO format, and UTC if it names no zone.

    An end that is only a day includes all of it.
    """

    start: datetime | str
    end: datetime | str

    @property
    def moments(self) -> tuple[datetime, datetime]:
        """Both ends as times."""
        start, end = _moment(self.start), _moment(self.end)
        if isinstance(self.end, str) and _DAY.fullmatch(self.end.strip()):
            end += timedelta(days=1, microseconds=-1)
        if start > end:
            raise InvalidInput(f"the time range ends at {end} before it starts at {start}: swap them")
        return start, end


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextHints:
    """Hints of the caller on what to include."""

    prioritize_types: tuple[str, ...] = ()
    time_range: TimeRange | None = None
    """Searches, relations and activity find only what changed within it."""
    include_blocks: tuple[str, ...] = ()
    exclude_blocks: tuple[str, ...] = ()
    max_depth: int | None = None
    """The depth from the focus, 1 to 5: up its ancestors, down a page, along relations."""

    def __post_init__(self) -> None:
        for name in ("prioritize_types", "include_blocks", "exclude_blocks"):
            _check_each(name, getattr(self, name), str)
        _check("time_range", self.time_range, TimeRange, optional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """A request for a context."""

    query: str
    user: User
    type: RequestType = "assist"
    focus: Focus | None = None
    conversation_history: tuple[ConversationMessage, ...] = ()
    token_budget: TokenBudget | None = None
    """None divides the configured budget as the type of the request does."""
    hints: ContextHints = field(default_factory=ContextHints)

    def __post_init__(self) -> None:
        if self.hints is None:  # the contract lets it be left out
            object.__setattr__(self, "hints", ContextHints())
        _check("user", self.user, User)
        _check("focus", self.focus, Focus, optional=True)
        _check_each("conversation_history", self.conversation_history, ConversationMessage)
        _check("token_budget", self.token_budget, TokenBudget, optional=True)
        _check("hints", self.hints, ContextHints)

    @property
    def places(self) -> dict[FocusKind, str]:
        """The ids of the focus, the nearest to the user first."""
        return {} if self.focus is None else self.focus.places

    def to_dict(self) -> dict[str, Any]:
        """The JSON values in the contract's spelling."""
        return cast(dict[str, Any], to_json(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ContextRequest:
        """The request that `to_dict` gave."""
        return decode(cls, to_snake_case(data))


def _check(name: str, value: object, kind: type, *, optional: bool = False) -> None:
    if not isinstance(value, kind) and not (optional and value is None):
        raise InvalidInput(f"{name} must be a {kind.__name__}, got {value!r}")


def _check_each(name: str, values: object, kind: type) -> None:
    """Refuse anything but a collection of such values; text is one value, not a collection."""
    if isinstance(values, str) or not isinstance(values, Collection) or not all(isinstance(v, kind) for v in values):
        raise InvalidInput(f"{name} must be a tuple of {kind.__name__}, got {values!r}")


def _moment(value: object) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise InvalidInput(f"{value!r} is not a time: write it like 2026-03-16T09:00:00Z") from error
    if not isinstance(value, datetime):
        raise InvalidInput(f"{value!r} is not a time: write it like 2026-03-16T09:00:00Z, or give a datetime")
    return aware(value)
