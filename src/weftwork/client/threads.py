"""The methods of `Weft.threads`, answered by a server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weftwork.client.transport import segment
from weftwork.engine import DEFAULT_WORKSPACE
from weftwork.request import Message
from weftwork.types import Node, NodeInfo
from weftwork.wire import decode, encode
from weftwork.write.threads import ids_of, turn_of

Send = Callable[..., Any]


class ClientThreads:
    """The threads of a server's workspaces; see `weftwork.write.threads.Threads`."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def create(
        self,
        title: str = "",
        *,
        references: Iterable[str] = (),
        access: Iterable[str] = (),
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> Node:
        """Start a thread, seen by its owner and those in `access`, that refers to these nodes."""
        body = {"title": title, "references": ids_of(references), "access": ids_of(access)}
        return decode(Node, self._send("POST", workspace, "threads", body, user, again=False))

    def post(
        self,
        thread: str,
        *messages: str | Message,
        role: str = "user",
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> Sequence[str]:
        """Put messages at the end of a thread, all of them or none; return their ids."""
        turns = [turn_of(message, role) for message in messages]
        said = [
            {"role": turn.role, "text": turn.text} | ({} if turn.at is None else {"at": encode(turn.at)})
            for turn in turns
        ]
        answer = self._send("POST", workspace, "messages", {"thread": thread, "messages": said}, user, again=False)
        return [str(name) for name in answer["ids"]]

    def list(
        self, limit: int = 50, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> Sequence[NodeInfo]:
        """The threads that the user may see, those that changed last first."""
        answer = self._send("GET", workspace, "threads", query={"limit": limit}, user=user)
        return [decode(NodeInfo, thread) for thread in answer["threads"]]

    def messages(
        self, thread: str, limit: int = 100, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> Sequence[Node]:
        """The last messages of a thread, the oldest of them first."""
        query = {"thread": thread, "limit": limit}
        answer = self._send("GET", workspace, "messages", query=query, user=user)
        return [decode(Node, message) for message in answer["messages"]]

    def references(
        self, thread: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> Sequence[NodeInfo]:
        """The nodes that a thread refers to."""
        answer = self._send("GET", workspace, "references", query={"thread": thread}, user=user)
        return [decode(NodeInfo, node) for node in answer["nodes"]]

    def reference(self, thread: str, *nodes: str, user: str | None = None, workspace: str = DEFAULT_WORKSPACE) -> int:
        """Say what a thread is about; return the number of new references."""
        body = {"thread": thread, "nodes": ids_of(nodes)}
        return int(self._send("POST", workspace, "references", body, user)["changed"])

    def unreference(self, thread: str, *nodes: str, user: str | None = None, workspace: str = DEFAULT_WORKSPACE) -> int:
        """Say what a thread is no longer about; return the number of references removed."""
        body = {"thread": thread, "nodes": ids_of(nodes)}
        return int(self._send("POST", workspace, "references-remove", body, user)["changed"])

    def rename(self, thread: str, title: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE) -> Node:
        """Give a thread another title."""
        return decode(Node, self._send("PUT", workspace, f"threads/{segment(thread)}", {"title": title}, user))

    def remove(self, thread: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE) -> int:
        """Remove a thread with its messages; return the number of nodes removed."""
        answer = self._send("DELETE", workspace, f"threads/{segment(thread)}", user=user, again=False)
        return int(answer["removed"])

    def count_use(
        self, references: Iterable[str], *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> int:
        """Note that an answer used these sources, each once; return the number of nodes."""
        return int(
            self._send("POST", workspace, "uses", {"references": ids_of(references)}, user, again=False)["changed"]
        )
