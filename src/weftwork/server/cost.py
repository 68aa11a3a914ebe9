"""The cost of a request: the processor's time that its work takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Value = TypeVar("Value")


class Cost:
    """Seconds of a processor."""

    seconds = 0.0


_COST: ContextVar[Cost | None] = ContextVar("cost", default=None)


@contextmanager
def counted() -> Iterator[Cost]:
    """Add up what is metered within a block, and in threads that have its context."""
    cost = Cost()
    token = _COST.set(cost)
    try:
        yield cost
    finally:
        _COST.reset(token)


def metered(call: Callable[Given, Value]) -> Callable[Given, Value]:
    """The same, counted as a cost of the request that it is called for."""

    @wraps(call)
    def run(*args: Given.args, **more: Given.kwargs) -> Value:
        cost, began = _COST.get(), time.thread_time()
        try:
            return call(*args, **more)
        finally:
            if cost is not None:
                cost.seconds += time.thread_time() - began

    return run
