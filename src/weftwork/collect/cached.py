"""A cached property that takes no lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class once(Generic[Value]):
    """`functools.cached_property` as it is from Python 3.12 on.

    Before 3.12 it holds one lock for all instances while it computes: a request that waits for a slow embedding
    provider would block all others.
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
