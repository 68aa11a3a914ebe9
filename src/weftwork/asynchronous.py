"""The engine and the client for asyncio: the same methods, each run in a worker thread and awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Literal, ParamSpec, Self, TypeVar, Unpack, overload

from weftwork.client import Client
from weftwork.client.client import RemoteCall
from weftwork.client.threads import ClientThreads
from weftwork.delta import Delta
from weftwork.engine import Weft
from weftwork.options import ContextOptions
from weftwork.receipts import Receipts
from weftwork.render import LeanContext, LeanDelta
from weftwork.types import Context
from weftwork.write.threads import Threads

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 16
_END = object()


class InThreads:
    """An object whose methods block, and the threads that they run in."""

    def __init__(self, blocking: Any, pool: ThreadPoolExecutor) -> None:
        self._blocking = blocking
        self._pool = pool

    async def _run(self, call: Callable[..., R], *arguments: Any, **options: Any) -> R:
        """Run a call to its end; when the task is cancelled meanwhile, its result is dropped."""
        bound = partial(copy_context().run, call, *arguments, **options)
        return await asyncio.get_running_loop().run_in_executor(self._pool, bound)

    async def close(self) -> None:
        """Close what is wrapped, and end the threads."""
        await self._run(self._blocking.close)
        self._pool.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def awaited(
    method: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[InThreads, P], Coroutine[Any, Any, R]]:
    """The same method, run in a thread."""

    @wraps(method)
    async def call(self: InThreads, /, *arguments: P.args, **options: P.kwargs) -> R:
        # What is looked up by name is the method of a subclass, too.
        return await self._run(getattr(self._blocking, method.__name__), *arguments, **options)

    return call


def streamed(
    method: Callable[Concatenate[Any, P], Iterator[R]],
) -> Callable[Concatenate[InThreads, P], AsyncIterator[R]]:
    """The same events, each waited for in a thread."""

    @wraps(method)
    async def call(self: InThreads, /, *arguments: P.args, **options: P.kwargs) -> AsyncIterator[R]:
        events = await self._run(getattr(self._blocking, method.__name__), *arguments, **options)
        while (event := await self._run(next, events, _END)) is not _END:
            yield event

    return call


class AsyncThreads(InThreads):
    """The methods of `Weft.threads`, awaited."""

    create = awaited(Threads.create)
    post = awaited(Threads.post)
    post_all = awaited(Threads.post_all)
    list = awaited(Threads.list)
    messages = awaited(Threads.messages)
    references = awaited(Threads.references)
    reference = awaited(Threads.reference)
    unreference = awaited(Threads.unreference)
    rename = awaited(Threads.rename)
    remove = awaited(Threads.remove)
    count_use = awaited(Threads.count_use)


class AsyncClientThreads(InThreads):
    """The methods of `Client.threads`, awaited."""

    create = awaited(ClientThreads.create)
    post = awaited(ClientThreads.post)
    list = awaited(ClientThreads.list)
    messages = awaited(ClientThreads.messages)
    references = awaited(ClientThreads.references)
    reference = awaited(ClientThreads.reference)
    unreference = awaited(ClientThreads.unreference)
    rename = awaited(ClientThreads.rename)
    remove = awaited(ClientThreads.remove)
    count_use = awaited(ClientThreads.count_use)


class AsyncReceipts(InThreads):
    """The methods of `Weft.receipts` and of `Client.receipts`, awaited."""

    list = awaited(Receipts.list)
    get = awaited(Receipts.get)
    erase = awaited(Receipts.erase)
    replay = awaited(Receipts.replay)


class AsyncWeft(InThreads):
    """`Weft` for asyncio. Transactions belong to a thread: use `Weft.atomic` in a function of your own."""

    def __init__(self, weft: Weft, *, threads: int = THREADS) -> None:
        """Wrap an engine, which stays usable beside; `threads` is how many calls run at once."""
        super().__init__(weft, ThreadPoolExecutor(threads, "weftwork async"))
        self.weft = weft
        self.threads = AsyncThreads(weft.threads, self._pool)
        self.receipts = AsyncReceipts(weft.receipts, self._pool)

    @classmethod
    async def open(cls, target: str | Path, *, threads: int = THREADS, **parts: Any) -> AsyncWeft:
        """Open a store by its path or its address; `parts` as for `Weft.open`."""
        return cls(await asyncio.to_thread(Weft.open, target, **parts), threads=threads)

    @overload
    async def context(self, query: str = "", *, since: None = None, **options: Unpack[ContextOptions]) -> Context: ...

    @overload
    async def context(self, query: str = "", *, since: str, **options: Unpack[ContextOptions]) -> Delta: ...

    async def context(self, query: str = "", **options: Any) -> Context | Delta:
        """Assemble the context for a query; options as for `Weft.context`."""
        return await self._run(self.weft.context, query, **options)

    turn = awaited(Weft.turn)
    reply = awaited(Weft.reply)
    compact = awaited(Weft.compact)
    preview = awaited(Weft.preview)
    explain = awaited(Weft.explain)
    search = awaited(Weft.search)
    read = awaited(Weft.read)
    node = awaited(Weft.node)
    add = awaited(Weft.add)
    remove = awaited(Weft.remove)
    feedback = awaited(Weft.feedback)
    record = awaited(Weft.record)
    stats = awaited(Weft.stats)
    create_workspace = awaited(Weft.create_workspace)
    add_user = awaited(Weft.add_user)
    catch_up = awaited(Weft.catch_up)
    changeover = awaited(Weft.changeover)


class AsyncClient(InThreads):
    """`Client` for asyncio."""

    def __init__(self, url: str, key: str | None = None, *, threads: int = THREADS, **connection: Any) -> None:
        """`threads` is how many calls wait for the server at once; `connection` as for `Client`."""
        self.client = Client(url, key, **connection)
        super().__init__(self.client, ThreadPoolExecutor(threads, "weftwork async"))
        self.threads = AsyncClientThreads(self.client.threads, self._pool)
        self.receipts = AsyncReceipts(self.client.receipts, self._pool)

    @overload
    async def context(
        self, query: str = "", *, since: None = None, explain: Literal[False] = False, **options: Unpack[RemoteCall]
    ) -> LeanContext: ...

    @overload
    async def context(
        self, query: str = "", *, since: str, explain: Literal[False] = False, **options: Unpack[RemoteCall]
    ) -> LeanDelta: ...

    @overload
    async def context(
        self, query: str = "", *, since: None = None, explain: Literal[True], **options: Unpack[RemoteCall]
    ) -> Context: ...

    @overload
    async def context(
        self, query: str = "", *, since: str, explain: Literal[True], **options: Unpack[RemoteCall]
    ) -> Delta: ...

    async def context(self, query: str = "", **options: Any) -> LeanContext | LeanDelta | Context | Delta:
        """Return the context for a query; options as for `Client.context`."""
        return await self._run(self.client.context, query, **options)

    turn = awaited(Client.turn)
    reply = awaited(Client.reply)
    compact = awaited(Client.compact)
    preview = awaited(Client.preview)
    explain = awaited(Client.explain)
    search = awaited(Client.search)
    read = awaited(Client.read)
    node = awaited(Client.node)
    children = awaited(Client.children)
    add = awaited(Client.add)
    remove = awaited(Client.remove)
    feedback = awaited(Client.feedback)
    record = awaited(Client.record)
    stats = awaited(Client.stats)
    workspaces = awaited(Client.workspaces)
    create_workspace = awaited(Client.create_workspace)
    add_user = awaited(Client.add_user)
    remember = awaited(Client.remember)
    memories = awaited(Client.memories)
    forget = awaited(Client.forget)
    upload = awaited(Client.upload)
    job = awaited(Client.job)
    job_events = streamed(Client.job_events)
    ask = awaited(Client.ask)
    ask_events = streamed(Client.ask_events)
    workspace_face = awaited(Client.workspace_face)
    send = awaited(Client.send)
