"""Preparing nodes: validate, replace lone surrogates, and split into passages."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from weftwork.clock import aware
from weftwork.errors import InvalidInput
from weftwork.identity import citation_id, text_hash
from weftwork.provenance import ORIGINS
from weftwork.text.split import embedded_text, spans
from weftwork.text.tokens import TokenCounter
from weftwork.types import Entry, Node, Passage

_SURROGATE = re.compile("[\ud800-\udfff]")
LARGEST_NUMBER = 2**53


def prepare(node: Node, counter: TokenCounter) -> Entry:
    """A node with its passages; one without text still has one, so that its title can be found."""
    if not isinstance(node, Node):
        raise InvalidInput(f"a Node is needed, got {str(node)[:80]!r}: write Node(id=…, text=…) instead")
    check_node(node)
    node = sound(node)
    occurrences: Counter[str] = Counter()
    passages = []
    for ordinal, (start, end) in enumerate(spans(node.text)):
        text = node.text[start:end]
        passages.append(
            Passage(
                ordinal=ordinal,
                start=start,
                end=end,
                text=text,
                tokens=counter.count(text),
                digest=text_hash(embedded_text(node.title, node.fields, text)),
                citation=citation_id(node.id, text, occurrences[text]),
            )
        )
        occurrences[text] += 1
    return Entry(node, tuple(passages))


def check_node(node: Node) -> None:
    """Refuse a node that could not be stored or found again, saying what to change."""
    if not isinstance(node.id, str) or not node.id.strip() or not node.id.isprintable():
        raise InvalidInput(f"a node needs an id of printable characters, got {node.id!r}")
    for name in ("type", "title", "text", "source"):
        if not isinstance(getattr(node, name), str):
            raise InvalidInput(f"{name} of node {node.id!r} must be text, got {getattr(node, name)!r}")
    if not node.type:
        raise InvalidInput(f"node {node.id!r} needs a type, for instance 'page'")
    for name, (usable, expected) in _CHECKS.items():
        if not usable(getattr(node, name)):
            raise InvalidInput(f"{name} of node {node.id!r} must be {expected}, got {getattr(node, name)!r}")
    if node.valid_from and node.valid_until and aware(node.valid_until) < aware(node.valid_from):
        raise InvalidInput(
            f"valid_until of node {node.id!r} must not be before its valid_from, got {node.valid_until!s}"
        )
    for name, value in node.fields.items():
        if not isinstance(name, str) or not name or not _is_field(value):
            raise InvalidInput(
                f"field {name!r} of node {node.id!r} must be a text, number, yes or no, or several texts, got {value!r}"
            )


def _is_share(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and 0 <= value <= 1)


def _is_position(value: object) -> bool:
    return isinstance(value, int) and abs(value) <= LARGEST_NUMBER


def _is_name(value: object) -> bool:
    return value is None or isinstance(value, str)


def _are_names(value: object) -> bool:
    """Return True for several texts: a single one would be taken letter by letter."""
    return isinstance(value, Collection) and not isinstance(value, str) and all(isinstance(x, str) and x for x in value)


def _is_time(value: object) -> bool:
    """Return False for a time at the very edge of the calendar, which cannot be expressed in UTC."""
    if not isinstance(value, datetime):
        return value is None
    try:
        return value.tzinfo is None or value.astimezone(UTC) is not None
    except OverflowError:
        return False


_CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "confidence": (_is_share, "between 0 and 1"),
    "position": (_is_position, "a whole number"),
    "tags": (_are_names, "texts that are not empty"),
    "access": (lambda value: value is None or _are_names(value), "None or several names"),
    "parent": (_is_name, "None or the id of a node"),
    "owner": (_is_name, "None or the name of a user"),
    "writer": (_is_name, "None or the name of a user"),
    "origin": (lambda value: value in ORIGINS, f"one of {', '.join(ORIGINS)}"),
    "conversation": (_is_name, "None or text"),
    "created_at": (_is_time, "None or a time between the years 1 and 9999 in UTC"),
    "updated_at": (_is_time, "None or a time between the years 1 and 9999 in UTC"),
    "valid_from": (_is_time, "None or a time between the years 1 and 9999 in UTC"),
    "valid_until": (_is_time, "None or a time between the years 1 and 9999 in UTC"),
    "fields": (lambda value: isinstance(value, Mapping), "a mapping of names to values"),
}


def _is_field(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, (list, tuple)):
        return all(isinstance(item, str) for item in value)
    return value is None or isinstance(value, (str, int))


def sound(node: Node) -> Node:
    """Replace lone surrogates, which no file and no tokenizer can hold, in all of a node's texts."""
    texts = {name: getattr(node, name) for name in ("id", "type", "title", "text", "source", "tags", "fields")}
    mended = {name: _mended(value) for name, value in texts.items()}
    return node if mended == texts else replace(node, **mended)


def _mended(value: Any) -> Any:
    match value:
        case str():
            return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
        case tuple() | list() | set() | frozenset():
            return type(value)(map(_mended, value))
        case Mapping():
            return {_mended(name): _mended(item) for name, item in value.items()}
    return value
