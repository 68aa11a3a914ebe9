"""Open a store by its path (SQLite) or by its address (PostgreSQL)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from weftwork.embed.cache import VectorCache
from weftwork.errors import InvalidInput, MissingExtra, NotFound
from weftwork.store.protocol import Store
from weftwork.store.sqlite import SqliteStore
from weftwork.store.transfer import Movable

REPLICA = "weftwork_read"
"""The setting of an address whose value is the address of a replica."""


class LastingStore(Store, Movable, Protocol):
    """A store that also caches query embeddings, and that workspaces can be moved from and to."""

    @property
    def embedding_cache(self) -> VectorCache:
        """Embeddings of queries."""


def is_address(target: str | Path) -> bool:
    """True for the address of a database, False for a path."""
    return isinstance(target, str) and "://" in target


def shown(target: str) -> str:
    """The path or address of a store without passwords, for logs and messages."""
    if not is_address(target):
        return target
    parts = urlsplit(target)
    if parts.password is not None:
        parts = parts._replace(netloc=f"{parts.username or ''}@{parts.netloc.rpartition('@')[2]}")
    settings = parse_qsl(parts.query, keep_blank_values=True)
    if any(name == REPLICA for name, _ in settings):
        masked = [(name, shown(value) if name == REPLICA else value) for name, value in settings]
        parts = parts._replace(query=urlencode(masked))
    return urlunsplit(parts)


def with_replica(target: str, replica: str) -> str:
    """The address with a replica for reads."""
    if not replica:
        return target
    if not is_address(target):
        raise InvalidInput(f"{target} is a file and has no replica: leave read_url out, or use postgresql://…")
    parts = urlsplit(target)
    settings = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != REPLICA]
    return urlunsplit(parts._replace(query=urlencode([*settings, (REPLICA, replica)])))


def open_store(target: str | Path, *, clock: Callable[[], datetime], create: bool = True) -> LastingStore:
    """Open a store by its path or its address; without `create`, it must exist."""
    if isinstance(target, str) and is_address(target):
        return _database(target, clock, create)
    path = Path(target)
    if not create and not path.exists():
        raise NotFound(f"{path} does not exist: create it with  weftwork init")
    return SqliteStore(path, clock=clock)


def _database(url: str, clock: Callable[[], datetime], create: bool) -> LastingStore:
    try:
        import psycopg  # noqa: F401, PLC0415
        import psycopg_pool  # noqa: F401, PLC0415
    except ImportError as error:
        raise MissingExtra("psycopg, which PostgreSQL is reached with,", "postgres") from error
    from weftwork.store.postgres import PostgresStore  # noqa: PLC0415
    from weftwork.store.postgres.address import parse  # noqa: PLC0415

    return PostgresStore(parse(url), clock=clock, create=create)


def create_first_workspace(store: Store, workspace: str, owner: str) -> None:
    """Create a workspace in a new store; close the store on failure."""
    try:
        if not store.workspaces():
            with suppress(InvalidInput):  # another process was faster
                store.create_workspace(workspace, owner=owner)
    except BaseException:
        store.close()
        raise
