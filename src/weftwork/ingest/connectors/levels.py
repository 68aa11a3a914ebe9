"""Layout of a heading or list item in its file: stored for laying it out again, and not searched."""

from __future__ import annotations

from collections.abc import Mapping

from weftwork.types import UNSEEN, FieldValue

LEVEL = "_level"
"""The field with the level of a heading, 1 for the highest."""
HEADING = "_heading"
"""The field with a heading as it is written, where its title has no marks of links, code or emphasis."""
INDENT = "_indent"
"""The field with the column at which a list item begins."""


def item_fields(indent: int) -> dict[str, FieldValue]:
    """The fields that say how a list item is written; none at the margin."""
    return {INDENT: indent, UNSEEN: (INDENT,)} if indent else {}


def heading_fields(level: int, written: str = "") -> dict[str, FieldValue]:
    """The fields that say how a heading is written, as far as that is known."""
    fields: dict[str, FieldValue] = {LEVEL: level} if level else {}
    if written:
        fields[HEADING] = written
    return {**fields, UNSEEN: tuple(fields)} if fields else {}


def with_written(fields: Mapping[str, FieldValue], text: str) -> dict[str, FieldValue]:
    """The fields of a node with this text: those that stand in it, `key:: value`, are not shown beside it again."""
    unseen = fields.get(UNSEEN)
    names = (*(unseen if isinstance(unseen, tuple) else ()), *(name for name in fields if f"{name}::" in text))
    return {**fields, UNSEEN: names} if names else dict(fields)
