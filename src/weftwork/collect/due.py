"""Collector of overdue nodes, for queries that ask for them."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.store.protocol import Closed

FIELDS = ("due", "due_date", "due-date", "due date", "dueDate", "deadline")
DONE = Closed(
    ("status", "state", "done", "completed", "complete", "closed", "checked"),
    ("done", "completed", "complete", "closed", "cancelled", "canceled", "resolved", "x", "[x]", "true", "yes", "1"),
)
"""Fields that say that something is settled, and how."""


@dataclass(frozen=True, slots=True)
class DueCollector:
    """Nodes with a due date that has passed and no word that they are done; nothing for any other query."""

    limit: int = 20
    name: str = "due"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The longest overdue first, all with score 1."""
        if not inquiry.question.overdue:
            return []
        late = inquiry.view.past(FIELDS, inquiry.now, closed=DONE, limit=self.limit, filters=inquiry.request.filters)
        keys = inquiry.view.passages([node.id for node in late])
        return [Found(key, 1.0, "its due date has passed", "due") for node in late for key in keys.get(node.id, ())]
