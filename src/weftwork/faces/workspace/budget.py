"""Token budgets of the workspace contract (2.1 and 7.1), and their sections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Literal, get_args

from weftwork.errors import BudgetError, UnknownName
from weftwork.pack import check_budget
from weftwork.recipe import WITHOUT_EVIDENCE
from weftwork.types import Budget

SHARING = ("focus", "semantic")
"""Sections that take what others leave of a budget that the request does not divide itself."""
RequestType = Literal["assist", "chat", "search", "automate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """Tokens for the context, and the most that each section may take; 0 closes a section.

    In a configuration the numbers of focus and semantic are what these can count on, and they take what is left.
    `system` is kept free for the caller's own prompt: the serialised context has at most `total - system` tokens.
    """

    total: int = 4000
    focus: int = 1500
    semantic: int = 1200
    relations: int = 800
    activity: int = 300
    history: int = 500
    system: int = 200

    def of(self, section: str) -> int:
        """The most that a section may take; one that the contract does not know may take nothing."""
        return self.sections.get(section, 0)

    @property
    def sections(self) -> dict[str, int]:
        """The sections by name, without the total."""
        return {name: tokens for name, tokens in asdict(self).items() if name != "total"}

    @property
    def room(self) -> int:
        """Tokens left for the context."""
        return self.total - self.system

    def checked(self) -> TokenBudget:
        """The budget itself, if it is made of whole numbers and leaves room for a context."""
        check_budget(Budget(total=self.total, sections=self.sections))
        if self.room <= 0:
            raise BudgetError(
                f"{self.system} of {self.total} tokens are reserved for the system prompt: raise total or lower system"
            )
        return self

    def for_core(self, closed: frozenset[str], *, binding: bool) -> Budget:
        """The same for the engine; where its numbers are not `binding`, sections with evidence share what is left."""
        limits = {name: 0 if name in closed else tokens for name, tokens in self.sections.items() if name != "system"}
        return Budget(total=self.room, sections=limits, share=not binding, capped=WITHOUT_EVIDENCE)

    def widened(self) -> TokenBudget:
        """The most that each section can take where the numbers are not binding."""
        return replace(self, **{name: self.room for name in SHARING if self.of(name)})


def _chat(budget: TokenBudget) -> TokenBudget:
    """Give half of the tokens of the focus to the conversation."""
    half = budget.focus // 2
    return replace(budget, focus=budget.focus - half, history=budget.history + half)


def _search(budget: TokenBudget) -> TokenBudget:
    """Give the tokens of history and activity, and half of those of the focus, to the search."""
    half = budget.focus // 2
    semantic = budget.semantic + budget.history + budget.activity + half
    return replace(budget, focus=budget.focus - half, semantic=semantic, history=0, activity=0)


def _automate(budget: TokenBudget) -> TokenBudget:
    """Give the tokens of history and activity to the focus."""
    return replace(budget, focus=budget.focus + budget.history + budget.activity, history=0, activity=0)


_SPLITS: dict[str, Callable[[TokenBudget], TokenBudget]] = {
    "assist": lambda budget: budget,
    "chat": _chat,
    "search": _search,
    "automate": _automate,
}


def split_for(kind: str, budget: TokenBudget) -> TokenBudget:
    """Divide a budget for a type of request that does not bring its own."""
    return _SPLITS[_checked_kind(kind)](budget)


def closed_for(kind: str) -> frozenset[str]:
    """Sections that a type of request does not have, whatever its budget says."""
    return frozenset({"history", "activity"} if _checked_kind(kind) in ("search", "automate") else ())


def _checked_kind(kind: str) -> str:
    if kind not in _SPLITS:
        raise UnknownName("request type", kind, get_args(RequestType))
    return kind
