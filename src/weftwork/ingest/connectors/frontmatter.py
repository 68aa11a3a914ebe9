"""YAML front matter, loaded safely."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import yaml

from weftwork.types import FieldValue

LARGEST = 100_000
"""Characters of front matter that are read."""
_BOUNDS = re.compile(r"\A---[ \t]*\n(.*?)(?:^---|^\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MAY_REFER = re.compile(r"(?:^|[\s\[{,:\-])[&*]\w", re.MULTILINE)


class NotYaml(ValueError):
    """The front matter cannot be parsed; the message says why."""


class _Plain(yaml.SafeLoader):  # type: ignore[misc]
    """Safe loader that refuses aliases, with which a few lines can stand for billions of values."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise NotYaml("it uses aliases")
        return super().compose_node(parent, index)


_FAST: Any = getattr(yaml, "CSafeLoader", _Plain)


def split(text: str) -> tuple[str, str]:
    """Split a note into front matter, empty if there is none, and body."""
    match = _BOUNDS.match(text)
    return (match.group(1), text[match.end() :]) if match else ("", text)


def values(matter: str) -> dict[str, Any]:
    """Parse front matter."""
    if len(matter) > LARGEST:
        raise NotYaml(f"it has more than {LARGEST:,} characters")
    try:
        loaded = yaml.load(matter, _Plain if _MAY_REFER.search(matter) else _FAST)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise NotYaml(_reason(error)) from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise NotYaml("it is no list of names and values")
    return {str(name): value for name, value in loaded.items()}


def fields(loaded: Mapping[str, Any]) -> dict[str, FieldValue]:
    """The values as fields of a node; names that begin with `_` are reserved for the store."""
    named = {name.strip(): value for name, value in loaded.items()}
    return {name: field(value) for name, value in named.items() if name and not name.startswith("_")}


def field(value: Any) -> FieldValue:
    """Convert a value to a field: dates to ISO, lists to strings, other nested values to JSON."""
    match value:
        case bool() | None | str():
            return value
        case int():
            return value if abs(value) < 2**53 else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case datetime() | date():
            return value.isoformat()
        case list() | tuple() | set():
            return tuple(_text(item) for item in value)
        case _:
            return _text(value)


def texts(value: Any) -> list[str]:
    """The strings of a value that may be one or several."""
    if value is None:
        return []
    several = value if isinstance(value, (list, tuple, set)) else [value]
    return [text for text in (_text(item).strip() for item in several if item is not None) if text]


def _text(value: Any) -> str:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (dict, list, tuple, set)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else str(value)


def _reason(error: Exception) -> str:
    """The first line of a parser's message; the rest may quote much of the text."""
    message = getattr(error, "problem", None) or str(error) or type(error).__name__
    return str(message).splitlines()[0][:200]
