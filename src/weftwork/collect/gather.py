"""Run the collectors and merge their findings into candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from weftwork.collect.inquiry import Collector, Found, Inquiry
from weftwork.types import Candidate, Finding, Reach, Record, Step

_Way = tuple[Collector, int, Found]
"""A finding with its collector and its rank."""
_NO_WALK: tuple[int | None, tuple[Step, ...], tuple[Reach, ...], tuple[str, ...], bool] = (None, (), (), (), False)


def gather(inquiry: Inquiry, collectors: Sequence[Collector]) -> list[Candidate]:
    """Return one candidate per passage, in the section of the first collector that found it."""
    ways: dict[int, list[_Way]] = {}
    for collector in collectors:
        for rank, finding in enumerate(collector.collect(inquiry), start=1):
            ways.setdefault(finding.key, []).append((collector, rank, finding))
    records = {record.passage.key: record for record in inquiry.load([key for key in ways if key > 0])}
    for key, findings in ways.items():
        handed_in = findings[0][2].record
        if handed_in is not None:
            records[key] = handed_in
    gone = _not_valid(records, ways, inquiry.request.filters.as_of)
    if gone:  # a path may not lead through a node that is not valid either
        ways = {
            key: [way for way in findings if not any(step.node in gone for step in way[2].path)]
            for key, findings in ways.items()
        }
    return [
        _candidate(records[key], findings)
        for key, findings in ways.items()
        if key in records and findings and records[key].node.id not in gone
    ]


def _not_valid(records: Mapping[int, Record], ways: Mapping[int, list[_Way]], as_of: datetime | None) -> set[str]:
    """Nodes that do not hold at this moment, but for those that were asked for by their id."""
    gone = {record.node.id for record in records.values() if not record.node.valid_at(as_of)}
    if gone:
        gone -= {records[key].node.id for key in records for *_, finding in ways[key] if finding.by_id}
    return gone


def _candidate(record: Record, ways: list[_Way]) -> Candidate:
    nearest: Found | None = None
    asked, levels = False, None
    findings = []
    for collector, rank, found in ways:
        findings.append(Finding(collector.name, rank, found.score, found.why, found.kind))
        if found.distance is not None and (nearest is None or _nearness(found) < _nearness(nearest)):
            nearest = found
        asked = asked or found.asked
        if found.levels is not None and (levels is None or found.levels < levels):
            levels = found.levels
    distance, path, reached, hubs, more = _NO_WALK
    if nearest is not None:
        distance, path = nearest.distance, nearest.path
        reached, hubs, more = nearest.reached, nearest.hubs, nearest.more
    # By position: this runs for every candidate, and names cost as much again.
    return Candidate(
        record.node, record.passage, ways[0][0].section, tuple(findings), record.trail, distance, path, {}, 0.0,
        reached, hubs, more, "", record.document, record.depth, asked, levels,
    )  # fmt: skip


def _nearness(finding: Found) -> tuple[int, bool]:
    return finding.distance or 0, not finding.path
