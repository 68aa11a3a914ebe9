"""The options of a context as named, typed keywords, for the engine and for clients of a server alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypedDict, TypeVar, cast, get_type_hints

from weftwork.lens import Lens
from weftwork.provenance import Trust
from weftwork.recipe import Recipe
from weftwork.request import Message, Topic
from weftwork.types import Budget, Filters

Method = TypeVar("Method", bound=Callable[..., Any])


class RequestOptions(TypedDict, total=False):
    """The fields of `Request` that a call may name, each with its type there."""

    focus: str | None
    page: str | None
    thread: str | None
    history: tuple[Message, ...]
    filters: Filters
    include: tuple[str, ...]
    prefer_types: frozenset[str]
    boosts: Mapping[str, float]
    edge_types: tuple[str, ...]
    edge_order: tuple[str, ...]
    depth: int | None
    topics: tuple[Topic, ...]
    show_fields: bool
    key_fields: tuple[str, ...]
    show: frozenset[str]
    truncation: str
    vector: tuple[float, ...] | None
    decay: Mapping[str, float]
    given: frozenset[str]
    min_support: float | None
    trust: Trust | None


class ContextOptions(RequestOptions, total=False):
    """All options of `Weft.context` beside the query and `since`."""

    user: str
    workspace: str
    budget: int | Budget | None
    recipe: str | Recipe
    lens: str | Lens | None
    remember: bool


class RemoteOptions(RequestOptions, total=False):
    """The options of `Client.context` that are sent to the server, which knows recipes and lenses by name."""

    budget: int | Budget | None
    recipe: str
    lens: str | None
    remember: bool


def named_options(options: type[Any]) -> Callable[[Method], Method]:
    """Give a method the keywords of a TypedDict in its signature, and have it refuse all others by the nearest name."""
    hints = get_type_hints(options)

    def decorate(method: Method) -> Method:
        signature = inspect.signature(method)
        own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=..., annotation=hint)
            for name, hint in hints.items()
            if name not in signature.parameters
        ]
        known = {each.name for each in own[1:]} | hints.keys()

        @wraps(method)
        def checked(*arguments: Any, **given: Any) -> Any:
            check_names(method.__name__, given, known)
            return method(*arguments, **given)

        vars(checked)["__signature__"] = signature.replace(parameters=[*own, *keywords])
        return cast(Method, checked)

    return decorate


def check_names(call: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise a TypeError that names the nearest option where one is not known."""
    names = sorted(known)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1, 0.6)
            hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(names)}"
            raise TypeError(f"{call}() has no option {name!r}: {hint}")
