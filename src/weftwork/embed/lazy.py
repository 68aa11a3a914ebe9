from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value that is computed at first use, once across threads."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: T | None = None
        self._lock = threading.Lock()

    def get(self) -> T:
        """The value, computed if necessary; a failure is retried on the next call."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def take(self) -> T | None:
        """Return the value, if it was computed, and reset."""
        with self._lock:
            made, self._made = self._made, None
            return made
