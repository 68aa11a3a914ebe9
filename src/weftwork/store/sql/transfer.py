"""A workspace as rows that any store can give and take; see `weftwork.store.transfer`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property

from weftwork.errors import InvalidInput
from weftwork.store.files import Files
from weftwork.store.sql.queries import TransferQueries
from weftwork.store.sql.session import Row, Session
from weftwork.store.transfer import PROGRESS, Numbers


class SqlTransfer(ABC):
    """Implements most of `weftwork.store.transfer.Arriving`; in a transaction that only reads, `Leaving`."""

    def __init__(self, session: Session, sql: TransferQueries, version: int, files: Files) -> None:
        self._session = session
        self._sql = sql
        self.version = version
        self.files = files

    @property
    def last(self) -> Numbers:
        """The last of its numbers, those of removed nodes included."""
        return Numbers(*(last for _, last in self._spans))

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """The first and the last number of its nodes, passages and lists."""
        rows = [self._session.rows(statement)[0] for statement in self._sql.SPANS]
        return [(1, 0) if first is None else (first, last) for first, last in rows]

    def count(self, kind: str) -> int:
        """The number of rows of a kind."""
        statement = f"SELECT COUNT(*) FROM ({self._sql.ROWS[kind]}) AS counted"
        return int(self._session.rows(statement)[0][0])

    def progress(self) -> dict[str, str]:
        """The record of how much has arrived."""
        return {name: mark for name, mark in self._session.rows(self._sql.MARKS, group=PROGRESS)}

    def mark(self, marks: Mapping[str, str]) -> None:
        """Replace the record of how much has arrived."""
        self._session.run(self._sql.REMOVE_GROUP, group=PROGRESS)
        self.add("marks", [(PROGRESS, name, mark) for name, mark in marks.items()])

    @abstractmethod
    def add(self, kind: str, rows: Sequence[Row]) -> None:
        """Write rows of a kind, with what is derived from them."""

    def _refuse_other_keys(self, rows: Sequence[Row]) -> None:
        """Raise InvalidInput if a key of another digest has the id of one of these."""
        digests = {name: digest for name, digest in self._session.rows("SELECT id, digest FROM keys")}
        for name, digest, *_ in rows:
            if digests.get(name, digest) != digest:
                raise InvalidInput(f"the target has another key with the id {name!r}: revoke one of the two")
