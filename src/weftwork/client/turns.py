"""Turns and receipts, answered by a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypedDict, Unpack

from weftwork.answer import AnswerCheck
from weftwork.client.transport import segment
from weftwork.engine import DEFAULT_WORKSPACE
from weftwork.errors import InvalidInput
from weftwork.options import named_options
from weftwork.receipts import Receipt, Replay
from weftwork.recipe import Recipe
from weftwork.turn import Compacted, Reply, ToolResult, Turn, TurnFields, TurnOptions
from weftwork.wire import decode

Send = Callable[..., Any]


class Place(TypedDict, total=False):
    """Whose thread, and where."""

    user: str | None
    workspace: str


class ClientTurns:
    """The turns of a server's threads; see `weftwork.turn.Turns`."""

    def __init__(self, send: Send) -> None:
        self._send = send

    @named_options(TurnOptions)
    def turn(self, thread: str, message: str, **options: Unpack[TurnOptions]) -> Turn:
        """Post a user's message, and return what to send to the model for it."""
        user, workspace = options.pop("user", None), options.pop("workspace", DEFAULT_WORKSPACE)
        if isinstance(options.get("recipe"), Recipe):
            raise InvalidInput("a server knows a recipe by its name, not by what it is")
        body = {"thread": thread, "message": message, **options}
        fields = decode(TurnFields, self._send("POST", workspace, "turns", body, user, again=False))
        values = {name: getattr(fields, name) for name in TurnFields.__slots__}
        return Turn(**values, record_tool=partial(self.tool, thread, user=user, workspace=workspace))

    @named_options(Place)
    def tool(self, thread: str, name: str, output: str, *, keep: bool = False, **where: Unpack[Place]) -> ToolResult:
        """Put a tool's output into a thread; a large one becomes a document, and the model gets a preview."""
        body = {"thread": thread, "name": name, "output": output, "keep": keep}
        return decode(ToolResult, self._post("turns/tool", body, where))

    @named_options(Place)
    def reply(self, thread: str, text: str, **where: Unpack[Place]) -> Reply:
        """Post the model's answer, and check its citations against all that the thread was given."""
        answer = self._post("turns/reply", {"thread": thread, "text": text}, where)
        check = decode(AnswerCheck, answer["check"])
        return Reply(answer["message"], check, answer["used"], answer["receipt"])

    @named_options(Place)
    def compact(self, thread: str, *, keep: int = 2_000, **where: Unpack[Place]) -> Compacted:
        """Shorten a thread's history to `keep` tokens."""
        return decode(Compacted, self._post("turns/compact", {"thread": thread, "keep": keep}, where))

    def _post(self, path: str, body: dict[str, Any], where: Place) -> Any:
        place = where.get("workspace", DEFAULT_WORKSPACE)
        return self._send("POST", place, path, body, where.get("user"), again=False)


class ClientReceipts:
    """The receipts of a server's workspaces; see `weftwork.receipts.Receipts`. The key decides whose can be read."""

    def __init__(self, send: Send) -> None:
        self._send = send

    @named_options(Place)
    def list(
        self,
        limit: int = 50,
        *,
        thread: str | None = None,
        of: str | None = None,
        **where: Unpack[Place],
    ) -> Sequence[Receipt]:
        """The latest receipts first: one's own, or with an admin key those `of` a user or of everybody."""
        query = {name: value for name, value in (("limit", limit), ("thread", thread), ("of", of)) if value is not None}
        answer = self._send("GET", _workspace(where), "receipts", query=query, user=where.get("user"))
        return [decode(Receipt, each) for each in answer["receipts"]]

    @named_options(Place)
    def get(self, name: str, **where: Unpack[Place]) -> Receipt:
        """A receipt by its id."""
        answer = self._send("GET", _workspace(where), f"receipts/{segment(name)}", user=where.get("user"))
        return decode(Receipt, answer)

    @named_options(Place)
    def replay(self, name: str, **where: Unpack[Place]) -> Replay:
        """Repeat the request of a receipt and compare the answers."""
        path = f"receipts/{segment(name)}/replay"
        return decode(Replay, self._send("POST", _workspace(where), path, None, where.get("user")))

    @named_options(Place)
    def erase(self, *names: str, everything: bool = False, of: str | None = None, **where: Unpack[Place]) -> int:
        """Remove receipts by their ids, or with `everything` all of a user; return their number."""
        body = {"ids": list(names), "everything": everything, "of": of}
        answer = self._send("POST", _workspace(where), "receipts-erase", body, where.get("user"), again=False)
        return int(answer["removed"])


def _workspace(where: Place) -> str:
    return where.get("workspace", DEFAULT_WORKSPACE)
