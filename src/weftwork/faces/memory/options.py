"""Options of the memory face, with the contract's defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from weftwork.clock import aware
from weftwork.errors import InvalidInput
from weftwork.faces.memory.rankers import DEFAULT_RANKING, RankingFunction, RankingOptions
from weftwork.faces.memory.types import MEMORY, Contradictions
from weftwork.render import Template
from weftwork.types import Filters
from weftwork.validation import check_decay

MOST = 1_000
DEEPEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Options of a search for memories and what they are related to."""

    limit: int | None = None
    """The most memories: 10 for a search, and as many as the budget holds for a context, if nothing is said."""
    memory_types: Sequence[str] = ()
    date_from: datetime | None = None
    date_to: datetime | None = None
    min_confidence: float | None = None
    conversation_id: str | None = None
    include_relationships: bool = False
    relationship_depth: int = 1
    as_of: datetime | None = None
    """The moment at which memories have to be valid; now if nothing is said."""
    contradictions: Contradictions = None
    """Show both sides of a contradiction with their dates, the newer first; or the newer alone.

    If nothing is said, a context shows both, and a search gives its hits.
    """
    user: str | None = None
    """The user who asks; the engine's if nothing is said."""

    def filters(self) -> Filters:
        """The filters of the search."""
        return Filters(
            types=frozenset(self.memory_types),
            tags=frozenset({MEMORY}),
            after=self.date_from,
            before=self.date_to,
            min_confidence=self.min_confidence,
            conversation=self.conversation_id,
            as_of=self.as_of,
        )

    def check(self) -> None:
        """Refuse options that cannot be met, saying what to change."""
        for name in ("date_from", "date_to", "as_of"):
            if not isinstance(getattr(self, name), datetime | None):
                raise InvalidInput(f"{name} must be a time, got {getattr(self, name)!r}")
        if not _are_texts(self.memory_types):
            raise InvalidInput(f"memory_types must be several texts, got {self.memory_types!r}: put it into a list")
        if not isinstance(self.conversation_id, str | None):
            raise InvalidInput(f"conversation_id must be text, got {self.conversation_id!r}")
        if self.limit is not None and not _is_count(self.limit, MOST):
            raise InvalidInput(f"limit must be a whole number from 1 to {MOST}, got {self.limit!r}")
        if not _is_count(self.relationship_depth, DEEPEST):
            raise InvalidInput(f"relationship_depth must be from 1 to {DEEPEST}, got {self.relationship_depth!r}")
        sure = self.min_confidence
        if sure is not None and not (isinstance(sure, int | float) and 0 <= sure <= 1):
            raise InvalidInput(f"min_confidence must be between 0 and 1, got {self.min_confidence!r}")
        if self.date_from and self.date_to and aware(self.date_to) < aware(self.date_from):
            raise InvalidInput(f"date_to must not be before date_from, got {self.date_to!s}")
        if self.contradictions not in (None, "both", "newer"):
            raise InvalidInput(f"contradictions must be 'both' or 'newer', got {self.contradictions!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions(SearchOptions):
    """Options of the ranking and writing of memories."""

    template: str | Template | Mapping[str, object] | None = None
    """A template's name, or a custom template; the engine's default if nothing is said."""
    token_budget: int | None = None
    ranker: str | RankingFunction = "default"
    ranking: RankingOptions = field(default_factory=lambda: DEFAULT_RANKING)
    """The weights of the default ranking; a custom ranking gets them too."""
    include_metadata: bool | None = None
    """True writes type, confidence and time with each memory; None leaves it to the template."""

    def check(self) -> None:
        """Refuse options that cannot be met, saying what to change."""
        SearchOptions.check(self)
        if not isinstance(self.template, str | Template | Mapping | None):
            raise InvalidInput(f"template must be a name or a template, got {self.template!r}")
        if not isinstance(self.ranker, str) and not callable(self.ranker):
            raise InvalidInput(f"ranker must be a name or a function of results and options, got {self.ranker!r}")
        if not isinstance(self.ranking, RankingOptions):
            raise InvalidInput(f"ranking must be RankingOptions(...), got {self.ranking!r}")
        self.ranking.check()


def memory_settings(settings: Mapping[str, Any]) -> dict[str, float]:
    """The decay by type from the table `[recipes.memory]` of `weftwork.toml`, which holds nothing else."""
    for name, value in settings.items():
        if name != "decay" or not isinstance(value, Mapping):
            raise InvalidInput(f"recipes.memory cannot have {name} = {value!r}: give a table [recipes.memory.decay]")
    return read_decay(settings.get("decay", {}))


def read_decay(settings: Mapping[str, object]) -> dict[str, float]:
    """Days by type from a table of settings; "never" stands for a type that does not fade."""
    decay = {name: float("inf") if days == "never" else days for name, days in settings.items()}
    check_decay(decay)  # type: ignore[arg-type]
    return decay  # type: ignore[return-value]


def _are_texts(values: object) -> bool:
    return (
        isinstance(values, Iterable) and not isinstance(values, str) and all(isinstance(value, str) for value in values)
    )


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
