"""Running the collectors, and merging what they found into candidates."""

from __future__ import annotations

from collections.abc import Sequence

from weft.collect.inquiry import Collector, Found, Inquiry
from weft.types import Candidate, Finding, Record


def gather(inquiry: Inquiry, collectors: Sequence[Collector]) -> list[Candidate]:
    """One candidate for each passage found; it belongs to the section of the first that found it."""
    found: dict[int, list[tuple[Collector, int, Found]]] = {}
    for collector in collectors:
        for rank, each in enumerate(collector.collect(inquiry), start=1):
            found.setdefault(each.key, []).append((collector, rank, each))
    records = {record.passage.key: record for record in inquiry.view.load([key for key in found if key > 0])}
    for key, findings in found.items():
        handed_in = findings[0][2].record
        if handed_in is not None:
            records[key] = handed_in
    return [_candidate(records[key], findings) for key, findings in found.items() if key in records]


def _candidate(record: Record, found: list[tuple[Collector, int, Found]]) -> Candidate:
    nearest = min(
        (each for _, _, each in found if each.distance is not None),
        key=lambda each: (each.distance or 0, not each.path),
        default=None,
    )
    return Candidate(
        node=record.node,
        passage=record.passage,
        section=found[0][0].section,
        findings=tuple(Finding(collector.name, rank, each.score, each.why) for collector, rank, each in found),
        trail=record.trail,
        distance=None if nearest is None else nearest.distance,
        path=() if nearest is None else nearest.path,
    )
