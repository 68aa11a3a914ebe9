"""A recipe chooses the parts of the pipeline; it never has a pipeline of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.collect import (
    ActivityCollector,
    Collector,
    FocusCollector,
    GraphCollector,
    HistoryCollector,
    LexicalCollector,
    ReferencesCollector,
    RelationsCollector,
    SemanticCollector,
)
from weft.errors import UnknownName
from weft.score import Profile, get_profile
from weft.types import Budget

SECTION_BUDGETS = {
    "focus": 1500,
    "references": 1200,
    "semantic": 1200,
    "relations": 800,
    "activity": 300,
    "history": 500,
    "system": 200,
}
"""Shares of a budget of 4,000 tokens, from the default configuration of the workspace contract."""
WHOLE = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Which collectors run, how their findings are weighed, packed and written."""

    name: str
    collectors: tuple[Collector, ...]
    profile: Profile
    packer: str = "greedy"
    template: str = "default"
    sections: Mapping[str, int] = field(default_factory=dict)
    """Shares of the sections in a budget of 4,000 tokens; other budgets are divided in proportion."""
    lines: bool = False
    """Whether what does not fit may be named in one line."""

    def budget(self, total: int) -> Budget:
        """A budget of this many tokens, divided as the recipe does."""
        return Budget(total=total, sections={name: part * total // WHOLE for name, part in self.sections.items()})


EVERYTHING = (
    FocusCollector(),
    ReferencesCollector(),
    HistoryCollector(),
    LexicalCollector(),
    SemanticCollector(),
    RelationsCollector(),
    GraphCollector(limit=None),
    ActivityCollector(),
)
"""All collectors; what several find belongs to the section of the first."""

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="default",
            collectors=EVERYTHING,
            profile=get_profile("balanced"),
            packer="overflow",
            sections=SECTION_BUDGETS,
            lines=True,
        ),
    )
}


def get_recipe(name: str) -> Recipe:
    """A recipe by name."""
    if name not in RECIPES:
        raise UnknownName("recipe", name, RECIPES)
    return RECIPES[name]
