"""The answer of an MCP tool, and lists of entries that keep to the output cap as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weftwork.server.output_cap import OutputCap

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a tool: for a model to read, and where it helps for a program."""

    text: str
    structured: dict[str, Any] | None = None
    notes: str = ""
    """Warnings on the text; they count against the output cap, too."""
    card: dict[str, Any] | None = None
    """What clients that show MCP Apps are given for their page, which no model reads."""


def as_json(value: object) -> str:
    """The value as JSON, as it counts against the cap."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def list_answer(
    cap: OutputCap, name: str, entries: Sequence[tuple[str, dict[str, Any]]], nothing: str, **about: Any
) -> Answer:
    """As many entries as fit, each as a line and as JSON under `name`, and the number of those left out."""

    def text(count: int) -> str:
        left = len(entries) - count
        more = [f"({left} more left out to keep within the output cap: ask for a smaller limit.)"] if left else []
        return "\n".join([*(line for line, _ in entries[:count]), *more]) or nothing

    def structured(count: int) -> dict[str, Any]:
        return {name: [entry for _, entry in entries[:count]], "leftOut": len(entries) - count, **about}

    count = cap.most(len(entries), lambda most: cap.fits(text(most)) and cap.fits(as_json(structured(most))))
    return Answer(text(count), structured(count))
