"""Collector of tasks in a state that the query names: open, in progress, or done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from weftwork.collect.due import DONE
from weftwork.collect.inquiry import Found, Inquiry
from weftwork.query import TASKS, State
from weftwork.types import FieldValue, NodeInfo

STARTED = frozenset({"in progress", "in-progress", "doing", "started", "ongoing", "active", "now", "in arbeit"})
"""Values of a status that say that something is being worked on."""
READ = 5000
"""Tasks that are looked at, those changed last first."""
SHARE = 0.65
"""The least score of a task by the words of the query beside its state, as a share of that of the best."""
_MARKS = re.compile(r"^\W+|\W+$")


@dataclass(frozen=True, slots=True)
class StatusCollector:
    """Tasks that are open, in progress or done, about what the query names beside that."""

    limit: int = 50
    name: str = "status"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The best match of the other words first, or what was changed last; nothing for any other query."""
        state = inquiry.question.state
        if state is None:
            return []
        nodes = [node for node in self._tasks(inquiry) if has_state(node.fields, state)][: self.limit]
        keys = inquiry.view.passages([node.id for node in nodes])
        return [
            Found(key, 1.0 - place / (2 * self.limit), f"it is {state}", "due")
            for place, node in enumerate(nodes)
            for key in keys.get(node.id, ())
        ]

    def _tasks(self, inquiry: Inquiry) -> list[NodeInfo]:
        view, filters = inquiry.view, replace(inquiry.request.filters, types=TASKS)
        subject = inquiry.question.beside_state
        if not subject:
            return view.select(filters, limit=READ)
        hits = view.search_words(" ".join(subject), limit=READ, filters=filters)
        near = [hit.key for hit in hits if hit.score >= SHARE * hits[0].score]
        return list({record.node.id: record.node for record in inquiry.load(near)}.values())


def has_state(fields: Mapping[str, FieldValue], state: State) -> bool:
    """Return True if the fields of a task say so; one that says nothing is open."""
    values = set(_values(fields))
    done = not values.isdisjoint(DONE.values)
    if state == "done":
        return done
    return not done and (state == "open" or not values.isdisjoint(STARTED))


def _values(fields: Mapping[str, FieldValue]) -> Iterator[str]:
    """Values of the fields about a state, in lower case, without marks around them."""
    for name, value in fields.items():
        if name.lower() in DONE.fields:
            for each in value if isinstance(value, (list, tuple)) else (value,):
                text = str(each).replace("\u2019", "'").strip().lower()
                yield _MARKS.sub("", text) or text
