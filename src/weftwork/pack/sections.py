"""Division of a budget among sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from weftwork.compose.offers import Choice
from weftwork.errors import BudgetError
from weftwork.pack.protocol import Room
from weftwork.types import Budget


def check_budget(budget: Budget) -> None:
    """Refuse a budget that is not made of whole numbers, with a positive total."""
    if not _is_whole(budget.total) or budget.total <= 0:
        raise BudgetError(f"the token budget is {budget.total!r}: give a whole number of at least 1, such as 4000")
    for section, tokens in budget.sections.items():
        if not _is_whole(tokens) or tokens < 0:
            raise BudgetError(f"the budget of section {section!r} is {tokens!r}: give a whole number, or 0 to close it")


def caps_of(budget: Budget) -> Mapping[str, int]:
    """The shares of sections that are hard caps."""
    if not budget.share:
        return budget.sections
    return {name: tokens for name, tokens in budget.sections.items() if name in budget.capped or tokens == 0}


def room_for(budget: Budget, overhead: int, choices: Sequence[Choice]) -> Room:
    """The tokens left for items after the overhead, with caps and reserves of sections."""
    check_budget(budget)
    total = max(0, budget.total - overhead)
    if not budget.sections:
        return Room(total)
    names = {choice.section for choice in choices} | set(budget.sections)
    if not budget.share:
        left_over = max(0, total - sum(budget.sections.values()))
        return Room(total, {name: min(budget.sections.get(name, left_over), total) for name in sorted(names)})
    caps = {name: min(tokens, total) for name, tokens in sorted(caps_of(budget).items())}
    demand: Counter[str] = Counter()
    for choice in choices:
        demand[choice.section] += choice.tokens + (0 if choice.after is not None else choice.heading)
    # Where the shares are more than there is, each is less in the same proportion.
    most = max(sum(budget.sections.values()), total, 1)
    shares = {name: tokens * total // most for name, tokens in budget.sections.items()}
    return Room(total, caps, {name: min(tokens, demand[name]) for name, tokens in shares.items()})


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
