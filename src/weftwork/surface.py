"""The surface through which a context is handed out, for its receipt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_NAME: ContextVar[str] = ContextVar("surface", default="python")


def current_surface() -> str:
    """The name of the surface; empty where nothing is handed out, such as in evaluations."""
    return _NAME.get()


def set_surface(name: str) -> None:
    """Name the surface for the rest of this task or thread."""
    _NAME.set(name)


@contextmanager
def surface(name: str) -> Iterator[None]:
    """Name the surface within a block."""
    token = _NAME.set(name)
    try:
        yield
    finally:
        _NAME.reset(token)
