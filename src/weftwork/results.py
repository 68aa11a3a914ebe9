"""Results of the engine's methods beside contexts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weftwork.types import Context, Ended, NodeInfo, Passage


@dataclass(frozen=True, slots=True)
class Added:
    """The number of changes of a call of `add`."""

    nodes: int
    edges: int
    embedded: int

    @property
    def skipped(self) -> tuple[str, ...]:
        """The files of a path that could not be read, each with the reason."""
        return ()


@dataclass(frozen=True, slots=True)
class AddedPath(Added):
    """The number of changes of a call of `add` with a path."""

    unread: tuple[str, ...] = ()

    @property
    def skipped(self) -> tuple[str, ...]:
        """The files that could not be read, each with the reason."""
        return self.unread


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A passage that answers a search."""

    node: NodeInfo
    passage: Passage
    score: float
    excerpt: str
    trail: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """The figures of a context, without its text."""

    tokens: int
    budget_used: float
    """Percentage of the budget."""
    truncated: bool
    nodes: tuple[str, ...]
    scores: Mapping[str, float]


def why_ended(context: Context, passages: int) -> Ended:
    """The reason why a context holds no more, given the number of visible passages."""
    if context.truncated or context.overflow:
        return "budget"
    return "workspace" if len(context.trace) >= passages else "evidence"
