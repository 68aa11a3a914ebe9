"""The garbage collector during an import: hardly any cycles arise, and each look walks through all that was read."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MADE = 20_000
"""Objects that are made between two looks for cycles; with 700, as by default, they took a twelfth of an import."""
_guard = threading.Lock()
_before: list[tuple[int, int, int]] = []


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Look for cycles less often, in the whole process, until the last block of this kind ends."""
    with _guard:
        _before.append(_before[0] if _before else gc.get_threshold())
        gc.set_threshold(max(MADE, _before[0][0]), *_before[0][1:])
    try:
        yield
    finally:
        with _guard:
            threshold = _before.pop()
            if not _before:
                gc.set_threshold(*threshold)
