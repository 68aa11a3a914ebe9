"""Options of the memory face, with the contract's defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from weftwork.clock import aware
from weftwork.errors import InvalidInput
from weftwork.faces.memory.rankers import DEFAULT_RANKING, RankingFunction, RankingOptions
from weftwork.faces.memory.types import Contradictions, metadata_tags
from weftwork.render import Template
from weftwork.types import MEMORY, FieldValue, Filters
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
    tags: Sequence[str] = ()
    """Tags that a memory has to have, all of them."""
    metadata: Mapping[str, FieldValue] = field(default_factory=dict)
    """Values that a memory's metadata have to have, all of them."""
    min_score: float | None = None
    """The lowest similarity of a hit."""
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
            tags=frozenset({MEMORY, *self.tags, *metadata_tags(self.metadata)}),
            after=self.date_from,
            before=self.date_to,
            min_confidence=self.min_confidence,
            conversation=self.conversation_id,
            as_of=self.as_of,
        )

    def check(self) -> None:
        """Refuse options that cannot be met, saying what to change."""
        for name, sound, wanted in (
            *((name, _is_moment, "a time") for name in ("date_from", "date_to", "as_of")),
            *((name, _are_texts, "several texts: put it into a list") for name in ("memory_types", "tags")),
            *((name, _is_share, "between 0 and 1") for name in ("min_confidence", "min_score")),
            ("metadata", _is_mapping, "a mapping of names to values"),
            ("conversation_id", _is_text, "text"),
            ("limit", _is_limit, f"a whole number from 1 to {MOST}"),
            ("relationship_depth", _is_depth, f"a whole number from 1 to {DEEPEST}"),
            ("contradictions", _is_choice, "'both' or 'newer'"),
        ):
            if not sound(getattr(self, name)):
                raise InvalidInput(f"{name} must be {wanted}, got {getattr(self, name)!r}")
        if self.date_from and self.date_to and aware(self.date_to) < aware(self.date_from):
            raise InvalidInput(f"date_to must not be before date_from, got {self.date_to!s}")


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
    pinned_tokens: int = 500
    """The most tokens of the budget that pinned memories may take; 0 for none of them."""
    min_support: float | None = None
    """The least support of a query with which more than pinned memories is shown; 0 shows what comes nearest.

    None for that of every recipe.
    """

    def check(self) -> None:
        """Refuse options that cannot be met, saying what to change."""
        SearchOptions.check(self)
        if not isinstance(self.template, str | Template | Mapping | None):
            raise InvalidInput(f"template must be a name or a template, got {self.template!r}")
        if not isinstance(self.ranker, str) and not callable(self.ranker):
            raise InvalidInput(f"ranker must be a name or a function of results and options, got {self.ranker!r}")
        if not isinstance(self.ranking, RankingOptions):
            raise InvalidInput(f"ranking must be RankingOptions(...), got {self.ranking!r}")
        if not _is_share(self.min_support):
            raise InvalidInput(f"min_support must be between 0 and 1, got {self.min_support!r}")
        self.ranking.check()
        if not isinstance(self.pinned_tokens, int) or isinstance(self.pinned_tokens, bool) or self.pinned_tokens < 0:
            raise InvalidInput(f"pinned_tokens must be a whole number of at least 0, got {self.pinned_tokens!r}")


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


def _is_moment(value: object) -> bool:
    return value is None or isinstance(value, datetime)


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_share(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and 0 <= value <= 1)


def _is_limit(value: object) -> bool:
    return value is None or _is_count(value, MOST)


def _is_depth(value: object) -> bool:
    return _is_count(value, DEEPEST)


def _is_choice(value: object) -> bool:
    return value in (None, "both", "newer")


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
