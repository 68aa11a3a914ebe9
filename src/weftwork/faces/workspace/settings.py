"""The default configuration of the workspace contract (7.1), each value of which can be changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeVar

from weftwork.collect.inquiry import RECENT_EVENTS
from weftwork.compose.ordering import WithEvidence
from weftwork.errors import InvalidInput
from weftwork.faces.workspace.budget import TokenBudget
from weftwork.score import Profile, get_profile
from weftwork.text.truncate import check_strategy
from weftwork.types import is_number

TABLE = "recipes.workspace"
"""The table of the settings in `weftwork.toml`."""

Settings = TypeVar("Settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class FocusSettings:
    """The reach of the focus collector around a block."""

    enabled: bool = True
    ancestor_depth: int = 3
    sibling_count: int = 2
    children_limit: int = 5

    def __post_init__(self) -> None:
        _check(self, ancestor_depth=(0, 64), sibling_count=(0, 1000), children_limit=(0, 1000))


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticSettings:
    """The number of passages of a search, and their least similarity.

    The threshold is the contract's, for models whose cosines of related texts lie around 0.7; it is rescaled for the
    built-in static model, see `weftwork.faces.workspace.recipe.SCALES`.
    """

    enabled: bool = True
    top_k: int = 15
    min_threshold: float = 0.6

    def __post_init__(self) -> None:
        _check(self, top_k=(1, 1000), min_threshold=(-1, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalSettings:
    """The search by words beside that by meaning, and the least score of what it finds.

    A score is the share of the highest that the query could give, and compares with no similarity.
    """

    enabled: bool = True
    min_threshold: float = 0.0

    def __post_init__(self) -> None:
        _check(self, min_threshold=(0, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSettings:
    """Tasks that are overdue or due, where the query asks for them."""

    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSettings:
    """Tasks that are open, in progress or done, where the query asks for them."""

    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarSettings:
    """Blocks like the focused one, where it is broken down, planned or estimated."""

    enabled: bool = True
    limit: int = 5

    def __post_init__(self) -> None:
        _check(self, limit=(1, 100))


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationsSettings:
    """The depth to which links are followed from the focus, and the most related nodes."""

    enabled: bool = True
    max_depth: int = 2
    max_items: int = 10

    def __post_init__(self) -> None:
        _check(self, max_depth=(1, 5), max_items=(1, 1000))


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivitySettings:
    """The amount of the user's recent work that counts."""

    enabled: bool = True
    recent_edit_count: int = 10
    recent_view_count: int = 5
    max_age_hours: float = 72.0

    def __post_init__(self) -> None:
        _check(
            self,
            recent_edit_count=(0, RECENT_EVENTS),
            recent_view_count=(0, RECENT_EVENTS),
            max_age_hours=(0, 24 * 365 * 100),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectorSettings:
    """The four collectors of the contract, and those beside them."""

    focus: FocusSettings = field(default_factory=FocusSettings)
    semantic: SemanticSettings = field(default_factory=SemanticSettings)
    relations: RelationsSettings = field(default_factory=RelationsSettings)
    activity: ActivitySettings = field(default_factory=ActivitySettings)
    lexical: LexicalSettings = field(default_factory=LexicalSettings)
    due: DueSettings = field(default_factory=DueSettings)
    status: StatusSettings = field(default_factory=StatusSettings)
    similar: SimilarSettings = field(default_factory=SimilarSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The weights of the composite scorer (4.1)."""

    semantic: float = 0.35
    structural: float = 0.25
    recency: float = 0.15
    type_match: float = 0.15
    user_affinity: float = 0.10

    def __post_init__(self) -> None:
        self.profile()

    def profile(self) -> Profile:
        """The same weights under the names of the signals."""
        signals = ("relevance", "structural", "recency_linear", "type_match", "affinity")
        values = (self.semantic, self.structural, self.recency, self.type_match, self.user_affinity)
        return replace(get_profile("workspace"), weights=dict(zip(signals, values, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingSettings:
    """The ranking of candidates, and the least evidence of what a search finds, as a share of that of the best."""

    weights: Weights = field(default_factory=Weights)
    min_evidence: float = WithEvidence().share

    def __post_init__(self) -> None:
        _check(self, min_evidence=(0, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncationSettings:
    """The strategy of truncation, and the fewest characters that have to be left."""

    default_strategy: str = "extractive"
    min_content_length: int = 50

    def __post_init__(self) -> None:
        check_strategy(self.default_strategy)
        _check(self, min_content_length=(0, 1_000_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceConfig:
    """The settings of the context builder, unless a request says otherwise."""

    token_budget: TokenBudget = field(default_factory=TokenBudget)
    collectors: CollectorSettings = field(default_factory=CollectorSettings)
    ranking: RankingSettings = field(default_factory=RankingSettings)
    truncation: TruncationSettings = field(default_factory=TruncationSettings)

    def __post_init__(self) -> None:
        self.token_budget.checked()

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> WorkspaceConfig:
        """Read a table `[recipes.workspace]` and the tables in it; the rest keeps its defaults."""
        return _read(cls(), table, TABLE)


def _check(settings: object, **ranges: tuple[float, float]) -> None:
    """Refuse numbers outside the range of a setting."""
    for name, (lowest, highest) in ranges.items():
        value = getattr(settings, name)
        if not is_number(value) or not lowest <= value <= highest:
            raise InvalidInput(f"{name} must be from {lowest} to {highest}, got {value!r}")


def _read(default: Settings, table: object, where: str) -> Settings:
    if not isinstance(table, Mapping):
        raise InvalidInput(f"{where} must be a table [{where}], got {table!r}")
    defaults = {setting.name: getattr(default, setting.name) for setting in fields(default)}  # type: ignore[arg-type]
    unknown = [str(name) for name in table if name not in defaults]
    if unknown:
        raise InvalidInput(f"unknown setting {where}.{unknown[0]}: use one of {', '.join(defaults)}")
    changes = {name: _typed(defaults[name], value, f"{where}.{name}") for name, value in table.items()}
    try:
        return replace(default, **changes)  # type: ignore[type-var]
    except InvalidInput as error:
        raise InvalidInput(f"[{where}] {error}") from error


def _typed(default: object, value: object, where: str) -> object:
    if is_dataclass(default):
        return _read(default, value, where)
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if type(value) is not type(default):
        raise InvalidInput(f"{where} must be of type {type(default).__name__}, got {value!r}")
    return value
