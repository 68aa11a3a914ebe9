"""The memories of a server, with the methods of `Memories`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weftwork.client.client import Client
from weftwork.client.transport import segment
from weftwork.embed.protocol import Vector
from weftwork.engine import DEFAULT_WORKSPACE
from weftwork.errors import InvalidInput
from weftwork.faces.memory import Addition, ContextOptions, ContextResult, Memory, SearchOptions, SearchResult
from weftwork.faces.memory.reading import Question
from weftwork.faces.memory.remote import ServerReader
from weftwork.request import Message
from weftwork.types import FieldValue, Filters
from weftwork.wire import decode, encode


class RemoteMemories:
    """The memories of a server. Thread-safe.

    Who acts is decided by the key of the client: `user` is for admin keys, and None for all others.
    """

    def __init__(self, client: Client) -> None:
        self._send = client.send
        self._reader = ServerReader(client)

    def remember(
        self, text: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE, **details: Any
    ) -> Memory:
        """Write a memory; `details` and `on_conflict` as for `Memories.remember`."""
        body = {"text": text, **encode(_listed(details))}
        return decode(Memory, self._send("POST", workspace, "memories", body, user, again=False))

    def add(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        extract: bool = False,
        **options: Any,
    ) -> Addition:
        """Remember what is said in a conversation; `options` as for `Memories.add`.

        `extract` has the language model of the server find the facts; without, statements are kept by rule.
        """
        if not isinstance(extract, bool | None):
            raise InvalidInput("a server cannot be handed a model: give extract=True for its own")
        said = [_message(message) for message in messages]
        body = {"messages": said, "extract": bool(extract), **encode(_listed(options))}
        # A model may be asked for money: what broke off is not asked again unasked.
        return decode(Addition, self._send("POST", workspace, "memories-add", body, user, again=not extract))

    def search(
        self,
        query: str = "",
        *,
        vector: Sequence[float] | Vector | None = None,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        **options: Any,
    ) -> tuple[SearchResult, ...]:
        """The memories that answer a query, the most similar first; `options` are the fields of `SearchOptions`."""
        chosen = SearchOptions(user=user, **options)
        chosen.check()
        return self._reader.search(Question.of(query, vector), workspace, chosen)

    def context(
        self,
        query: str = "",
        *,
        vector: Sequence[float] | Vector | None = None,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        **options: Any,
    ) -> ContextResult:
        """The memories that answer a query as text; `options` are the fields of `ContextOptions`."""
        chosen = ContextOptions(user=user, **options)
        chosen.check()
        return self._reader.build(Question.of(query, vector), workspace, chosen)

    def list(
        self, *, every: bool = False, limit: int = 100, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> tuple[Memory, ...]:
        """The user's memories, the latest first."""
        query = {"every": str(every).lower(), "limit": limit}
        answer = self._send("GET", workspace, "memories", query=query, user=user)
        return tuple(decode(Memory, each) for each in answer["memories"])

    def get(self, memory: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE) -> Memory:
        """One memory by its id, whether it is valid now or not."""
        return decode(Memory, self._send("GET", workspace, _path(memory), user=user))

    def history(
        self, memory: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> tuple[Memory, ...]:
        """All versions of a memory that the user may see, the first one first."""
        answer = self._send("GET", workspace, "memories-history", query={"memory": memory}, user=user)
        return tuple(decode(Memory, each) for each in answer["memories"])

    def update(
        self,
        memory: str,
        text: str | None = None,
        *,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        **details: Any,
    ) -> Memory:
        """Change a memory: another text becomes its next version, details alone are changed in place."""
        body = encode(_listed(details)) | ({} if text is None else {"text": text})
        return decode(Memory, self._send("PUT", workspace, _path(memory), body, user, again=False))

    def forget(
        self,
        *ids: str,
        filters: Filters | None = None,
        metadata: Mapping[str, FieldValue] | None = None,
        versions: bool = True,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> int:
        """Remove memories for good, all of them or none, and count them; see `Memories.forget`."""
        body = {"ids": list(ids), "filters": encode(filters), "metadata": encode(metadata), "versions": versions}
        return int(self._send("POST", workspace, "memories-forget", body, user, again=False)["removed"])


def _path(memory: str) -> str:
    return f"memories/{segment(memory)}"


def _listed(details: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str | Mapping) or not isinstance(value, Iterable) else list(value)
        for name, value in details.items()
    }


def _message(message: Message | Mapping[str, Any]) -> Any:
    """A message in the server's names; a speaker's name says more than a role."""
    if isinstance(message, Message):
        return encode({"role": message.role, "text": message.text, "at": message.at})
    names = {"role": ("speaker", "name", "role"), "text": ("text", "content"), "at": ("at", "created_at", "timestamp")}
    also = {each for several in names.values() for each in several}
    said = {
        ours: next((message[each] for each in theirs if message.get(each) is not None), None)
        for ours, theirs in names.items()
    }
    others = {name: value for name, value in message.items() if name not in also}
    return encode({**others, **{name: value for name, value in said.items() if value is not None}})
