"""Rankings of memories: four of the contract's, and custom functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from weftwork.clock import system_clock
from weftwork.errors import InvalidInput
from weftwork.faces.memory.types import SearchResult
from weftwork.score import Profile
from weftwork.score.scoring import weigh
from weftwork.types import is_number

DAY = timedelta(days=1)
SIMILARITY = "fused"
"""The signal that stands for similarity: words and meaning together, which find more than either alone."""
_EARLY = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingOptions:
    """The weights of the default ranking."""

    similarity_weight: float = 0.6
    recency_weight: float = 0.2
    confidence_weight: float = 0.2

    @property
    def total(self) -> float:
        """The sum of the weights: the highest possible rank score."""
        return self.similarity_weight + self.recency_weight + self.confidence_weight

    def check(self) -> None:
        """Refuse weights that are no numbers."""
        for name in self.__slots__:
            if not is_number(getattr(self, name)):
                raise InvalidInput(f"{name} must be a number, got {getattr(self, name)!r}")

    def profile(self) -> Profile:
        """The weights as a profile of the pipeline."""
        weights = {SIMILARITY: self.similarity_weight, "recency_inverse": self.recency_weight}
        return Profile("memory", {**weights, "confidence": self.confidence_weight})


DEFAULT_RANKING = RankingOptions()
RankingFunction = (
    Callable[[list[SearchResult], RankingOptions], Iterable[SearchResult] | None]
    | Callable[[list[SearchResult]], Iterable[SearchResult] | None]
)
"""Of the results, and the weights if it takes them: returns the results in their order, or sorts the list in place.

Results may be left out.
"""

BY_SIMILARITY = RankingOptions(similarity_weight=1, recency_weight=0, confidence_weight=0)
BY_CONFIDENCE = RankingOptions(similarity_weight=0, recency_weight=0, confidence_weight=1)


class MemoryRanker:
    """Rankings of a list of results at hand."""

    @staticmethod
    def default_ranking(
        results: Sequence[SearchResult],
        options: RankingOptions = DEFAULT_RANKING,
        *,
        now: datetime | None = None,
        decay: Mapping[str, float] | None = None,
    ) -> list[SearchResult]:
        """Rank by the weighted sum of similarity, recency 1 / (1 + days) and confidence, as the engine does.

        The weight of what is not known, such as a confidence, is shared out among the rest. `decay` has days by type.
        """
        moment = now or system_clock()
        return MemoryRanker.custom(results, lambda result: _rank_score(result, options, moment, decay or {}))

    @staticmethod
    def by_similarity(results: Sequence[SearchResult]) -> list[SearchResult]:
        """The most similar first."""
        return MemoryRanker.custom(results, lambda result: result.score)

    @staticmethod
    def by_recency(results: Sequence[SearchResult]) -> list[SearchResult]:
        """The latest first."""
        return MemoryRanker.custom(results, lambda result: (result.memory.created_at or _EARLY).timestamp())

    @staticmethod
    def by_confidence(results: Sequence[SearchResult]) -> list[SearchResult]:
        """The most confident first; those without confidence come last."""
        return MemoryRanker.custom(results, lambda result: result.memory.confidence or 0.0)

    @staticmethod
    def custom(results: Sequence[SearchResult], score: Callable[[SearchResult], float]) -> list[SearchResult]:
        """The highest score first, which becomes the rank; equals in the order of their ids."""
        ranked = [replace(result, rank=score(result)) for result in results]
        return sorted(ranked, key=lambda result: (-(result.rank or 0.0), result.memory.id))


def _rank_score(result: SearchResult, options: RankingOptions, now: datetime, decay: Mapping[str, float]) -> float:
    memory = result.memory
    age = None if memory.created_at is None else max(timedelta(0), now - memory.created_at)
    recency = None if age is None else 1.0 / (1.0 + age / DAY / decay.get(memory.type, 1.0))
    signals = {"similarity": result.score, "recency": recency, "confidence": memory.confidence}
    weights = {
        "similarity": options.similarity_weight,
        "recency": options.recency_weight,
        "confidence": options.confidence_weight,
    }
    return options.total * weigh(signals, weights)


def apply_ranker(
    ranker: RankingFunction, results: Sequence[SearchResult], options: RankingOptions
) -> list[SearchResult]:
    """Rank results by a custom function, and refuse any that it was not given."""
    unranked = list(results)
    try:
        returned = ranker(*_arguments(ranker, unranked, options))
        ranked = unranked if returned is None else list(returned)
    except Exception as error:
        raise InvalidInput(
            f"the ranker failed with {type(error).__name__}: correct it (it is given the results, and the weights "
            "if it takes two arguments), or use 'default'"
        ) from error
    originals = {result.memory.id: result for result in results}
    ordered: dict[str, SearchResult] = {}
    for result in ranked:
        if not isinstance(result, SearchResult) or result.memory.id not in originals:
            raise InvalidInput("the ranker returned something that it was not given: return the given results")
        if result.rank is not None and not is_number(result.rank):
            raise InvalidInput(f"the ranker gave a rank of {result.rank!r}: give a number, or None")
        ordered.setdefault(result.memory.id, replace(originals[result.memory.id], rank=result.rank))
    return list(ordered.values())


def _arguments(ranker: RankingFunction, results: list[SearchResult], options: RankingOptions) -> tuple[Any, ...]:
    """The results and the weights, or the results alone for a function of one argument."""
    try:
        inspect.signature(ranker).bind(results, options)
    except (TypeError, ValueError):
        return (results,)
    return (results, options)
