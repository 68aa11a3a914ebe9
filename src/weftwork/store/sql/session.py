"""Protocols by which the shared code runs statements on either database.

A list is passed as a value like any other; how it gets into a statement is the driver's concern. `ws` is the number of
the workspace in every statement, `acls` the access lists of the viewer in those of a `Reader`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from weftwork.types import Filters

Row = tuple[Any, ...]
Answer = TypeVar("Answer")
Tracer = Callable[[str], None]
"""Called with each statement, its values included."""


@dataclass(frozen=True, slots=True)
class Head:
    """Number, version and default access list of a workspace."""

    number: int
    version: int
    access: frozenset[str]
    """The access list of nodes that have none of their own."""


class Session(Protocol):
    """A transaction on a workspace."""

    @property
    def workspace(self) -> int:
        """The number of the workspace."""

    def rows(self, statement: str, /, **values: object) -> list[Row]:
        """Run a query and fetch all of its rows."""

    def run(self, statement: str, /, **values: object) -> int:
        """Run a statement and count the rows that it changed."""

    def run_many(self, statement: str, rows: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement once for each row of values."""


class Reader(Protocol):
    """A snapshot of a workspace for a viewer."""

    @property
    def workspace(self) -> int:
        """The number of the workspace."""

    @property
    def acls(self) -> frozenset[int]:
        """Numbers of the access lists that the viewer may see."""

    @property
    def passages(self) -> int:
        """The number of visible passages."""

    @property
    def words(self) -> int:
        """The number of words in them."""

    def rows(self, statement: str, /, **values: object) -> list[Row]:
        """Run a query and fetch all of its rows."""

    def filtered(self, statement: str, filters: Filters, /, **values: object) -> list[Row]:
        """Run a query with the conditions of the filters in the place of its `{filters}`."""

    def together(self, *statements: str, **values: object) -> list[list[Row]]:
        """Run several queries with the same values, in one round trip if the driver can."""


class Database(Protocol):
    """Short transactions of the store's own."""

    def ask(self, question: Callable[[Session], Answer], workspace: str | None = None) -> Answer:
        """Run queries in one snapshot, on a workspace if one is named."""

    def do(self, write: Callable[[Session], Answer], workspace: str | None = None) -> Answer:
        """Run writes in one transaction, again if a concurrent one gets in the way; no version rises."""
