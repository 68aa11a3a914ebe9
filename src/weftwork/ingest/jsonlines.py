"""JSON lines: one node, edge or user a line.

A line with `source` and `target` is an edge, one with `user` a user, any other a node; the names of
its members are the names of the fields of `Node` and `Edge`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weftwork.errors import InvalidInput
from weftwork.ingest.events import Person, Piece, Skipped
from weftwork.types import Edge, FieldValue, Node, is_number
from weftwork.write.prepare import check_node

TIMES = ("created_at", "updated_at", "valid_from", "valid_until")


def read_json_lines(path: Path) -> Iterator[Piece]:
    """Parse each line; yield Skipped with the line number for one that cannot be used."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
        yield from parse_lines(lines, str(path))


def parse_lines(lines: Iterable[str], what: str) -> Iterator[Piece]:
    """The same for lines that come from elsewhere; `what` names their origin."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield parse(line)
            except InvalidInput as error:
                yield Skipped(f"{what}:{number}", str(error))


def parse(line: str) -> Node | Edge | Person:
    """Parse one line."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:  # also a number of more digits than Python reads
        raise InvalidInput(f"not JSON ({error})") from error
    if not isinstance(values, dict):
        raise InvalidInput(f"a line must be an object, got {type(values).__name__}")
    if "user" in values:
        _known(values, ("user", "groups"))
        return Person(_text(values, "user"), tuple(_texts(values.get("groups", []), "groups")))
    if "source" in values and "target" in values:
        return _edge(values)
    return _node(values)


def _edge(values: Mapping[str, Any]) -> Edge:
    _known(values, Edge.__slots__)
    weight = values.get("weight", 1.0)
    if not is_number(weight):
        raise InvalidInput(f"weight must be a number, got {weight!r}")
    texts = {name: _text(values, name) for name in ("source", "target", "type", "label") if name in values}
    return Edge(**texts, weight=float(weight))


def _node(values: Mapping[str, Any]) -> Node:
    _known(values, (*Node.__mro__[1].__slots__, "text"))  # type: ignore[attr-defined]
    if "id" not in values:
        raise InvalidInput("a node needs an 'id'")
    attributes: dict[str, Any] = {}
    for name, value in values.items():
        if name == "tags":
            attributes[name] = tuple(_texts(value, name))
        elif name in TIMES:
            attributes[name] = _time(value, name)
        elif name == "access":
            attributes[name] = None if value is None else frozenset(_texts(value, name))
        elif name == "fields":
            attributes[name] = _fields(value)
        elif name == "position":
            attributes[name] = _number(value, name, int)
        elif name == "confidence":
            attributes[name] = None if value is None else _number(value, name, (int, float))
        elif name in ("parent", "conversation", "owner", "writer") and value is None:
            attributes[name] = None
        else:
            attributes[name] = _text(values, name)
    node = Node(**attributes)
    check_node(node)
    return node


def _known(values: Mapping[str, Any], names: tuple[str, ...]) -> None:
    unknown = sorted(values.keys() - set(names))
    if unknown:
        raise InvalidInput(f"unknown member {unknown[0]!r}: use {', '.join(names)}")


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values[name]
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, got {value!r}")
    return value


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InvalidInput(f"{name} must be a list of texts, got {value!r}")
    return value


def _number(value: Any, name: str, kinds: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise InvalidInput(f"{name} must be a number, got {value!r}")
    return value


def _time(value: Any, name: str) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be a time like 2026-05-01T12:00:00Z, got {value!r}") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _fields(value: Any) -> dict[str, FieldValue]:
    if not isinstance(value, dict):
        raise InvalidInput(f"fields must be an object, got {value!r}")
    return {name: tuple(_texts(item, name)) if isinstance(item, list) else item for name, item in value.items()}
