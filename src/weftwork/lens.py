"""Lenses: preferences of a walk of the graph, for one kind of work (graph contract).

A lens orders and never restricts: its edge types are followed before all others, its tags raise a score,
its fields are always shown, and no walk goes further than its depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from weftwork.errors import InvalidInput, UnknownName
from weftwork.request import DEFAULT_DEPTH, Request

BOOST = 0.1
"""The addition of each boosted tag to a score: two of them are worth the step from distance 2 to distance 1."""
DEEPEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """Preferences while a context is made."""

    name: str
    description: str = ""
    edge_types: tuple[str, ...] = ()
    """Edge types to follow first, in this order."""
    boost_tags: tuple[str, ...] = ()
    """Tags or types that raise a score."""
    include_fields: tuple[str, ...] = ()
    """Fields that are always shown, first."""
    max_depth: int = DEEPEST

    def __post_init__(self) -> None:
        depth = self.max_depth
        if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= DEEPEST:
            raise InvalidInput(f"lens {self.name!r} has max_depth = {depth!r}: give a whole number from 1 to {DEEPEST}")

    @classmethod
    def from_mapping(cls, name: str, settings: Mapping[str, object]) -> Lens:
        """A lens from a table `[lenses.NAME]` of `weftwork.toml`."""
        values: dict[str, object] = {}
        for key, value in settings.items():
            if key not in _SETTINGS:
                raise InvalidInput(f"lens {name!r} has an unknown setting {key!r}: use {', '.join(_SETTINGS)}")
            values[_SETTINGS[key]] = _typed(name, key, value)
        return cls(name=name, **values)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, object]:
        """The lens in the words of `weftwork.toml`."""
        values = {key: getattr(self, slot) for key, slot in _SETTINGS.items()}
        return {"name": self.name} | {
            key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
        }


_SETTINGS = {
    "description": "description",
    "priority_types": "edge_types",
    "boost_tags": "boost_tags",
    "include_fields": "include_fields",
    "max_depth": "max_depth",
}


def _typed(name: str, key: str, value: object) -> object:
    """The value, if it is of the kind that the setting takes; `max_depth` is checked with the lens."""
    match key, value:
        case ("description", str()) | ("max_depth", _):
            return value
        case (("priority_types" | "boost_tags" | "include_fields"), list() | tuple()):
            if all(isinstance(part, str) and part.strip() for part in value):
                return tuple(dict.fromkeys(value))
    expected = "text" if key == "description" else 'a list of names, such as ["a", "b"]'
    raise InvalidInput(f"{key} of lens {name!r} must be {expected}, got {value!r}")


BUILTIN: Mapping[str, Lens] = {
    lens.name: lens
    for lens in (
        Lens(
            name="general",
            description="Whatever is near: contents first, then references and fields.",
            edge_types=("child", "parent", "reference", "field"),
            max_depth=3,
        ),
        Lens(
            name="writing",
            description="Notes and drafts, and what they contain and refer to.",
            edge_types=("child", "reference"),
            boost_tags=("note", "draft", "writing", "article"),
            max_depth=2,
        ),
        Lens(
            name="coding",
            description="Specifications, decisions and code, with who does what.",
            edge_types=("reference", "field"),
            boost_tags=("spec", "architecture", "code", "decision"),
            include_fields=("status", "priority", "assignee"),
            max_depth=3,
        ),
        Lens(
            name="planning",
            description="Goals, milestones and tasks, with due dates and what blocks them.",
            edge_types=("child", "field"),
            boost_tags=("goal", "milestone", "task", "project"),
            include_fields=("due", "status", "blocked-by"),
            max_depth=4,
        ),
        Lens(
            name="meeting-prep",
            description="People, meetings and actions, with who attends and when.",
            edge_types=("reference", "child"),
            boost_tags=("person", "meeting", "action", "agenda"),
            include_fields=("attendees", "date", "status"),
            max_depth=2,
        ),
    )
}
"""The lenses of the graph contract, in its order."""


class Lenses:
    """The registry of lenses by name: built-in and registered ones."""

    def __init__(self, more: Iterable[Lens] = ()) -> None:
        self._by_name = dict(BUILTIN)
        for lens in more:
            self.register(lens)

    def register(self, lens: Lens) -> None:
        """Make a lens known; one of the same name is replaced."""
        self._by_name[lens.name] = lens

    def get(self, lens: str | Lens) -> Lens:
        """The lens of this name; a lens itself is handed back."""
        if isinstance(lens, Lens):
            return lens
        if lens not in self._by_name:
            raise UnknownName("lens", lens, self._by_name)
        return self._by_name[lens]

    def names(self) -> tuple[str, ...]:
        """The names of all lenses: the built-in ones in the contract's order, then registered ones."""
        return tuple(self._by_name)


def apply_lens(request: Request, lens: Lens) -> Request:
    """Apply a lens to a request, whose own boosts and edge order take precedence."""
    return replace(
        request,
        edge_order=tuple(dict.fromkeys((*request.edge_order, *lens.edge_types))),
        boosts={**dict.fromkeys(lens.boost_tags, BOOST), **request.boosts},
        key_fields=tuple(dict.fromkeys((*request.key_fields, *lens.include_fields))),
        depth=min(DEFAULT_DEPTH if request.depth is None else request.depth, lens.max_depth),
    )
