"""Collector of nodes that are overdue, or due in a stretch of time, for queries that ask for them."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.store.protocol import Closed

FIELDS = ("due", "due_date", "due-date", "due date", "dueDate", "deadline", "fällig", "fällig am")
DONE = Closed(
    ("status", "state", "done", "completed", "complete", "closed", "checked"),
    (
        "done", "completed", "complete", "closed", "finished", "resolved", "archived", "cancelled", "canceled",
        "abandoned", "dropped", "won't do", "wont do", "won't fix", "not doing", "erledigt", "fertig", "abgeschlossen",
        "abgebrochen", "terminé", "fait", "hecho", "completado", "fatto", "klaar", "x", "true", "yes", "1", "✅", "✔",
        "☑",
    ),
)  # fmt: skip
"""Fields that say that something is settled, and how."""


@dataclass(frozen=True, slots=True)
class DueCollector:
    """Nodes that are due and not marked as done: overdue, or in the stretch of time that the query names."""

    limit: int = 20
    name: str = "due"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The earliest due date first, with falling scores; nothing for any other query."""
        due, now = inquiry.question.due, inquiry.now
        if due is None and not inquiry.question.overdue:
            return []
        since, until, why = (None, now, "its due date has passed") if due is None else (due.start, due.end, "it is due")
        nodes = inquiry.view.past(
            FIELDS, until, closed=DONE, limit=self.limit, filters=inquiry.request.filters, since=since
        )
        keys = inquiry.view.passages([node.id for node in nodes])
        return [
            Found(key, 1.0 - place / (2 * self.limit), why, "due")
            for place, node in enumerate(nodes)
            for key in keys.get(node.id, ())
        ]
