"""The same methods for asynchronous programs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class AsyncMemories:
    """Each method of `Memories`, or of `RemoteMemories`, run in a worker thread and awaited."""

    def __init__(self, memories: Any) -> None:
        self._memories = memories

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """The method of this name, to be awaited."""
        method = getattr(self._memories, name)

        async def call(*args: Any, **options: Any) -> Any:
            return await asyncio.to_thread(method, *args, **options)

        return call
