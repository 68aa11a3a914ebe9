"""A property that is computed when it is first read, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class once(Generic[Value]):
    """What `functools.cached_property` is from Python 3.12 on.

    Before, that one holds a lock for all instances while it computes: one request that waits for a slow embedding
    provider would hold up all others.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Value:
        value: Value = self._compute(instance)
        vars(instance)[self._name] = value
        return value
