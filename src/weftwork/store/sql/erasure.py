"""Erasure: what is stored beside the nodes is found and removed; the bytes are left to each store."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from weftwork.identity import SHORT
from weftwork.store.erasure import Rows
from weftwork.store.sql.codec import access_of, from_micros, to_micros
from weftwork.store.sql.queries import ErasureQueries
from weftwork.store.sql.session import Database, Session

MOMENTS = ("at", "created_at", "expires_at", "revoked_at", "used_at")
RECORDS = ("record", "details")
"""Columns that hold JSON."""


class SqlErasure(ABC):
    """Implements most of `weftwork.store.erasure.Erasure`."""

    def __init__(self, database: Database, sql: ErasureQueries) -> None:
        self._database = database
        self._sql = sql

    def known(self, workspace: str, user: str) -> Mapping[str, Rows]:
        """Return all rows that name a user, by kind, without the content of nodes."""

        def read(session: Session) -> Mapping[str, Rows]:
            return {
                kind: [_readable(json.loads(row)) for (row,) in session.rows(statement, user=user)]
                for kind, statement in self._sql.KNOWN.items()
            }

        return self._database.ask(read, workspace)

    def lists_with(self, workspace: str, user: str) -> Mapping[str, frozenset[str]]:
        """Return the own access lists of nodes that name a user, as a transaction that is under way left them."""
        rows = self._database.do(lambda session: session.rows(self._sql.OWN_LISTS), workspace)
        lists = {name: access_of(access) or frozenset() for name, access in rows}
        return {name: access for name, access in lists.items() if user in access}

    def below(self, workspace: str, ids: Collection[str]) -> set[str]:
        """Return the ids of these nodes and of all below them."""
        return self._names(workspace, self._sql.BELOW, names=sorted(ids))

    def citations(self, workspace: str, ids: Collection[str]) -> set[str]:
        """Return the citation ids of the passages of these nodes, at every length at which they are shown."""
        whole = self._names(workspace, self._sql.CITATIONS, names=sorted(ids))
        return {name[:length] for name in whole for length in range(SHORT, len(name) + 1)}

    def expired(self, workspace: str, kind: str, before: datetime) -> set[str]:
        """Return the ids of the nodes of a type that are older, as is all that hangs below them."""
        return self._names(workspace, self._sql.EXPIRED, kind=kind, before=to_micros(before))

    def forget_user(self, workspace: str, user: str) -> Mapping[str, int]:
        """Remove what is stored of a user beside their nodes; count it by kind."""

        def write(session: Session) -> Mapping[str, int]:
            counts = {kind: session.run(statement, user=user) for kind, statement in self._sql.FORGET_USER.items()}
            session.run(self._sql.DROP_LISTS, user=user)
            return counts

        return self._database.do(write, workspace)

    def forget_nodes(self, workspace: str, names: Collection[str]) -> Mapping[str, int]:
        """Remove the traces of removed nodes: records that name their ids or citations, and cached vectors."""

        def write(session: Session) -> Mapping[str, int]:
            counts = {}
            for kind, (read, remove) in self._sql.MENTIONING.items():
                rows = session.rows(read)
                named = mentioning([record for _, _, record in rows], names)
                keys = [{"first": rows[place][0], "second": rows[place][1]} for place in named]
                session.run_many(remove, keys)
                counts[kind] = len(keys)
            session.run(self._sql.BLANK_CHANGES, names=sorted(names))
            session.run(self._sql.CLEAR_CACHE)
            return counts

        return self._database.do(write, workspace)

    def forget_before(self, workspace: str, kind: str, before: datetime) -> int:
        """Remove the older rows of a kind; count them."""
        moment = to_micros(before)
        return self._database.do(lambda session: session.run(self._sql.FORGET_BEFORE[kind], before=moment), workspace)

    @abstractmethod
    def compact(self, workspace: str) -> None:
        """Write the database and its indexes anew, so that no bytes of what was removed are left in them."""

    def _names(self, workspace: str, statement: str, **values: object) -> set[str]:
        """Ids as a transaction that is under way left them."""
        return {name for (name,) in self._database.do(lambda session: session.rows(statement, **values), workspace)}


def mentioning(records: Sequence[str], names: Collection[str]) -> list[int]:
    """Return the places of the JSON records in which one of these names stands, alone or within a longer string."""
    texts = ["\n".join(_strings(json.loads(record))) for record in records]
    everything = "\n".join(texts)
    present = [name for name in names if name in everything]
    if not present:
        return []
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, present))})(?!\w)")
    return [place for place, text in enumerate(texts) if named.search(text)]


def _strings(value: object) -> Iterator[str]:
    """All strings and keys, also those of JSON that stands in a string."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "[", '"'):
            with suppress(ValueError):
                yield from _strings(json.loads(value))
    elif isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    """The row with dates as such, and without what is empty."""
    read = {name: value for name, value in row.items() if value is not None}
    for name in MOMENTS:
        if name in read:
            read[name] = from_micros(read[name]).isoformat()
    for name in RECORDS:
        if name in read:
            read[name] = json.loads(read[name])
    return read
