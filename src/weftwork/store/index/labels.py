"""Small numbers for values that many rows share: access lists, types, conversations, sets of tags."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
T = TypeVar("T", bound=Hashable)


class Labels(Generic[T]):
    """Values and their codes; it only ever grows, so searches may read it while a write adds to it."""

    def __init__(self, values: Iterable[T] = ()) -> None:
        self._values = list(values)
        self._codes = {value: code for code, value in enumerate(self._values)}

    def __len__(self) -> int:
        return len(self._values)

    @property
    def values(self) -> tuple[T, ...]:
        """The values by code."""
        return tuple(self._values)

    def code(self, value: T) -> int:
        """The code of a value, which is new if the value is."""
        code = self._codes.get(value)
        if code is None:
            code = len(self._values)
            self._values.append(value)
            self._codes[value] = code
        return code

    def known(self, values: Iterable[T]) -> list[int]:
        """The codes of those of these values that have one."""
        return [code for value in values if (code := self._codes.get(value)) is not None]

    def matching(self, test: Callable[[T], bool]) -> list[int]:
        """The codes of the values that pass a test."""
        return [code for code, value in enumerate(self.values) if test(value)]

    def compacted(self, column: Codes) -> tuple[Labels[T], Codes]:
        """The labels that a column still uses, and the column in their codes."""
        used = np.flatnonzero(np.bincount(column, minlength=len(self)))
        fresh = np.zeros(len(self), dtype=np.int32)
        fresh[used] = np.arange(len(used), dtype=np.int32)
        return Labels(self._values[code] for code in used.tolist()), fresh[column]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The labels of all columns that have them; fields are named as the columns are."""

    acl: Labels[int] = field(default_factory=Labels)
    type: Labels[str] = field(default_factory=Labels)
    conversation: Labels[str | None] = field(default_factory=Labels)
    tags: Labels[frozenset[str]] = field(default_factory=Labels)

    def to_json(self) -> str:
        """The values of each column, at their codes."""
        tags = [sorted(labels) for labels in self.tags.values]
        plain = {"acl": self.acl.values, "type": self.type.values, "conversation": self.conversation.values}
        return json.dumps({**plain, "tags": tags})

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        """Read the output of `to_json`."""
        stored = json.loads(text)
        return cls(
            acl=Labels(stored["acl"]),
            type=Labels(stored["type"]),
            conversation=Labels(stored["conversation"]),
            tags=Labels(frozenset(tags) for tags in stored["tags"]),
        )
