"""The conversations that pass: which thread each is, and what was put before its messages."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weftwork.asynchronous import AsyncWeft
from weftwork.request import Message
from weftwork.server.proxy.bodies import Body
from weftwork.turn import Place, Turn
from weftwork.turn.prompt import MESSAGE_FOLLOWS

MOST_CONVERSATIONS = 1_000
TITLE_CHARACTERS = 60


@dataclass(slots=True)
class Conversation:
    """A thread, and what its messages get."""

    thread: str
    users: tuple[str, ...] = ()
    """What its user said, message by message."""
    head: str = ""
    """Standing memories, after the program's own instructions."""
    prefixes: list[str] = field(default_factory=list)
    """Sources before each of the user's messages; the same each time, so that a provider's cache holds."""
    receipt: str = ""

    def note(self, turn: Turn, rules: str) -> None:
        """Take what a turn puts before each message; what was withdrawn is gone from earlier ones, too."""
        contents = [message["content"] for message in turn.messages if message["role"] == "user"]
        # Messages without an answer between them are one in a turn, and begin or hold what was put before each.
        before = [*self.prefixes, *("" for _ in self.users)]
        known = list(zip(before, self.users[:-1], strict=False))
        kept = [prefix if any(prefix + text in each for each in contents) else "" for prefix, text in known]
        self.prefixes = [*kept, turn.text + MESSAGE_FOLLOWS if turn.text else ""]
        system = next((each["content"] for each in turn.messages if each["role"] == "system"), "")
        self.head = system.removeprefix(rules.strip()).strip()
        self.receipt = turn.receipt


class Conversations:
    """Finds the conversation that a request goes on with: programs send all messages again, and no name."""

    def __init__(self, weft: AsyncWeft, *, user: str, workspace: str, budget: int | None) -> None:
        self._weft = weft
        self._place = Place(user=user, workspace=workspace)
        self._budget = budget
        self._known: OrderedDict[str, Conversation] = OrderedDict()

    async def next(self, body: Body, named: str | None) -> Conversation | None:
        """The conversation after its next turn; None where nobody said anything.

        A request without a new message, such as one with the output of a tool, or one that is sent again, gets what its
        last message got.
        """
        users = [message.text for message in body.said if message.role == "user"]
        if not users:
            return None
        known = self._known.get(_key(named, users))
        if known is not None and body.earlier is None:
            return known
        conversation = await self._found(body, named, users)
        rules = body.rules
        turn = await self._weft.turn(conversation.thread, users[-1], rules=rules, budget=self._budget, **self._place)
        conversation.users = (*conversation.users, users[-1]) if body.earlier else tuple(users)
        conversation.note(turn, rules)
        if body.earlier:
            conversation.prefixes = conversation.prefixes[-1:]
        self._keep(_key(named, users), conversation)
        return conversation

    async def answered(self, conversation: Conversation, text: str, name: str) -> None:
        """Store the model's answer, and remember the response that may be gone on from."""
        if text.strip():
            await self._weft.reply(conversation.thread, text, **self._place)
        if name:
            self._keep(_key("response", [name]), conversation)

    async def _found(self, body: Body, named: str | None, users: Sequence[str]) -> Conversation:
        if named is not None:
            return Conversation(named)
        key = _key("response", [body.earlier]) if body.earlier else _key(None, users[:-1])
        # Taken away: a second request that goes on from the same place is another conversation.
        known = self._known.get(key) if body.earlier else self._known.pop(key, None)
        return known or Conversation(await self._begun(body.said, users))

    async def _begun(self, said: Sequence[Message], users: Sequence[str]) -> str:
        """A thread with what was said before."""
        thread = await self._weft.threads.create(users[0][:TITLE_CHARACTERS], **self._place)
        last = max(index for index, message in enumerate(said) if message.role == "user")
        if said[:last]:
            await self._weft.threads.post(thread.id, *said[:last], **self._place)
        return thread.id

    def _keep(self, key: str, conversation: Conversation) -> None:
        self._known[key] = conversation
        self._known.move_to_end(key)
        while len(self._known) > MOST_CONVERSATIONS:
            self._known.popitem(last=False)


def _key(named: str | None, texts: Iterable[str]) -> str:
    digest = hashlib.sha256(repr((named, tuple(texts))).encode("utf-8", "replace"))
    return digest.hexdigest()
