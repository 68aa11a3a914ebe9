"""The values of receipts: what was handed out, what was left out, what an answer cited, and how a replay differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Used:
    """A source that was handed out, and why."""

    citation: str
    node: str
    section: str
    why: str
    score: float
    tokens: int
    hash: str
    """Of the text as it was shown."""
    title: str = ""
    """As the reader of the receipt may see it now; empty if they may not."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A candidate that was not handed out, and why."""

    citation: str
    node: str
    why: str
    score: float
    title: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """Citations of the answer to a turn."""

    at: datetime
    cited: tuple[str, ...]
    unknown: tuple[str, ...]
    uncited_quotes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The record of a context or turn that was handed out."""

    id: str
    kind: str
    """"context" or "turn"."""
    at: datetime
    user: str
    workspace: str
    surface: str
    """"python", "http", "mcp", "command line" or the name that an application gave."""
    query: str
    recipe: str
    budget: int
    tokens: int
    hash: str
    """Of the text of a context, or of all messages of a turn."""
    version: int
    """The version of the workspace."""
    software: str
    tokenizer: str
    embedder: str
    options: Mapping[str, str] = field(default_factory=dict)
    """Further fields of the request, each as JSON."""
    thread: str = ""
    message: str = ""
    inject: bool = True
    reason: str = ""
    support: float | None = None
    cached_tokens: int = 0
    used: tuple[Used, ...] = ()
    earlier: tuple[str, ...] = ()
    """Ids of sources of earlier turns that were sent again as a part of the conversation."""
    withdrawn: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    considered: int = 0
    """The number of candidates."""
    warnings: tuple[str, ...] = ()
    answer: Answered | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """A receipt beside what the same request gives now."""

    receipt: str
    same: bool
    """True if the sources are the same, byte for byte."""
    version: int
    """The version of the workspace now."""
    unchanged: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    """Ids that are no longer available to the user."""
    unchosen: tuple[str, ...]
    """Ids that are available and not chosen now."""
    added: tuple[str, ...]
    text: str
    """What the same request gives now."""
