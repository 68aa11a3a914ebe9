"""What sort of thing a node is, against what the query asks for."""

from __future__ import annotations

from weft.score.facts import Facts
from weft.types import Candidate

SOURCE_PRIORITY = {"reference": 1.0, "file": 0.7, "chunk": 0.6, "message": 0.5}


def type_match(candidate: Candidate, facts: Facts) -> float | None:
    """0.9 for tasks when tasks are asked for, 0.8 for pages when a summary is, else 0.5 (workspace, 4.1)."""
    kind = candidate.node.type
    if kind in facts.request.prefer_types:
        return 0.9
    if kind in facts.question.wanted_types:
        return 0.8 if kind == "page" else 0.9
    return 0.5


def source_priority(candidate: Candidate, facts: Facts) -> float | None:
    """Explicit references first, then files, chunks and messages; 0.3 for the rest (thread contract)."""
    if any(finding.collector == "references" for finding in candidate.findings):
        return SOURCE_PRIORITY["reference"]
    if candidate.node.type == "file" and candidate.passage.ordinal > 0:
        return SOURCE_PRIORITY["chunk"]
    return SOURCE_PRIORITY.get(candidate.node.type, 0.3)


def confidence(candidate: Candidate, facts: Facts) -> float | None:
    """How sure the source itself is; None where it does not say."""
    return candidate.node.confidence
