"""Collector of the user's recent edits and views."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from weftwork.collect.inquiry import Found, Inquiry


@dataclass(frozen=True, slots=True)
class ActivityCollector:
    """Own edits from 0.6 and own views from 0.5 downwards, as in the workspace contract."""

    edit_count: int = 10
    view_count: int = 5
    max_age_hours: float = 72
    types: frozenset[str] = frozenset()
    """Types of nodes; empty means all."""
    name: str = "activity"
    section: str = "activity"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Edits before views, newest first, each node once."""
        filters = inquiry.request.filters
        since = inquiry.now - timedelta(hours=self.max_age_hours)
        # The inquiry is for the minute that began: what happened since then is the most recent of all.
        since, until = max(since, filters.after or since), filters.before or datetime.max.replace(tzinfo=UTC)
        findings: dict[int, Found] = {}
        for top, most, events in ((0.6, self.edit_count, inquiry.edits), (0.5, self.view_count, inquiry.views)):
            recent = [event for event in events if since <= event.at <= until] if most else []
            if self.types:
                records = inquiry.load([event.key for event in recent])
                matching = {record.passage.key for record in records if record.node.type in self.types}
                recent = [event for event in recent if event.key in matching]
            for index, event in enumerate(recent[:most]):
                if event.node not in filters.exclude:
                    why = f"your {event.kind} of {event.at:%Y-%m-%d %H:%M}"
                    findings.setdefault(event.key, Found(event.key, top - index * 0.02, why, "activity"))
        return list(findings.values())
