"""The reason behind a candidate in one sentence, as a colleague would say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weftwork.types import Decision, Finding, Kind

MOST_WORDS = 4
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}
PHRASES: Mapping[Kind, str] = {
    "fuzzy": "spelled nearly like the question",
    "keywords": "shares keywords with the question",
    "vector": "close in meaning",
    "look": "looks like what was asked for",
    "focus": "where you are working",
    "reference": "named in the question",
    "history": "said earlier in this thread",
    "contradiction": "contradicts something that was found",
    "similar": "similar to where you are working",
}
"""Kinds of evidence that read the same for every candidate; for the others the finding says more."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything beside the decision that its reason is told from."""

    words: Sequence[str] = ()
    """Words of the question as the candidate has them."""
    linked: Sequence[str] = ()
    """Titles of candidates that link here, or that it links to, the best first."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles of nodes on the way of a walk, by id."""


def ordinal(number: int) -> str:
    """A number as it counts places."""
    teen = 10 <= number % 100 <= 20
    return f"{number}{'th' if teen else _ORDINALS.get(number % 10, 'th')}"


def sentence(decision: Decision, place: int, count: int, evidence: Evidence) -> str:
    """The place of a candidate among all, and what speaks for it."""
    if not decision.signals:
        return f"Not ranked: {decision.reason}."
    parts = list(dict.fromkeys(filter(None, (_phrase(each, decision, evidence) for each in decision.findings))))
    return f"{ordinal(place)} of {count}: {'; '.join(parts) or decision.reason}."


def _phrase(finding: Finding, decision: Decision, evidence: Evidence) -> str:
    if finding.kind == "words":
        return f"contains {', '.join(evidence.words[:MOST_WORDS])}" if evidence.words else "its title has the words"
    if finding.kind in ("link", "link_rank"):
        return _linked(finding, decision, evidence)
    return PHRASES.get(finding.kind) or finding.why or finding.collector


def _linked(finding: Finding, decision: Decision, evidence: Evidence) -> str:
    if decision.path:
        way = [decision.start, *(step.node for step in decision.path[:-1])]
        names = [f"“{evidence.titles[name]}”" for name in way if evidence.titles.get(name)]
        if names:
            return f"linked with {' by '.join(names[:2])}"
    if evidence.linked:
        return f"linked with {' and '.join(f'“{title}”' for title in evidence.linked[:2])}"
    return finding.why or "linked with what was found"
