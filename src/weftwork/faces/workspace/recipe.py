"""The workspace recipe as a configuration and a request want it; never a pipeline of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from weftwork.collect import (
    ActivityCollector,
    Collector,
    DueCollector,
    FocusCollector,
    HistoryCollector,
    LexicalCollector,
    ReferencesCollector,
    RelationsCollector,
    SemanticCollector,
    SimilarCollector,
    StatusCollector,
)
from weftwork.compose.ordering import WithEvidence
from weftwork.faces.workspace.budget import RequestType
from weftwork.faces.workspace.request import FocusKind
from weftwork.faces.workspace.settings import SemanticSettings, WorkspaceConfig
from weftwork.recipe import WHOLE, Recipe, get_recipe
from weftwork.score import Profile

WORKING = ("assist", "automate")
"""Types of request that work on the focus itself, for which blocks that resemble it serve as patterns."""
SCALES = {"wordllama-": 0.5}
"""Factors for thresholds of the contract, by the start of the model's name; 1 for all others.

Cosines of one model do not compare with those of another. Of the pairs of query and relevant text in three collections
(Cranfield, Medlars, CISI), the static model puts 6 to 14 % above 0.6 and 74 to 83 % above 0.3.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """The properties of a request that decide which parts of the pipeline run."""

    type: RequestType = "assist"
    focus: FocusKind | None = "block"
    closed: frozenset[str] = frozenset()
    """Sections that take nothing."""
    depth: int | None = None
    model: str = ""
    binding: bool = False
    """True if the request divides the budget itself."""


@lru_cache(maxsize=256)
def recipe_for(config: WorkspaceConfig, variation: Variation) -> Recipe:
    """The recipe for a variation; the same object each time, since contexts are cached by it."""
    return replace(
        get_recipe("workspace"),
        collectors=tuple(
            collector for collector in _collectors(config, variation) if collector.section not in variation.closed
        ),
        profile=_profile(config, variation.type),
        hits=_search_depth(config, variation),
        min_length=config.truncation.min_content_length,
        order=WithEvidence(config.ranking.min_evidence),
    )


@lru_cache(maxsize=16)
def configured_recipe(config: WorkspaceConfig, model: str) -> Recipe:
    """The workspace recipe as the settings want it, for requests that do not go through the builder."""
    budget = config.token_budget
    parts = {name: tokens * WHOLE // budget.total for name, tokens in budget.sections.items() if name != "system"}
    closed = frozenset(name for name, tokens in parts.items() if tokens == 0)
    return replace(recipe_for(config, Variation(closed=closed, model=model)), sections=parts)


def _search_depth(config: WorkspaceConfig, variation: Variation) -> int | None:
    """The hits of a search: `top_k`, or where neither settings nor request set a limit, as many as the budget holds."""
    top_k = config.collectors.semantic.top_k
    return top_k if variation.binding or top_k != SemanticSettings().top_k else None


def _profile(config: WorkspaceConfig, kind: RequestType) -> Profile:
    profile = config.ranking.weights.profile()
    if kind != "automate":
        return profile
    # A job gets the same context whoever edited or looked at what.
    weights = {name: weight for name, weight in profile.weights.items() if name != "affinity"}
    return replace(profile, weights=weights)


def _collectors(config: WorkspaceConfig, variation: Variation) -> Iterator[Collector]:
    """The enabled collectors, in the order in which their sections claim what several find."""
    chosen = config.collectors
    if chosen.focus.enabled:
        yield _focus(config, variation)
    yield ReferencesCollector(section=_open_section(variation.closed))
    if chosen.due.enabled:
        yield DueCollector()
    if chosen.status.enabled:
        yield StatusCollector()
    yield HistoryCollector()
    if chosen.lexical.enabled:
        yield LexicalCollector(threshold=chosen.lexical.min_threshold)
    if chosen.semantic.enabled:
        scale = next((part for start, part in SCALES.items() if variation.model.startswith(start)), 1.0)
        yield SemanticCollector(threshold=chosen.semantic.min_threshold * scale)
    if chosen.similar.enabled and variation.focus == "block" and variation.type in WORKING:
        yield SimilarCollector(limit=chosen.similar.limit)
    if chosen.relations.enabled:
        depth = variation.depth or chosen.relations.max_depth
        yield RelationsCollector(max_items=chosen.relations.max_items, max_depth=depth, for_commands=False)
    if chosen.activity.enabled:
        recent = chosen.activity
        yield ActivityCollector(
            edit_count=recent.recent_edit_count,
            view_count=recent.recent_view_count,
            max_age_hours=recent.max_age_hours,
        )


def _focus(config: WorkspaceConfig, variation: Variation) -> FocusCollector:
    settings = config.collectors.focus
    around = FocusCollector(
        ancestor_depth=variation.depth or settings.ancestor_depth,
        sibling_count=settings.sibling_count,
        children_limit=settings.children_limit,
        levels=variation.depth,
    )
    return around if variation.focus in (None, "block") else replace(around, around=False)


def _open_section(closed: frozenset[str]) -> str:
    """The section of included blocks: the first that is open, the most important first."""
    return next(
        (name for name in ("focus", "semantic", "relations", "activity", "history") if name not in closed), "focus"
    )
