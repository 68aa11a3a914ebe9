"""The YAML at the top of a note, read without running anything that it says."""

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
    """That front matter cannot be read; the message says why."""


class _Plain(yaml.SafeLoader):  # type: ignore[misc]
    """Reads plain values; an alias, with which a few lines can stand for billions of values, is refused."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise NotYaml("it uses aliases")
        return super().compose_node(parent, index)


_FAST: Any = getattr(yaml, "CSafeLoader", _Plain)


def split(text: str) -> tuple[str, str]:
    """The front matter of a note and what follows it; the first is empty where there is none."""
    found = _BOUNDS.match(text)
    return (found.group(1), text[found.end() :]) if found else ("", text)


def values(matter: str) -> dict[str, Any]:
    """What front matter says, by name."""
    if len(matter) > LARGEST:
        raise NotYaml(f"it has more than {LARGEST:,} characters")
    try:
        found = yaml.load(matter, _Plain if _MAY_REFER.search(matter) else _FAST)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise NotYaml(_reason(error)) from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise NotYaml("it is no list of names and values")
    return {str(name): value for name, value in found.items()}


def fields(found: Mapping[str, Any]) -> dict[str, FieldValue]:
    """The values as fields of a node; names that begin with `_` are the store's own."""
    named = {name.strip(): value for name, value in found.items()}
    return {name: field(value) for name, value in named.items() if name and not name.startswith("_")}


def field(value: Any) -> FieldValue:
    """One value as a field: dates as ISO texts, lists as texts, whatever else is nested as JSON."""
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
            return tuple(_text(each) for each in value)
        case _:
            return _text(value)


def texts(value: Any) -> list[str]:
    """A value that may be one text or several."""
    if value is None:
        return []
    several = value if isinstance(value, (list, tuple, set)) else [value]
    return [text for text in (_text(each).strip() for each in several if each is not None) if text]


def _text(value: Any) -> str:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (dict, list, tuple, set)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else str(value)


def _reason(error: Exception) -> str:
    """The first line of what a parser says; it may quote much of the text below it."""
    said = getattr(error, "problem", None) or str(error) or type(error).__name__
    return str(said).splitlines()[0][:200]
