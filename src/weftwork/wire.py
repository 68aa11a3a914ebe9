"""Values as JSON and back, field by field, in the names of `weftwork.types`: server and client hold the same."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from weftwork.clock import aware
from weftwork.errors import InvalidInput
from weftwork.render.jsonform import scalar
from weftwork.render.quote import writable
from weftwork.types import Passage

Value = TypeVar("Value")
_UNFIT = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""Raised by data of another kind; the last one by a whole number that is larger than any float."""


def encode(value: Any) -> Any:
    """The value in types that JSON has; what JSON cannot say, such as half of a character, is replaced."""
    if isinstance(value, Passage):
        # Keys are numbered through the whole store: they would tell how much there is that the reader may not see.
        value = replace(value, key=0)
    match value:
        case Mapping():
            return {writable(str(name)): encode(part) for name, part in value.items()}
        case frozenset() | set():
            return sorted(encode(part) for part in value)
        case list() | tuple():
            return [encode(part) for part in value]
    if is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    return scalar(value, lambda moment: aware(moment).isoformat())


def decode(kind: type[Value], data: Any) -> Value:
    """The value that was encoded; raises InvalidInput for what is none of this kind."""
    try:
        return cast(Value, _decoder(cast(Any, kind))(data))
    except _UNFIT as error:
        raise InvalidInput(f"this is no {getattr(kind, '__name__', kind)}: {error}") from error


@cache
def _decoder(kind: Any) -> Callable[[Any], Any]:
    """The decoder of a type."""
    if is_dataclass(kind):
        return _of_dataclass(cast(type, kind))
    if kind in _CONVERTED:
        return _CONVERTED[kind]
    return _of_several(kind) or (lambda data: _plain(kind, data))


def _of_several(kind: Any) -> Callable[[Any], Any] | None:
    """The decoder of a generic type, or None for a plain one."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _of_union(parts)
    if origin is tuple:
        return _of_tuple(parts)
    if origin is frozenset:
        return lambda data: frozenset(map(_decoder(parts[0]), data))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return lambda data: {name: _decoder(parts[1])(part) for name, part in data.items()}
    return _same if origin is Literal else None


def _same(data: Any) -> Any:
    return data


_CONVERTED: Mapping[Any, Callable[[Any], Any]] = {
    datetime: datetime.fromisoformat,
    float: float,
    Any: _same,
    object: _same,
}


def _plain(kind: type, data: Any) -> Any:
    if not isinstance(data, kind) or (isinstance(data, bool) and kind is not bool):
        raise TypeError(f"{data!r} should be of the kind {kind.__name__}")
    return data


def _of_dataclass(kind: type) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    known = {field.name: field.default is MISSING and field.default_factory is MISSING for field in fields(kind)}

    def read(data: Any) -> Any:
        # What a newer server says beside what this version knows is passed over.
        return kind(**{n: _decoder(hints[n])(data[n]) for n, required in known.items() if required or n in data})

    return read


def _of_union(parts: tuple[Any, ...]) -> Callable[[Any], Any]:
    """The first kind that the data can be; None and the plain kinds come before those that convert."""
    ordered = sorted(parts, key=lambda part: part not in (type(None), bool, int, str))

    def read(data: Any) -> Any:
        for part in ordered:
            try:
                return _decoder(part)(data)
            except _UNFIT:
                continue
        raise TypeError(f"{data!r} is none of {', '.join(map(str, parts))}")

    return read


def _of_tuple(parts: tuple[Any, ...]) -> Callable[[Any], Any]:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return lambda data: tuple(map(_decoder(parts[0]), _plain(list, data)))
    return lambda data: tuple(_decoder(part)(each) for part, each in zip(parts, _plain(list, data), strict=True))
