"""Calls of any provider: lists or arrays, synchronous or not, one text or many; failures are EmbeddingErrors."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weftwork.embed.protocol import Matrix
from weftwork.embed.vectors import unit_rows
from weftwork.errors import DimensionError, EmbeddingError, WeftError

if TYPE_CHECKING:
    import asyncio


class ProviderCalls:
    """Asks a provider for the vectors of texts. Thread-safe if the provider is.

    Coroutines run on one event loop in a thread of its own: an asynchronous HTTP client belongs to the loop that it
    was first used on.
    """

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        """Return one row of length one per text, zero for a vector that is; refuse what is no such matrix."""
        return self._made(lambda: self._ask(list(texts)), len(texts))

    def _made(self, ask: Callable[[], Any], count: int) -> Matrix:
        try:
            answer = ask()
        except WeftError:
            raise
        except Exception as error:
            model = self._provider.model
            raise EmbeddingError(f"the provider of {model!r} failed with {type(error).__name__}: {error}") from error
        return self._checked(answer, count)

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question as a matrix of one row, by a provider that has `embed_query`."""
        return self._made(lambda: [self._awaited(self._provider.embed_query(text))], 1)

    def _ask(self, texts: list[str]) -> Any:
        if hasattr(self._provider, "embed_batch"):
            return self._awaited(self._provider.embed_batch(texts))
        return [self._awaited(self._provider.embed(text)) for text in texts]

    def _awaited(self, answer: Any) -> Any:
        if not inspect.isawaitable(answer):
            return answer
        import asyncio  # noqa: PLC0415 - hardly any provider is asynchronous, and it takes a command 25 ms

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="weftwork-provider", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(_result(answer), self._loop).result()

    def _checked(self, answer: Any, count: int) -> Matrix:
        model, width = self._provider.model, self._provider.dimensions
        if isinstance(answer, np.ndarray) and answer.dtype == np.float32 and answer.shape == (count, width):
            matrix: Matrix = answer
        else:
            try:
                rows = [np.asarray(row, dtype=np.float32) for row in answer]
            except (TypeError, ValueError) as error:
                raise EmbeddingError(f"the provider of {model!r} gave no vectors of numbers: return lists") from error
            if len(rows) != count:
                raise EmbeddingError(f"the provider of {model!r} gave {len(rows)} vectors for {count} texts")
            for row in rows:
                if row.shape != (width,):
                    raise DimensionError(f"{model!r} has {width} dimensions, but its provider gave {row.shape}")
            matrix = np.array(rows, dtype=np.float32).reshape(count, width)
        if not np.isfinite(matrix).all():
            raise EmbeddingError(f"the provider of {model!r} gave a vector that is not finite: embed again")
        lengths = np.linalg.norm(matrix, axis=1)
        return matrix if np.allclose(lengths[lengths > 0], 1.0, atol=1e-3) else unit_rows(matrix)


async def _result(answer: Awaitable[Any]) -> Any:
    return await answer
