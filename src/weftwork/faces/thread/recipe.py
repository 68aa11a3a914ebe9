"""The recipe with other limits; the contract's scorer and optimiser by themselves, for items from elsewhere.

The latter two hand their items to the parts that the pipeline uses, and have no rules of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from weftwork.clock import Clock, aware, system_clock
from weftwork.errors import InvalidInput
from weftwork.faces.thread.values import ContextItem
from weftwork.history import Usage
from weftwork.pack import Choice, Room, get_packer
from weftwork.query import read_query
from weftwork.recipe import Recipe, get_recipe, thread_collectors
from weftwork.request import Request
from weftwork.score import Facts, get_profile, score
from weftwork.text.tokens import CharacterCounter, TokenCounter
from weftwork.text.truncate import truncate
from weftwork.types import (
    Budget,
    Candidate,
    Excerpt,
    Finding,
    NodeInfo,
    Passage,
)


def thread_recipe(**limits: int | None) -> Recipe:
    """The recipe `thread` with other limits; see `weftwork.recipe.thread_collectors`."""
    defaults = thread_collectors.__kwdefaults__ or {}
    for name, limit in limits.items():
        if name not in defaults:
            raise InvalidInput(f"there is no limit {name!r}: use some of {', '.join(defaults)}")
        whole = isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0
        if not whole and not (limit is None and name not in ("history", "older")):
            raise InvalidInput(f"the limit {name!r} must be a whole number of 0 or more, got {limit!r}")
    return replace(get_recipe("thread"), collectors=thread_collectors(**limits))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class RelevanceScorer:
    """The five weights, with the rarity of words and the uses of items as far as they are given."""

    idf: Mapping[str, float] | None = None
    usage: Mapping[str, int] | None = None
    """The number of uses of each item, by its id."""
    clock: Clock = system_clock

    def score_items(self, items: Sequence[ContextItem], query: str) -> list[ContextItem]:
        """The items with their relevance, in their order."""
        _check(items)
        now = self.clock()
        facts = Facts(
            Request(query=query, workspace="", user="", budget=Budget(total=1)),
            read_query(query, now),
            now,
            usage={name: Usage(used=count) for name, count in (self.usage or {}).items()},
            idf=self.idf or {},
        )
        candidates = [_candidate(item, number) for number, item in enumerate(items)]
        scores = {candidate.key: candidate.score for candidate in score(candidates, get_profile("thread"), facts)}
        return [replace(item, relevance=scores[number]) for number, item in enumerate(items)]


@dataclass(frozen=True, slots=True)
class OptimizationResult:
    """The items chosen and left out, each in the given order, and the tokens of those chosen."""

    selected: tuple[ContextItem, ...]
    excluded: tuple[ContextItem, ...]
    total_tokens: int


@dataclass(frozen=True, slots=True)
class TokenOptimizer:
    """Chooses items within a budget; if the best one alone is too large, it is cut, by this counter."""

    counter: TokenCounter = field(default_factory=CharacterCounter)

    def optimize(self, items: Sequence[ContextItem], max_tokens: int) -> OptimizationResult:
        """Choose by relevance per token, mixing types."""
        return self._pack("density", items, max_tokens)

    def optimize_dp(self, items: Sequence[ContextItem], max_tokens: int) -> OptimizationResult:
        """Choose the set of the greatest total relevance."""
        return self._pack("optimal", items, max_tokens)

    def _pack(self, packer: str, items: Sequence[ContextItem], max_tokens: int) -> OptimizationResult:
        _check(items)
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int):
            raise InvalidInput(f"max_tokens must be a whole number, got {max_tokens!r}")
        choices = [Choice(_candidate(item, number), item.tokens, item.relevance) for number, item in enumerate(items)]
        packing = get_packer(packer).pack(choices, Room(max(0, max_tokens)), self._shorten)
        selected = [_as_taken(items[choice.candidate.key], choice) for choice in packing.chosen]
        excluded = [items[choice.candidate.key] for choice in packing.dropped]
        return OptimizationResult(tuple(selected), tuple(excluded), packing.used)

    def _shorten(self, choice: Choice, limit: int) -> Choice | None:
        candidate = choice.candidate
        text = truncate(candidate.passage.text, limit, strategy="keep_start", counter=self.counter).text
        tokens = self.counter.count(text)
        if not 0 < tokens < choice.tokens:
            return None
        excerpt = Excerpt(candidate.node, candidate.section, "hits", (), text, tokens, choice.score)
        return replace(choice, tokens=tokens, score=choice.score * tokens / choice.tokens, excerpt=excerpt)


def _check(items: Sequence[ContextItem]) -> None:
    for item in items:
        if not isinstance(item, ContextItem):
            raise InvalidInput(f"{item!r} is no ContextItem: make one with  weftwork.faces.thread.ContextItem")


def _as_taken(item: ContextItem, choice: Choice) -> ContextItem:
    excerpt = choice.excerpt
    return item if excerpt is None else replace(item, content=excerpt.text, tokens=excerpt.tokens)


def _candidate(item: ContextItem, number: int) -> Candidate:
    """An item as a candidate."""
    by: Iterable[Finding] = (Finding("references", 1, 1.0, kind="reference"),) if item.type == "reference" else ()
    return Candidate(
        node=NodeInfo(
            id=item.id,
            type="message" if item.type == "message" else "file",
            created_at=None if item.metadata.created_at is None else aware(item.metadata.created_at),
        ),
        passage=Passage(
            ordinal=int(item.type == "chunk"),
            start=0,
            end=len(item.content),
            text=item.content,
            tokens=item.tokens,
            digest="",
            citation=item.id,
            key=number,
        ),
        section="semantic",
        findings=tuple(by),
        score=item.relevance,
    )
