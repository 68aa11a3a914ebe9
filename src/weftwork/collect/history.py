"""Collector of earlier messages, of the thread or handed in with the request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.errors import NotFound
from weftwork.request import Message
from weftwork.types import Filters, Hit, Node, NodeInfo

PARTS = 4
"""Passages offered of a long message."""


@dataclass(frozen=True, slots=True)
class HistoryCollector:
    """The most recent messages, each a little less than the one after it, and older ones that match."""

    limit: int = 20
    older: int = 0
    """Most older messages that match the query."""
    threshold: float = 0.35
    """Least score of an older message, by words or by vector."""
    name: str = "history"
    section: str = "history"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Newest first, then the older ones, the best first."""
        messages = list(enumerate(inquiry.request.history, start=1))
        # Numbered from the first message ever, so that its citation stays when older ones fall out.
        findings = [
            Found.unstored(_node(message, number), self._worth(age), "handed in with the request", "history")
            for age, (number, message) in enumerate(messages[::-1][: self.limit])
        ]
        return findings + self._stored(inquiry, len(findings))

    def _stored(self, inquiry: Inquiry, age: int) -> list[Found]:
        thread, view = inquiry.request.thread, inquiry.view
        if thread is None:
            return []
        if not view.nodes([thread]):
            raise NotFound(f"thread {thread!r} does not exist in this workspace: check its id with  weftwork search")
        recent = view.children(thread, self.limit, last=True)[::-1]
        keys = view.passages([message.id for message in recent], limit=PARTS)
        if self.older:  # what is not recent is not lost: it comes in if it matters
            recent = recent[: self._within_budget(inquiry, [keys.get(message.id, []) for message in recent])]
        excluded = inquiry.request.filters.exclude
        findings = [
            Found(key, self._worth(age + index), f"message {index + 1} from the end of the thread", "history")
            for index, message in enumerate(recent)
            if message.id not in excluded
            for key in keys.get(message.id, ())
        ]
        return findings + (self._matching(inquiry, thread, recent) if self.older and recent else [])

    def _within_budget(self, inquiry: Inquiry, keys: Sequence[Sequence[int]]) -> int:
        """The number of newest messages, at least one, that fit the budget of the history section."""
        room = inquiry.request.budget.sections.get(self.section)
        if room is None:
            return len(keys)
        records = inquiry.view.load([key for of_message in keys for key in of_message])
        tokens = {record.passage.key: record.passage.tokens for record in records}
        used = 0
        for count, of_message in enumerate(keys):
            used += sum(tokens.get(key, 0) for key in of_message)
            if used > room and count:
                return count
        return len(keys)

    def _matching(self, inquiry: Inquiry, thread: str, recent: Sequence[NodeInfo]) -> list[Found]:
        """The older messages that match the query, best first."""
        best: dict[int, tuple[float, str]] = {}
        for kind, hits in _searches(inquiry, _among(recent, inquiry.request.filters), 10 * self.older):
            for hit in hits:
                if hit.score >= self.threshold and hit.score > best.get(hit.key, (0.0, ""))[0]:
                    best[hit.key] = (hit.score, kind)
        ranked = sorted(best, key=lambda key: (-best[key][0], key))
        in_thread = [record.passage.key for record in inquiry.view.load(ranked) if record.node.parent == thread]
        return [
            Found(key, best[key][0], f"an older message that matches: {best[key][1]} {best[key][0]:.2f}", "history")
            for key in in_thread[: self.older]
        ]

    @staticmethod
    def _worth(age: int) -> float:
        return max(0.1, 0.6 - 0.02 * age)


def _among(recent: Sequence[NodeInfo], asked: Filters) -> Filters:
    """Messages like the recent ones, without these; of the same conversation, where they name one."""
    conversations = {message.conversation for message in recent}
    return Filters(
        types=frozenset(message.type for message in recent),
        conversation=conversations.pop() if len(conversations) == 1 else None,
        as_of=asked.as_of,
        exclude=asked.exclude | {message.id for message in recent},
    )


def _searches(inquiry: Inquiry, filters: Filters, limit: int) -> Iterator[tuple[str, list[Hit]]]:
    query, vector, embedder = inquiry.request.query, inquiry.vector, inquiry.embedder
    if query.strip():
        yield "words", inquiry.view.search_words(query, limit=limit, filters=filters)
    if vector is not None and embedder is not None:
        yield "similarity", inquiry.view.search_vector(vector, model=embedder.model, limit=limit, filters=filters)


def _node(message: Message, number: int) -> Node:
    """A message that is not stored, in the shape of one that is."""
    return Node(
        id=f"history-{number}",
        type="message",
        title=message.role,
        text=message.text,
        position=number,
        created_at=message.at,
        updated_at=message.at,
    )
