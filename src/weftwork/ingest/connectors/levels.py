"""The level of a heading, stored for programs that lay a page out again."""

from __future__ import annotations

from weftwork.types import UNSEEN, FieldValue

LEVEL = "_level"
"""The field with the level of a heading, 1 for the highest: neither searched nor shown."""


def level_fields(level: int) -> dict[str, FieldValue]:
    """The fields with the level of a heading; none where it is unknown."""
    return {LEVEL: level, UNSEEN: (LEVEL,)} if level else {}
