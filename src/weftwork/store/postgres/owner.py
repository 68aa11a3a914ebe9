"""A connection of the owner of the tables, for what changes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection

from weftwork.errors import NotFound
from weftwork.store.postgres.address import Address
from weftwork.store.postgres.errors import EXPLAINED, explained
from weftwork.store.postgres.schema import SCHEMA, is_set_up


@contextmanager
def owner_connection(address: Address) -> Iterator[Connection[Any]]:
    """A connection with autocommit to a database that holds a store."""
    try:
        with psycopg.connect(address.server, autocommit=True, connect_timeout=address.wait) as connection:
            connection.execute(f"SET search_path TO {SCHEMA}, public".encode())
            if not is_set_up(connection):
                raise NotFound(f"{address.place} holds no store: create it with  weftwork init --store ADDRESS")
            yield connection
    except EXPLAINED as error:
        raise explained(error, address.place) from error
