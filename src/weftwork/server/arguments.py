"""The arguments of a tool, checked against the schema that the tool shows to its callers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weftwork.errors import InvalidInput
from weftwork.render.quote import inline, writable
from weftwork.types import is_number

Schema = Mapping[str, Any]


def read_arguments(schema: Schema, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Every argument of the schema: as given, else by default, else None."""
    properties: Mapping[str, Schema] = schema["properties"]
    # A model that leaves out an argument may well say null.
    given = {name: value for name, value in (given or {}).items() if value is not None}
    for name in given:
        if name not in properties:
            raise InvalidInput(f"unknown argument {_shown(name)}: use {', '.join(properties)}")
    for name in schema.get("required", ()):
        if name not in given:
            raise InvalidInput(f"{name} is missing: give {_KINDS[properties[name]['type']][1]}")
    return {
        name: _read(name, part, given[name]) if name in given else part.get("default")
        for name, part in properties.items()
    }


def _read(name: str, schema: Schema, value: object) -> Any:
    read, wanted = _KINDS[schema["type"]]
    argument = read(value)
    if argument is None:
        raise InvalidInput(f"{name} must be {wanted}, got {_shown(value)}")
    if "enum" in schema and argument not in schema["enum"]:
        raise InvalidInput(f"{name} must be one of {', '.join(schema['enum'])}, got {_shown(value)}")
    low, high = schema.get("minimum"), schema.get("maximum")
    if (low is not None and argument < low) or (high is not None and argument > high):
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise InvalidInput(f"{name} must be {limits}, got {_shown(value)}")
    return argument


def whole(name: str, value: float) -> int:
    """A number that the schema lets be any, where only a whole one makes sense."""
    if not isinstance(value, int):
        raise InvalidInput(f"{name} must be a whole number, got {_shown(value)}")
    return value


def _text(value: object) -> str | None:
    return writable(value) if isinstance(value, str) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: object) -> float | None:
    """A number; JSON does not tell 2 from 2.0."""
    if not is_number(value):
        return None
    return int(value) if value == int(value) else value


def _whole(value: object) -> int | None:
    number = _number(value)
    return number if isinstance(number, int) else None


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        return None
    return tuple(map(writable, value))


_KINDS: Mapping[str, tuple[Callable[[object], Any], str]] = {
    "string": (_text, "text"),
    "number": (_number, "a number"),
    "integer": (_whole, "a whole number"),
    "boolean": (_flag, "true or false"),
    "array": (_texts, "a list of texts"),
}


def _shown(value: object) -> str:
    return inline(repr(value)[:200], 80)
