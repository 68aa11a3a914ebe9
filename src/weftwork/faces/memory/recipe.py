"""Recipes from the options of the memory contract, and results from their contexts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from weftwork.collect import (
    Collector,
    ConversationCollector,
    LexicalCollector,
    ReferencesCollector,
    RelatedCollector,
    SemanticCollector,
)
from weftwork.collect.inquiry import Inquiry
from weftwork.collect.related import relatives
from weftwork.compose.ordering import COUNTED, Order, Ordered, Ordering, with_descending_scores
from weftwork.faces.memory.rankers import (
    BY_CONFIDENCE,
    BY_SIMILARITY,
    DEFAULT_RANKING,
    SIMILARITY,
    MemoryRanker,
    RankingFunction,
    RankingOptions,
    apply_ranker,
)
from weftwork.faces.memory.types import CONTRADICTS, Contradictions, Memory, RelatedMemory, SearchResult
from weftwork.recipe import MIN_SUPPORT, Recipe
from weftwork.store.protocol import View
from weftwork.types import MEMORY, Candidate, Decision

SECTION = "memories"
SEEDS = 10
"""The best hits whose relationships are followed where there is no limit."""
RELATIVE = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|recently|lately|currently|nowadays|ago|this morning"
    r"|(?:last|next|this|past|coming) (?:few )?(?:night|day|week|weekend|month|year|spring|summer|autumn|fall|winter"
    r"|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?s?)\b",
    re.IGNORECASE,
)
"""Words that mean another day each time they are read."""
FEWEST = 15
"""Hits that are read even for a lower limit: some may be passages of the same memory."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The weights of a ranking, or a function in their place."""

    weights: RankingOptions = DEFAULT_RANKING
    function: RankingFunction | None = None

    @property
    def scale(self) -> float:
        """The factor from a score in [0, 1] to the contract's weighted sum; 1 for a custom function."""
        return self.weights.total if self.function is None else 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The inputs of a recipe for memories."""

    limit: int | None
    """The most memories; None for as many as the budget holds."""
    depth: int = 0
    """The depth to which relationships are followed; 0 for not at all."""
    contradictions: Contradictions = None
    ranking: Ranking = Ranking()
    template: str = "chat"
    hits: int | None = None
    """Hits to read from each index where there is no limit; None for an estimate by the budget."""
    min_score: float = 0.0
    pinned: bool = False
    """True shows the nodes that the request includes before all others."""
    conversations: bool = False
    """True also finds what was said right before and after a hit in the same conversation."""
    days: bool = True
    """True tells the day of a memory that says "yesterday" or the like."""


def _by_recency(results: list[SearchResult], options: RankingOptions) -> list[SearchResult]:
    return [replace(result, rank=None) for result in MemoryRanker.by_recency(results)]


RANKINGS: dict[str, Callable[[RankingOptions], Ranking]] = {
    "default": Ranking,
    "hybrid": Ranking,
    "by_similarity": lambda weights: Ranking(BY_SIMILARITY),
    "by_recency": lambda weights: Ranking(weights, function=_by_recency),
    "by_confidence": lambda weights: Ranking(BY_CONFIDENCE),
}
"""Rankings by name, given the weights of the request. "hybrid" is an earlier name of the default."""


def recipe_for(plan: Plan) -> Recipe:
    """The recipe for a plan.

    Equal plans share one, and so its cached contexts; a custom function may return something else the
    next time, so that nothing is cached for it.
    """
    return _recipe(plan) if plan.ranking.function in (None, _by_recency) else _recipe.__wrapped__(plan)


@lru_cache(maxsize=64)
def _recipe(plan: Plan) -> Recipe:
    collectors: list[Collector] = [
        LexicalCollector(section=SECTION),
        SemanticCollector(threshold=0.0, section=SECTION),
    ]
    if plan.conversations:
        collectors.append(ConversationCollector(section=SECTION))
    seeds = SEEDS if plan.limit is None else plan.limit
    if plan.contradictions:
        collectors.append(
            RelatedCollector(types=(CONTRADICTS,), seeds=seeds, kind="contradiction", name=CONTRADICTS, section=SECTION)
        )
    if plan.depth:
        collectors.append(RelatedCollector(depth=plan.depth, seeds=seeds, section=SECTION))
    if plan.pinned:
        collectors.append(ReferencesCollector(section=SECTION, in_query=False))
    ranking = plan.ranking
    rank = None if ranking.function is None else _ranked_by(ranking.function, ranking.weights)
    return Recipe(
        name="memory",
        collectors=tuple(collectors),
        profile=ranking.weights.profile(),
        packer="ranked",
        template=plan.template,
        hits=plan.hits if plan.limit is None else max(FEWEST, 2 * plan.limit),
        unit="node",
        plain=False,
        min_support=MIN_SUPPORT,
        order=_Order(Ordering(plan.limit, SIMILARITY, plan.contradictions, rank), plan.min_score, plan.days),
    )


@dataclass(frozen=True, slots=True)
class _Order:
    """An ordering of hits that are similar enough, with the day where a text counts from it."""

    ordering: Ordering
    min_score: float
    days: bool

    def __call__(self, inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
        """The candidates in their final order."""
        near = [candidate for candidate in candidates if self._is_near(candidate)]
        reason = f"below the lowest score of {self.min_score:g}"
        far = [Decision.on(candidate, "dropped", reason) for candidate in candidates if not self._is_near(candidate)]
        remaining, left_out = self.ordering(inquiry, near)
        return [_dated(candidate) if self.days else candidate for candidate in remaining], left_out + far

    def _is_near(self, candidate: Candidate) -> bool:
        others = [finding for finding in candidate.findings if finding.kind not in COUNTED]
        return bool(others) or similarity(candidate) >= self.min_score


def _dated(candidate: Candidate) -> Candidate:
    """The candidate, with the day on which it was said if its text counts from it."""
    said = candidate.node.created_at
    if candidate.note or said is None or not RELATIVE.search(candidate.passage.text):
        return candidate
    return replace(candidate, note=f"said on {said:%Y-%m-%d}")


def _ranked_by(ranker: RankingFunction, weights: RankingOptions) -> Order:
    """A custom ranking as the final order of candidates."""

    def order(inquiry: Inquiry, candidates: Sequence[Candidate]) -> Ordered:
        best = {candidate.node.id: candidate for candidate in reversed(candidates)}
        nodes = {node.id: node for node in inquiry.view.nodes(list(best))}
        results = [
            SearchResult(Memory.from_node(node, nodes[name].text), similarity(best[name]))
            for name, node in ((candidate.node.id, candidate.node) for candidate in best.values())
            if name in nodes
        ]
        results.sort(key=lambda result: (-best[result.memory.id].score, result.memory.id))
        ranked = apply_ranker(ranker, results, weights)
        places = {result.memory.id: (place, result.rank) for place, result in enumerate(ranked)}
        remaining = [candidate for candidate in candidates if candidate.node.id in places]
        dropped = [candidate for candidate in candidates if candidate.node.id not in places]
        remaining.sort(key=lambda candidate: (places[candidate.node.id][0], candidate.passage.ordinal))
        return with_descending_scores(
            [_placed(candidate, *places[candidate.node.id], len(places)) for candidate in remaining]
        ), [Decision.on(candidate, "dropped", "left out by the ranker") for candidate in dropped]

    return order


def _placed(candidate: Candidate, place: int, rank: float | None, count: int) -> Candidate:
    """A candidate whose score is its place, from 1 downwards; the ranking's own figure is kept as "rank"."""
    score = (count - place) / count
    return replace(candidate, score=score, signals={**candidate.signals, "rank": score if rank is None else rank})


def similarity(candidate: Candidate) -> float:
    """The similarity of a candidate to the query, by words and meaning together."""
    return candidate.signals.get(SIMILARITY) or 0.0


def _rank(candidate: Candidate) -> float:
    """The figure that a candidate was ranked by, which may be 0; its score where there is no other."""
    value = candidate.signals.get("rank")
    return candidate.score if value is None else value


@dataclass(frozen=True, slots=True)
class Expansion:
    """The depth to which relationships are followed, and the moment at which they are valid."""

    depth: int
    as_of: datetime | None


def results_of(
    view: View, candidates: Sequence[Candidate], ranking: Ranking, expansion: Expansion | None
) -> tuple[SearchResult, ...]:
    """The memories of these candidates in order, each once, with texts and relationships of the view."""
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        previous = best.get(candidate.node.id)
        if previous is None or candidate.score > previous.score:
            best[candidate.node.id] = candidate
    texts = {node.id: node.text for node in view.nodes(list(best))}
    return tuple(
        SearchResult(
            # A memory that was removed meanwhile is told as it was when the context was made.
            memory=Memory.from_node(candidate.node, texts.get(name, candidate.passage.text)),
            score=similarity(candidate),
            rank=ranking.scale * _rank(candidate),
            relationships=None if expansion is None else _related(view, name, expansion),
        )
        for name, candidate in best.items()
    )


def _related(view: View, name: str, expansion: Expansion) -> tuple[RelatedMemory, ...]:
    related = [
        relative
        for relative in relatives(view, [name], expansion.depth, as_of=expansion.as_of)
        if MEMORY in relative.node.tags
    ]
    nodes = {node.id: node for node in view.nodes([relative.node.id for relative in related])}
    return tuple(
        RelatedMemory(Memory.from_node(relative.node, nodes[relative.node.id].text), relative.edge, len(relative.path))
        for relative in related
        if relative.node.id in nodes
    )
