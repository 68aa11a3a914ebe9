"""Running the collectors, and merging what they found into candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from weftwork.collect.inquiry import Collector, Found, Inquiry
from weftwork.types import Candidate, Finding, Record

_Way = tuple[Collector, int, Found]
"""By whom a passage was found, at which rank, and as what."""


def gather(inquiry: Inquiry, collectors: Sequence[Collector]) -> list[Candidate]:
    """One candidate for each passage found; it belongs to the section of the first that found it."""
    found: dict[int, list[_Way]] = {}
    for collector in collectors:
        for rank, each in enumerate(collector.collect(inquiry), start=1):
            found.setdefault(each.key, []).append((collector, rank, each))
    records = {record.passage.key: record for record in inquiry.load([key for key in found if key > 0])}
    for key, findings in found.items():
        handed_in = findings[0][2].record
        if handed_in is not None:
            records[key] = handed_in
    gone = _not_valid(records, found, inquiry.request.filters.as_of)
    open_ways = {key: _open(findings, gone) for key, findings in found.items()} if gone else found
    return [
        _candidate(records[key], findings)
        for key, findings in open_ways.items()
        if key in records and findings and records[key].node.id not in gone
    ]


def _not_valid(records: Mapping[int, Record], found: Mapping[int, list[_Way]], as_of: datetime | None) -> set[str]:
    """Nodes that do not hold at this moment, but for those that were asked for by their id."""
    gone = {record.node.id for record in records.values() if not record.node.valid_at(as_of)}
    if gone:
        gone -= {records[key].node.id for key in records for *_, each in found[key] if each.by_id}
    return gone


def _open(findings: list[_Way], gone: set[str]) -> list[_Way]:
    """Those findings whose path leads through none of these nodes."""
    return [way for way in findings if not any(step.node in gone for step in way[2].path)]


def _candidate(record: Record, found: list[_Way]) -> Candidate:
    nearest = min(
        (each for _, _, each in found if each.distance is not None),
        key=lambda each: (each.distance or 0, not each.path),
        default=None,
    )
    return Candidate(
        node=record.node,
        passage=record.passage,
        section=found[0][0].section,
        findings=tuple(
            Finding(collector.name, rank, each.score, each.why, each.kind) for collector, rank, each in found
        ),
        trail=record.trail,
        distance=None if nearest is None else nearest.distance,
        path=() if nearest is None else nearest.path,
        reached=() if nearest is None else nearest.reached,
        hubs=() if nearest is None else nearest.hubs,
        more=nearest is not None and nearest.more,
        document=record.document,
        depth=record.depth,
        asked=any(each.asked for _, _, each in found),
        levels=min((each.levels for *_, each in found if each.levels is not None), default=None),
    )
