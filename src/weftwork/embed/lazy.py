from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value that is made once, at first use, by whichever thread comes first."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: T | None = None
        self._lock = threading.Lock()

    def get(self) -> T:
        """The value, made now if it was not yet; a failure is tried again next time."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def take(self) -> T | None:
        """The value if it was made, which is then forgotten."""
        with self._lock:
            made, self._made = self._made, None
            return made
