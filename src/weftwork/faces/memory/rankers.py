"""Which memory comes first: four rankings, and the door for one's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from weftwork.clock import system_clock
from weftwork.errors import InvalidInput
from weftwork.faces.memory.types import SearchResult
from weftwork.score import Profile

DAY = timedelta(days=1)
_EARLY = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingOptions:
    """How much each part of the default ranking counts."""

    similarity_weight: float = 0.6
    recency_weight: float = 0.2
    confidence_weight: float = 0.2

    @property
    def total(self) -> float:
        """All weights together: the highest rank score that there can be."""
        return self.similarity_weight + self.recency_weight + self.confidence_weight

    def check(self) -> None:
        """Refuse weights that are no numbers."""
        for name in self.__slots__:
            if not _is_number(getattr(self, name)):
                raise InvalidInput(f"{name} must be a number, got {getattr(self, name)!r}")

    def profile(self, main: str = "similarity") -> Profile:
        """The weights as a profile of the pipeline; without embeddings words stand in for similarity."""
        others = {"recency_inverse": self.recency_weight, "confidence": self.confidence_weight}
        words = {"relevance": self.similarity_weight, **others}
        return Profile("memory", {"similarity": 0.0, main: self.similarity_weight, **others}, without_embeddings=words)


DEFAULT_RANKING = RankingOptions()
RankingFunction = Callable[[list[SearchResult], RankingOptions], Iterable[SearchResult] | None]
"""Gives the results in their order, or sorts the list in place; what it leaves out is left out."""

BY_SIMILARITY = RankingOptions(similarity_weight=1, recency_weight=0, confidence_weight=0)
BY_CONFIDENCE = RankingOptions(similarity_weight=0, recency_weight=0, confidence_weight=1)


class MemoryRanker:
    """Rankings of a list of results at hand."""

    @staticmethod
    def default_ranking(
        results: Sequence[SearchResult], options: RankingOptions = DEFAULT_RANKING, *, now: datetime | None = None
    ) -> list[SearchResult]:
        """By similarity, recency 1 / (1 + days) and confidence, each with its weight."""
        moment = now or system_clock()
        return MemoryRanker.custom(results, lambda result: _rank_score(result, options, moment))

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
        """The surest first; those that do not say come last."""
        return MemoryRanker.custom(results, lambda result: result.memory.confidence or 0.0)

    @staticmethod
    def custom(results: Sequence[SearchResult], score: Callable[[SearchResult], float]) -> list[SearchResult]:
        """The highest score first, which becomes the rank; equals in the order of their ids."""
        ranked = [replace(result, rank=score(result)) for result in results]
        return sorted(ranked, key=lambda result: (-(result.rank or 0.0), result.memory.id))


def _rank_score(result: SearchResult, options: RankingOptions, now: datetime) -> float:
    memory = result.memory
    age = None if memory.created_at is None else max(timedelta(0), now - memory.created_at)
    recency = 0.0 if age is None else 1.0 / (1.0 + age / DAY)
    return (
        result.score * options.similarity_weight
        + recency * options.recency_weight
        + (memory.confidence or 0.0) * options.confidence_weight
    )


def apply_ranker(
    ranker: RankingFunction, results: Sequence[SearchResult], options: RankingOptions
) -> list[SearchResult]:
    """What a ranking of one's own makes of these results; nothing comes out that did not go in."""
    given = list(results)
    try:
        returned = ranker(given, options)
        ranked = given if returned is None else list(returned)
    except Exception as error:
        raise InvalidInput(f"the ranker failed with {type(error).__name__}: correct it, or use 'default'") from error
    known = {result.memory.id: result for result in results}
    ordered: dict[str, SearchResult] = {}
    for each in ranked:
        if not isinstance(each, SearchResult) or each.memory.id not in known:
            raise InvalidInput("the ranker returned something that it was not given: return the given results")
        if each.rank is not None and not _is_number(each.rank):
            raise InvalidInput(f"the ranker gave a rank of {each.rank!r}: give a number, or None")
        ordered.setdefault(each.memory.id, replace(known[each.memory.id], rank=each.rank))
    return list(ordered.values())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
