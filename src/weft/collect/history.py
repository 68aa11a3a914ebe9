"""What was said before, in the thread or in the messages handed in with the request."""

from __future__ import annotations

from dataclasses import dataclass

from weft.collect.inquiry import Found, Inquiry
from weft.errors import NotFound
from weft.identity import citation_id, text_hash
from weft.request import Message
from weft.types import NodeInfo, Passage, Record


@dataclass(frozen=True, slots=True)
class HistoryCollector:
    """The most recent messages; each step back counts a little less."""

    limit: int = 20
    name: str = "history"
    section: str = "history"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Newest first."""
        given = list(enumerate(inquiry.request.history, start=1))
        # Numbered from the first message ever, so that its citation stays when older ones fall out.
        found = [
            Found(-number, self._worth(age), "handed in with the request", record=_record(message, number))
            for age, (number, message) in enumerate(given[::-1][: self.limit])
        ]
        return found + self._stored(inquiry, len(found))

    def _stored(self, inquiry: Inquiry, age: int) -> list[Found]:
        thread, view = inquiry.request.thread, inquiry.view
        if thread is None:
            return []
        if not view.nodes([thread]):
            raise NotFound(f"thread {thread!r} does not exist in this workspace: check its id with  weft search")
        messages = view.children(thread, self.limit, last=True)[::-1]
        keys = view.passages([message.id for message in messages], limit=4)
        return [
            Found(key, self._worth(age + index), f"message {index + 1} from the end of the thread")
            for index, message in enumerate(messages)
            if message.id not in inquiry.request.filters.exclude
            for key in keys.get(message.id, ())
        ]

    @staticmethod
    def _worth(age: int) -> float:
        return max(0.1, 0.6 - 0.02 * age)


def _record(message: Message, number: int) -> Record:
    """A message that is not stored, in the shape of one that is."""
    name = f"history-{number}"
    node = NodeInfo(id=name, type="message", title=message.role, created_at=message.at, updated_at=message.at)
    passage = Passage(
        ordinal=0,
        start=0,
        end=len(message.text),
        text=message.text,
        tokens=0,
        digest=text_hash(message.text),
        citation=citation_id("message", name, message.text),
        key=-number,
    )
    return Record(node, passage)
