"""A recipe chooses the parts of the pipeline; it never has a pipeline of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weftwork.collect import (
    DOCUMENTS,
    TURNS,
    ActivityCollector,
    AdjacentCollector,
    Collector,
    DueCollector,
    FocusCollector,
    FuzzyCollector,
    GraphCollector,
    HistoryCollector,
    KeywordCollector,
    LexicalCollector,
    LinkRankCollector,
    ReferencesCollector,
    RelatedCollector,
    RelationsCollector,
    SemanticCollector,
    SimilarCollector,
    VisualCollector,
    WholePages,
)
from weftwork.errors import UnknownName
from weftwork.pack import Packer
from weftwork.pack.overflow import Overflow
from weftwork.render.templates import Template
from weftwork.score import Profile, get_profile
from weftwork.score.ordering import Order, Ordering
from weftwork.score.rerank import Reranker
from weftwork.types import PAGE, Budget

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
ASKED_FOR = {name: part for name, part in SECTION_BUDGETS.items() if name not in ("relations", "activity")}
"""Shares for what was asked for and for what answers it; what merely stands near has to be better than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Which collectors run, how their findings are weighed, packed and written."""

    name: str
    collectors: tuple[Collector, ...]
    profile: Profile
    packer: str | Packer = "greedy"
    template: str | Template = "default"
    sections: Mapping[str, int] = field(default_factory=dict)
    """Shares of the sections in a budget of 4,000 tokens; other budgets are divided in proportion."""
    share: bool = True
    """Whether what one section does not use is there for the others."""
    hits: int | None = None
    """How many hits are read from each index; None leaves it to the size of the budget."""
    min_length: int = 0
    """The fewest characters that a shortened text may have."""
    passage_tokens: int | None = 250
    """How long a passage usually is: short ones are worth more hits. None asks the first hits."""
    reranker: Reranker | None = None
    """Gives a second opinion on the order of the best hits."""
    lines: bool = False
    """Whether what does not fit may be named in one line."""
    order: Order | None = None
    """A last word on the order of the scored candidates, and on which of them stay."""

    def budget(self, total: int) -> Budget:
        """A budget of this many tokens, divided as the recipe does."""
        parts = {name: part * total // WHOLE for name, part in self.sections.items()}
        return Budget(total=total, sections=parts, share=self.share)


EVERYTHING = (
    FocusCollector(),
    ReferencesCollector(),
    DueCollector(),
    HistoryCollector(),
    LexicalCollector(),
    SemanticCollector(),
    LinkRankCollector(),
    AdjacentCollector(types=TURNS),
    RelationsCollector(),
    GraphCollector(limit=None, unasked=False),
    ActivityCollector(),
)
"""All collectors; what several find belongs to the section of the first. A walk has to be asked for: from hits
alone it found nothing that answers wanted (docs/relevance.md)."""

THREAD = (
    ReferencesCollector(),
    HistoryCollector(older=10),
    LexicalCollector(limit=10, fuzzy_limit=0, types=DOCUMENTS),
    KeywordCollector(types=DOCUMENTS),
    FuzzyCollector(types=DOCUMENTS),
    ActivityCollector(edit_count=0, view_count=5, max_age_hours=10 * 365 * 24, types=DOCUMENTS),
)
"""What the thread contract retrieves: references, history, three searches among files, and files used lately."""

WORKSPACE = (
    FocusCollector(),
    ReferencesCollector(section="focus"),
    DueCollector(),
    HistoryCollector(),
    LexicalCollector(),
    SemanticCollector(),
    SimilarCollector(),
    RelationsCollector(max_depth=2),
    ActivityCollector(summaries=True),
)
"""The collectors of the workspace contract, with words beside meaning."""

PAGES_BY_TEXT = (
    WholePages(LexicalCollector(types=frozenset({PAGE}))),
    WholePages(SemanticCollector(threshold=0.0, types=frozenset({PAGE}))),
)
PAGES_BY_LOOK = (WholePages(VisualCollector()),)
"""The two collections of the research contract: passages of text, and pages as they look."""

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="default",
            collectors=EVERYTHING,
            profile=get_profile("balanced"),
            packer=Overflow(modest=True),
            sections=ASKED_FOR,
            passage_tokens=None,
            lines=True,
        ),
        Recipe(
            name="workspace",
            collectors=WORKSPACE,
            profile=get_profile("workspace"),
            packer="greedy",
            template="workspace",
            sections={name: part for name, part in SECTION_BUDGETS.items() if name not in ("references", "system")},
            share=False,
            hits=15,
            min_length=50,
        ),
        Recipe(
            name="thread",
            collectors=THREAD,
            profile=get_profile("thread"),
            packer="density",
            sections={"history": 1000},
        ),
        Recipe(
            name="memory",
            collectors=(
                LexicalCollector(section="memories"),
                SemanticCollector(threshold=0.0, section="memories"),
                RelatedCollector(types=("contradicts",), kind="contradiction", name="contradicts", section="memories"),
            ),
            profile=get_profile("memory"),
            packer="ranked",
            template="chat",
            passage_tokens=50,
            order=Ordering(),
        ),
        Recipe(
            name="conversation",
            collectors=(
                ReferencesCollector(),
                LexicalCollector(),
                SemanticCollector(threshold=0.0),
                AdjacentCollector(),
            ),
            profile=get_profile("conversation"),
            packer="ranked",
            template="chat",
            passage_tokens=50,
        ),
        Recipe(
            name="research",
            collectors=(*PAGES_BY_TEXT, *PAGES_BY_LOOK),
            profile=get_profile("research"),
            packer="ranked",
            hits=40,
        ),
        Recipe(
            name="graph",
            collectors=(GraphCollector(topics=True, passages=8, section="graph"), DueCollector(section="graph")),
            profile=get_profile("graph"),
            packer=Overflow(least=50, named_first=True),
            template="graph",
            lines=True,
        ),
    )
}


def get_recipe(name: str) -> Recipe:
    """A recipe by name."""
    if name not in RECIPES:
        raise UnknownName("recipe", name, RECIPES)
    return RECIPES[name]
