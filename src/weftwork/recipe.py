"""A recipe chooses the parts of the pipeline; it never has a pipeline of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from weftwork.collect import (
    TURNS,
    ActivityCollector,
    AdjacentCollector,
    AmongFiles,
    Collector,
    DueCollector,
    FocusCollector,
    ForQuestions,
    FuzzyCollector,
    GraphCollector,
    HistoryCollector,
    KeywordCollector,
    LexicalCollector,
    LinkRankCollector,
    MemoriesCollector,
    ReferencesCollector,
    RelatedCollector,
    RelationsCollector,
    SemanticCollector,
    SimilarCollector,
    StatusCollector,
    VisualCollector,
    WholePages,
)
from weftwork.compose.ordering import Order, Ordering, Supported, WithEvidence, as_scored
from weftwork.errors import InvalidInput, UnknownName
from weftwork.pack import Packer
from weftwork.pack.density import Density
from weftwork.pack.overflow import Overflow
from weftwork.pack.ranked import Ranked
from weftwork.provenance import Trust
from weftwork.render.templates import Template
from weftwork.score import Profile, get_profile
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
WITHOUT_EVIDENCE = frozenset({"relations", "activity", "history"})
"""Sections of the workspace contract whose items answer no question: they do not take what others leave."""
ASKED_FOR = {name: part for name, part in SECTION_BUDGETS.items() if name not in ("relations", "activity")}
ASKED_FOR["memories"] = 400
"""Shares for pinned nodes and for hits; mere neighbours have no share and have to score higher."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The choice of collectors, profile, packer and template."""

    name: str
    collectors: tuple[Collector, ...]
    profile: Profile
    packer: str | Packer = "greedy"
    template: str | Template = "default"
    sections: Mapping[str, int] = field(default_factory=dict)
    """Shares of the sections in a budget of 4,000 tokens; other budgets are divided in proportion."""
    share: bool = True
    """True lets sections use the unused tokens of others."""
    capped: frozenset[str] = frozenset()
    """Sections that use no tokens of others."""
    hits: int | None = None
    """Hits to read from each index; None for enough to offer twice what the budget holds."""
    min_length: int = 0
    """The fewest characters that a shortened text may have."""
    reranker: Reranker | None = None
    """Changes the order of the best hits."""
    lines: bool = False
    """True names documents that do not fit in one line each."""
    unit: Literal["document", "node"] = "document"
    """The unit of an excerpt: a document with its hits, or each node by itself, whole."""
    plain: bool = True
    """True falls back to the plain template where the budget is too small for this one."""
    order: Order | None = None
    """The final order of the scored candidates, and the choice of those that stay."""

    min_support: float = 0.0
    """The least support of a query with which anything is shown (`score/support.py`)."""
    trust: Trust | None = None
    """The least trust of what may be shown, by origin and writer; None for any."""
    tokens: int | None = None
    """The budget where none is given; None for that of the engine."""

    def __post_init__(self) -> None:
        for collector in self.collectors:
            _require("collector", collector, "name", "section", "collect")
        if not isinstance(self.packer, str):
            _require("packer", self.packer, "name", "pack")
        if self.reranker is not None:
            _require("reranker", self.reranker, "rerank")

    def budget(self, total: int) -> Budget:
        """A budget of this many tokens, divided as the recipe does."""
        parts = {name: part * total // WHOLE for name, part in self.sections.items()}
        return Budget(total=total, sections=parts, share=self.share, capped=self.capped)


def _require(what: str, part: object, *names: str) -> None:
    """Refuse a part that lacks an attribute of its protocol, or that is a class instead of an object."""
    missing = [name for name in names if not hasattr(part, name)]
    if missing or isinstance(part, type):
        lacks = f"it lacks {', '.join(missing)}" if missing else "it is a class"
        raise InvalidInput(f"{part!r} is no {what}, {lacks}: give an object with {', '.join(names)}")


EVERYTHING = (
    FocusCollector(),
    ReferencesCollector(),
    DueCollector(),
    HistoryCollector(),
    MemoriesCollector(),
    LexicalCollector(),
    SemanticCollector(),
    LinkRankCollector(),
    AdjacentCollector(types=TURNS),
    RelationsCollector(),
    GraphCollector(limit=None, unasked=False),
    ActivityCollector(),
)
"""All collectors; a passage that several find belongs to the section of the first. A walk has to be asked for:
from hits alone it found nothing that answers needed (docs/relevance.md)."""


def thread_collectors(
    *,
    content: int | None = 10,
    keywords: int | None = 10,
    fuzzy: int | None = 5,
    meaning: int | None = None,
    history: int = 20,
    older: int = 10,
    recent: int | None = 5,
) -> tuple[Collector, ...]:
    """The collectors of the thread contract: references, history, three searches among files, and files used lately.

    Meaning stands beside them. Limits count files and messages; None is as many as the budget asks for.
    """
    viewed = ActivityCollector(edit_count=0, view_count=50, max_age_hours=10 * 365 * 24)
    return (
        ReferencesCollector(),
        HistoryCollector(limit=history, older=older),
        AmongFiles(LexicalCollector(fuzzy_limit=0), content),
        AmongFiles(KeywordCollector(limit=None), keywords),
        AmongFiles(FuzzyCollector(limit=None), fuzzy, passages=1),
        AmongFiles(SemanticCollector(), meaning),
        AmongFiles(viewed, recent, passages=1),
    )


WORKSPACE = (
    FocusCollector(),
    ReferencesCollector(section="focus"),
    DueCollector(),
    StatusCollector(),
    HistoryCollector(),
    LexicalCollector(),
    SemanticCollector(),
    SimilarCollector(),
    RelationsCollector(max_depth=2, for_commands=False),
    ActivityCollector(),
)
"""The collectors of the workspace contract, with words beside meaning."""

PAGES_BY_TEXT = (
    WholePages(LexicalCollector(types=frozenset({PAGE}))),
    WholePages(SemanticCollector(threshold=0.0, types=frozenset({PAGE}))),
)
PAGES_BY_LOOK = (WholePages(VisualCollector()),)
"""The two collections of the research contract: passages of text, and pages as they look."""

MIN_SUPPORT = 0.5
"""At most one in a hundred questions that a workspace answers has less."""

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="default",
            collectors=EVERYTHING,
            profile=get_profile("balanced"),
            packer=Overflow(modest=True),
            sections=ASKED_FOR,
            min_support=MIN_SUPPORT,
            order=WithEvidence(0.6, noise=0.4, tasks_alone=False),
        ),
        Recipe(
            name="workspace",
            min_support=MIN_SUPPORT,
            collectors=WORKSPACE,
            profile=get_profile("workspace"),
            packer="greedy",
            template="workspace",
            sections={name: part for name, part in SECTION_BUDGETS.items() if name not in ("references", "system")},
            capped=WITHOUT_EVIDENCE,
            min_length=50,
            order=WithEvidence(),
        ),
        Recipe(
            name="thread",
            min_support=MIN_SUPPORT,
            collectors=thread_collectors(),
            profile=get_profile("thread"),
            packer=Density(fill=True, least_tokens=1000),
            template="thread",
            sections={"history": 1000},
        ),
        Recipe(
            name="memory",
            min_support=MIN_SUPPORT,
            collectors=(
                LexicalCollector(section="memories"),
                SemanticCollector(threshold=0.0, section="memories"),
                RelatedCollector(types=("contradicts",), kind="contradiction", name="contradicts", section="memories"),
            ),
            profile=get_profile("memory"),
            packer="ranked",
            template="chat",
            unit="node",
            plain=False,
            order=Ordering(),
        ),
        Recipe(
            name="conversation",
            min_support=MIN_SUPPORT,
            collectors=(
                ReferencesCollector(),
                LexicalCollector(),
                SemanticCollector(threshold=0.0),
                AdjacentCollector(),
            ),
            profile=get_profile("conversation"),
            packer="ranked",
            template="chat",
        ),
        Recipe(
            name="research",
            min_support=MIN_SUPPORT,
            collectors=(*PAGES_BY_TEXT, *PAGES_BY_LOOK),
            profile=get_profile("research"),
            packer=Ranked(shortens=True),
            template="research",
            unit="node",
            hits=40,
        ),
        Recipe(
            name="graph",
            min_support=MIN_SUPPORT,
            collectors=(
                GraphCollector(topics=True, passages=8, section="graph"),
                ReferencesCollector(section="graph", in_query=False),
                ForQuestions(LexicalCollector()),
                ForQuestions(SemanticCollector()),
                ForQuestions(LinkRankCollector()),
                DueCollector(section="graph"),
            ),
            profile=get_profile("graph"),
            packer=Overflow(least=50, shortens=True),
            template="graph",
            lines=True,
        ),
    )
}


SEARCHES: dict[str, Recipe] = {
    mode: Recipe(name=mode, collectors=collectors, profile=Profile("search", {"relevance": 1.0}), order=order)
    for mode, collectors, order in (
        ("hybrid", (LexicalCollector(), SemanticCollector()), Supported(MIN_SUPPORT)),
        ("words", (LexicalCollector(),), as_scored),
        ("vector", (SemanticCollector(threshold=0.0),), as_scored),
    )
}
"""The recipes of plain searches, by mode."""


def get_recipe(name: str) -> Recipe:
    """A built-in recipe by name."""
    return Recipes().get(name)


class Recipes:
    """The registry of recipes by name: built-in, registered and changed ones. Thread-safe."""

    def __init__(self) -> None:
        self._by_name: dict[str, Recipe | Callable[[], Recipe]] = dict(RECIPES)
        self._changed: dict[tuple[str, str | None, str | None], Recipe] = {}

    def register(self, recipe: Recipe) -> None:
        """Make a recipe known; one of the same name is replaced."""
        self._by_name[recipe.name] = recipe
        self._changed.clear()

    def register_later(self, name: str, make: Callable[[], Recipe]) -> None:
        """Make a recipe known that is made when it is first used; to make it twice has to be harmless."""
        self._by_name[name] = make
        self._changed.clear()

    def get(self, recipe: str | Recipe, *, packer: str | None = None, template: str | None = None) -> Recipe:
        """The recipe of this name, with another packer or template; the same object each time.

        Contexts are cached by it. A recipe itself is handed back.
        """
        if isinstance(recipe, Recipe):
            return recipe
        if recipe not in self._by_name:
            raise UnknownName("recipe", recipe, self._by_name)
        changes = {part: name for part, name in (("packer", packer), ("template", template)) if name is not None}
        if not changes:
            return self._named(recipe)
        key = (recipe, packer, template)
        if key not in self._changed:
            self._changed[key] = replace(self._named(recipe), **changes)  # type: ignore[arg-type]
        return self._changed[key]

    def all(self) -> tuple[Recipe, ...]:
        """All recipes."""
        return tuple(map(self._named, self._by_name))

    def _named(self, name: str) -> Recipe:
        recipe = self._by_name[name]
        if not isinstance(recipe, Recipe):
            recipe = self._by_name[name] = recipe()
        return recipe
