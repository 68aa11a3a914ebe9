"""The engine's methods, answered by a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from weftwork.client.threads import ClientThreads
from weftwork.client.transport import Call, Transport, segment
from weftwork.client.turns import ClientReceipts, ClientTurns, Place
from weftwork.delta import Delta
from weftwork.document import DocumentText
from weftwork.engine import DEFAULT_WORKSPACE, NO_FILTERS
from weftwork.errors import InvalidInput
from weftwork.faces.memory.types import Memory
from weftwork.lens import Lens
from weftwork.options import RemoteOptions, named_options
from weftwork.recipe import Recipe
from weftwork.render import LeanContext, LeanDelta
from weftwork.results import Added, Preview, SearchResult
from weftwork.turn import Compacted, Reply, Turn, TurnOptions
from weftwork.types import Context, Edge, Filters, Node, NodeInfo
from weftwork.wire import decode, encode

if TYPE_CHECKING:
    import httpx


class RemoteCall(RemoteOptions, total=False):
    """The options of `Client.context` beside the query, `since` and `explain`."""

    user: str | None
    workspace: str


class Client:
    """A server's workspaces, with the methods of `Weft`. Thread-safe.

    Who acts is decided by the key: `user` is for admin keys, which may act for another user, and None for all others.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`retries` is how often a call that does no more when repeated is sent again while the server is busy."""
        self._transport = Transport(url, key, timeout=timeout, retries=retries, transport=transport)
        self.threads = ClientThreads(self.send)
        self.turns = ClientTurns(self.send)
        self.receipts = ClientReceipts(self.send)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def workspaces(self) -> list[str]:
        """The workspaces that the key covers."""
        return [each["name"] for each in self._transport.send(Call("GET", "/v1/workspaces"))["workspaces"]]

    def create_workspace(self, workspace: str, *, owner: str | None = None, access: Iterable[str] = ("*",)) -> None:
        """Make a workspace, where the server allows it: see the routes of workspaces."""
        body = {"name": workspace, "owner": owner, "access": list(access)}
        self._transport.send(Call("POST", "/v1/workspaces", body, again=False))

    def add_user(self, user: str, *, groups: Iterable[str] = (), workspace: str = DEFAULT_WORKSPACE) -> None:
        """Make a user known to a workspace and set their groups."""
        self.send("PUT", workspace, f"users/{segment(user)}", {"groups": list(groups)})

    def add(
        self,
        nodes: Iterable[Node],
        edges: Iterable[Edge] = (),
        *,
        workspace: str = DEFAULT_WORKSPACE,
        in_place: bool = False,
        keep_access: bool = False,
    ) -> Added:
        """Insert or replace nodes and edges, all of them or none."""
        body = {
            # The writer is the user of the key, whoever wrote a node that was read before.
            "nodes": [{name: value for name, value in encode(node).items() if name != "writer"} for node in nodes],
            "edges": encode(list(edges)),
            "in_place": in_place,
            "keep_access": keep_access,
        }
        return decode(Added, self.send("POST", workspace, "nodes", body))

    def remove(self, ids: Iterable[str], *, workspace: str = DEFAULT_WORKSPACE) -> int:
        """Remove nodes with everything below them."""
        return int(self.send("POST", workspace, "nodes-remove", {"ids": list(ids)})["removed"])

    @overload
    def context(
        self, query: str = "", *, since: None = None, explain: Literal[False] = False, **options: Unpack[RemoteCall]
    ) -> LeanContext: ...

    @overload
    def context(
        self, query: str = "", *, since: str, explain: Literal[False] = False, **options: Unpack[RemoteCall]
    ) -> LeanDelta: ...

    @overload
    def context(
        self, query: str = "", *, since: None = None, explain: Literal[True], **options: Unpack[RemoteCall]
    ) -> Context: ...

    @overload
    def context(
        self, query: str = "", *, since: str, explain: Literal[True], **options: Unpack[RemoteCall]
    ) -> Delta: ...

    @named_options(RemoteOptions)
    def context(
        self,
        query: str = "",
        *,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        since: str | None = None,
        explain: bool = False,
        **options: Unpack[RemoteOptions],
    ) -> LeanContext | LeanDelta | Context | Delta:
        """Return the context for a query, or with `since` the delta to an earlier one; options as for `Weft.context`.

        It is lean: a trace, pieces and the passages of excerpts are sent only with `explain`, which gives what `Weft`
        gives.
        """
        body = _asked(query, options) | {"form": "whole" if explain else "lean"}
        if since is None:
            answer = self.send("POST", workspace, "context/build", body, user)
            return decode(Context, answer) if explain else decode(LeanContext, answer)
        answer = self.send("POST", workspace, "context/delta", body | {"since": since}, user)
        return decode(Delta, answer) if explain else decode(LeanDelta, answer)

    @named_options(RemoteOptions)
    def preview(
        self,
        query: str = "",
        *,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        **options: Unpack[RemoteOptions],
    ) -> Preview:
        """The figures of the context for the same arguments."""
        return decode(Preview, self.send("POST", workspace, "context/preview", _asked(query, options), user))

    @named_options(RemoteOptions)
    def explain(
        self,
        query: str = "",
        *,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        **options: Unpack[RemoteOptions],
    ) -> str:
        """Why the context for the same arguments is what it is."""
        return str(self.send("POST", workspace, "context/explain", _asked(query, options), user)["text"])

    def turn(self, thread: str, message: str, **options: Unpack[TurnOptions]) -> Turn:
        """Post a user's message to a thread, and return what to send to the model for it, within one budget."""
        return self.turns.turn(thread, message, **options)

    def reply(self, thread: str, text: str, **where: Unpack[Place]) -> Reply:
        """Post the model's answer, check its citations against all that the thread was given, and count their use."""
        return self.turns.reply(thread, text, **where)

    def compact(self, thread: str, *, keep: int = 2_000, **where: Unpack[Place]) -> Compacted:
        """Shorten a thread's history to `keep` tokens; rules, decisions, open tasks and cited sources survive."""
        return self.turns.compact(thread, keep=keep, **where)

    def workspace_face(
        self,
        method: Literal["build", "validate", "estimate"],
        body: Mapping[str, Any],
        *,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> Any:
        """The answer of a route of the workspace contract; `ContextBuilder(client)` has its methods."""
        return self.send("POST", workspace, f"context/workspace/{method}", body, user)

    def search(
        self,
        query: str,
        *,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        limit: int = 10,
        mode: Literal["hybrid", "words", "vector"] = "hybrid",
        filters: Filters = NO_FILTERS,
    ) -> list[SearchResult]:
        """The passages that answer a query best, with an excerpt around what matched."""
        body = {"query": query, "limit": limit, "mode": mode, "filters": encode(filters)}
        return [decode(SearchResult, each) for each in self.send("POST", workspace, "search", body, user)["results"]]

    def read(
        self,
        reference: str,
        *,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        start: str = "",
        tokens: int | None = None,
        ids: bool = True,
    ) -> DocumentText:
        """A document, or a part of one, in reading order, as `Weft.read` gives it; a server may give less at once."""
        query = {"reference": reference, "start": start, "ids": str(ids).lower()}
        query |= {} if tokens is None else {"tokens": str(tokens)}
        return decode(DocumentText, self.send("GET", workspace, "read", query=query, user=user))

    def node(self, reference: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE) -> Node:
        """A single node by its id, or by the citation id of one of its passages."""
        return decode(Node, self.send("GET", workspace, f"nodes/{segment(reference)}", user=user))

    def children(
        self, node: str, limit: int = 100, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> list[NodeInfo]:
        """The first children of a node, without their texts."""
        query = {"node": node, "limit": limit}
        answer = self.send("GET", workspace, "children", query=query, user=user)
        return [decode(NodeInfo, each) for each in answer["nodes"]]

    def feedback(
        self,
        reference: str,
        useful: bool,
        *,
        query: str | None = None,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> None:
        """Say whether a source helped with a question; `reference` is a node's id or a citation id.

        Without a question, it is the latest whose context held the source.
        """
        body = {"reference": reference, "useful": useful} | ({} if query is None else {"query": query})
        self.send("POST", workspace, "feedback", body, user)

    def record(
        self,
        reference: str,
        kind: Literal["view", "edit"],
        *,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        at: datetime | None = None,
    ) -> None:
        """Record that the user viewed or edited a node; `reference` is its id or a citation id."""
        body = {"node": reference, "kind": kind} | ({} if at is None else {"at": encode(at)})
        self.send("POST", workspace, "activity", body, user)

    def stats(self, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE) -> dict[str, int]:
        """Counts of what the user may see."""
        return dict(self.send("GET", workspace, "", user=user)["counts"])

    def remember(
        self, /, text: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE, **details: Any
    ) -> Memory:
        """Write a memory; `details` as for `Memories.remember`."""
        body = {"text": text} | {name: encode(_listed(value)) for name, value in details.items()}
        return decode(Memory, self.send("POST", workspace, "memories", body, user, again=False))

    def memories(
        self, *, every: bool = False, limit: int = 100, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> tuple[Memory, ...]:
        """The user's memories, the latest first."""
        query = {"every": str(every).lower(), "limit": limit}
        answer = self.send("GET", workspace, "memories", query=query, user=user)
        return tuple(decode(Memory, each) for each in answer["memories"])

    def forget(self, memory: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Remove a memory for good."""
        self.send("DELETE", workspace, f"memories/{segment(memory)}", user=user, again=False)

    def upload(
        self, path: str | Path, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> dict[str, Any]:
        """Send a document to be indexed; the answer is a job, to be followed with `job` or `job_events`."""
        path = Path(path)
        with path.open("rb") as file:
            files = {"file": (path.name, file, "application/octet-stream")}
            call = Call("POST", _place(workspace, "documents"), files=files, again=False, user=user)
            return dict(self._transport.send(call))

    def job(self, job: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE) -> dict[str, Any]:
        """The progress of the indexing of a document."""
        return dict(self.send("GET", workspace, f"jobs/{segment(job)}", user=user))

    def job_events(
        self, job: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> Iterator[tuple[str, Any]]:
        """The progress of a job as it comes, until it is done."""
        return self._transport.events(Call("GET", _place(workspace, f"jobs/{segment(job)}/events"), user=user))

    def ask(
        self, /, query: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE, **options: Any
    ) -> dict[str, Any]:
        """The answer to a question, with its sources and the check of its citations."""
        # A model may be asked for money, and takes its time: what broke off is not asked again unasked.
        return dict(self.send("POST", workspace, "ask", {"query": query, **options}, user, again=False))

    def ask_events(
        self, /, query: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE, **options: Any
    ) -> Iterator[tuple[str, Any]]:
        """The same as it comes: `sources`, then `piece` by `piece`, then `done`."""
        body = {"query": query, **options}
        return self._transport.events(Call("POST", _place(workspace, "ask/stream"), body, user=user))

    def send(
        self,
        method: str,
        workspace: str,
        path: str,
        body: Any = None,
        user: str | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        again: bool = True,
    ) -> Any:
        """The answer to a call of a route of a workspace; `again` allows to repeat it while the server is busy."""
        return self._transport.send(Call(method, _place(workspace, path), body, query, again=again, user=user))


def _place(workspace: str, path: str) -> str:
    return f"/v1/workspaces/{segment(workspace)}" + (f"/{path}" if path else "")


def _listed(value: Any) -> Any:
    return value if isinstance(value, str) or not isinstance(value, Iterable) else list(value)


def _asked(query: str, options: RemoteOptions) -> dict[str, Any]:
    """The body of a request for a context; parts that only a local engine can be given are refused."""
    given: dict[str, Any] = {"budget": None, "recipe": "default", **options}
    for name, value in given.items():
        if isinstance(value, Recipe | Lens):
            raise InvalidInput(f"a server knows a {name} by its name, not by what it is: give {value.name!r}")
    return {"query": query, **{name: encode(value) for name, value in given.items() if value is not None}}
