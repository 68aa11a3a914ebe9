"""Signals of a node's type, source and confidence."""

from __future__ import annotations

from weftwork.collect.files import FILES, TALK
from weftwork.score.facts import Facts
from weftwork.types import Candidate

SOURCE_PRIORITY = {"reference": 1.0, "file": 0.7, "chunk": 0.6, "message": 0.5}


def type_match(candidate: Candidate, facts: Facts) -> float | None:
    """0.9 for tasks when tasks are asked for, 0.8 for pages when a summary is, else 0.5 (workspace, 4.1)."""
    kind = candidate.node.type
    if kind in facts.request.prefer_types or kind.casefold() in facts.request.prefer_types:
        return 0.9
    if kind in facts.question.wanted_types:
        return 0.8 if kind == "page" else 0.9
    return 0.5


def source_priority(candidate: Candidate, facts: Facts) -> float | None:
    """Explicit references first, then files, chunks and messages; 0.3 for the rest (thread contract)."""
    return SOURCE_PRIORITY.get(item_type(candidate), 0.3)


def item_type(candidate: Candidate) -> str:
    """Return the item's type by the thread contract: "reference", "file", "chunk", or the node's own."""
    if candidate.found_as("reference") is not None:
        return "reference"
    if candidate.node.type in FILES:
        return "chunk" if candidate.passage.ordinal else "file"
    return "chunk" if is_part_of_file(candidate) else candidate.node.type


def is_part_of_file(candidate: Candidate) -> bool:
    """Return True for a section, task or paragraph of a document, as a connector makes them of a file."""
    return candidate.document not in ("", candidate.node.id) and candidate.node.type not in TALK


def confidence(candidate: Candidate, facts: Facts) -> float | None:
    """The source's own confidence; None where it gives none."""
    return candidate.node.confidence
