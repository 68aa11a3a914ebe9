"""A server on standard input and output, until the client closes its end or somebody interrupts it."""

from __future__ import annotations

import os
import re
import sys
import threading
from contextlib import suppress
from typing import Any, cast

import anyio
from anyio.abc import ObjectSendStream
from mcp.server import Server
from mcp.server.stdio import stdio_server

WAITING_LINES = 16
_ESCAPES = re.compile(r"\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|(?P<half>u[dD][89a-fA-F]\w\w)|.)")


def run_stdio(server: Server[dict[str, Any]]) -> None:
    """Serve one client; only the protocol is written to standard output."""
    with suppress(KeyboardInterrupt):
        anyio.run(_serve, server)


async def _serve(server: Server[dict[str, Any]]) -> None:
    stdin = cast("anyio.AsyncFile[str]", Lines(sys.stdin.fileno()))
    try:
        async with stdio_server(stdin=stdin) as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except* BrokenPipeError:
        pass  # the client went away while it was being answered


class Lines:
    """The lines of a file as they come in, read by a thread that nobody waits for.

    A thread that waits for input cannot be interrupted: with one of the event loop's own, Ctrl-C would do nothing
    until the client sends another line.
    """

    def __init__(self, descriptor: int) -> None:
        send, self._receive = anyio.create_memory_object_stream[str](WAITING_LINES)
        arguments = (descriptor, send, anyio.lowlevel.current_token())
        threading.Thread(target=_read, args=arguments, name="weftwork stdin", daemon=True).start()

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


def readable(line: str) -> str:
    """The line with half of a character replaced: a JSON parser refuses it, and the client would wait for ever."""
    return (
        _ESCAPES.sub(lambda found: r"\ufffd" if found["half"] else found[0], line) if r"\ud" in line.lower() else line
    )


def _read(descriptor: int, send: ObjectSendStream[str], token: anyio.lowlevel.EventLoopToken) -> None:
    """Hand each line to the event loop, and wait until it has taken it."""
    with (
        suppress(anyio.BrokenResourceError, anyio.RunFinishedError),
        os.fdopen(descriptor, "rb", closefd=False) as file,
    ):
        for line in file:
            anyio.from_thread.run(send.send, readable(line.decode("utf-8", "replace")), token=token)
        anyio.from_thread.run(send.aclose, token=token)
