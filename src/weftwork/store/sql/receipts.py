"""Receipts, and what threads were given; they do not raise the version of any workspace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from weftwork.store.receipts import ReceiptRow
from weftwork.store.sql.codec import from_micros, to_micros
from weftwork.store.sql.queries import StoreQueries
from weftwork.store.sql.session import Database, Row, Session


class SqlReceipts:
    """Implements `weftwork.store.receipts.Receipts`."""

    def __init__(self, database: Database, sql: StoreQueries) -> None:
        self._database = database
        self._sql = sql

    def put(self, workspace: str, rows: Sequence[ReceiptRow], *, most: int) -> None:
        """Store receipts, replace those with the same id, and remove the oldest beyond `most`."""

        def write(session: Session) -> None:
            session.run_many(
                self._sql.PUT_RECEIPT,
                [
                    {
                        "id": row.id,
                        "user": row.user,
                        "thread": row.thread,
                        "at": to_micros(row.at),
                        "record": row.record,
                    }
                    for row in rows
                ],
            )
            session.run(self._sql.TRIM_RECEIPTS, most=most)

        self._database.do(write, workspace)

    def get(self, workspace: str, name: str) -> ReceiptRow | None:
        """The receipt with this id."""
        rows = self._database.ask(lambda session: session.rows(self._sql.RECEIPT, id=name), workspace)
        return _receipt(rows[0]) if rows else None

    def list(
        self, workspace: str, *, limit: int, user: str | None = None, thread: str | None = None
    ) -> Sequence[ReceiptRow]:
        """The latest receipts first: of a user, of a thread, or all."""
        values = {"user": user, "thread": thread, "limit": limit}
        rows = self._database.ask(lambda session: session.rows(self._sql.RECEIPTS, **values), workspace)
        return [_receipt(row) for row in rows]

    def remove(self, workspace: str, *, ids: Sequence[str] | None = None, user: str | None = None) -> int:
        """Remove receipts by their ids, of a user, of both, or all; return their number."""
        values = {"any": ids is None, "ids": list(ids or ()), "user": user}
        return self._database.do(lambda session: session.run(self._sql.REMOVE_RECEIPTS, **values), workspace)


class SqlGivenToThreads:
    """Implements `weftwork.store.receipts.GivenToThreads`."""

    def __init__(self, database: Database, sql: StoreQueries) -> None:
        self._database = database
        self._sql = sql

    def put(self, workspace: str, thread: str, *, user: str, given: str, at: datetime) -> None:
        """Store what a user was given in a thread, in the place of what was stored before."""
        values = {"name": thread, "user": user, "given": given, "at": to_micros(at)}
        self._database.do(lambda session: session.run(self._sql.PUT_GIVEN, **values), workspace)

    def get(self, workspace: str, thread: str, *, user: str) -> str | None:
        """Return the record of what a user was given in a thread."""
        rows = self._database.ask(lambda session: session.rows(self._sql.GIVEN, name=thread, user=user), workspace)
        return str(rows[0][0]) if rows else None


def _receipt(row: Row) -> ReceiptRow:
    return ReceiptRow(row[0], row[1], row[2], from_micros(row[3]), row[4])
