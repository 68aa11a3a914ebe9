"""Keys: made once, shown once, kept as a digest, found by it.

A key has 256 random bits, so that a plain SHA-256 is as good as a slow hash: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal, get_args

from weftwork.errors import InvalidInput, NotFound
from weftwork.store.protocol import Store
from weftwork.store.server_state import Key, Scope

PREFIX = "weftwork_"
_SHAPE = re.compile(r"weftwork_[A-Za-z0-9_-]{43}")
_SPAN = re.compile(r"([1-9][0-9]{0,3})([hdwy])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "y": 365 * 24}


def make_key(
    store: Store,
    *,
    user: str,
    workspaces: Iterable[str],
    scope: Scope,
    now: datetime,
    lasts: timedelta | None = None,
    name: str = "",
) -> tuple[Key, str]:
    """A new key, as it is kept and as its holder gets it; nobody can tell it again."""
    covered = frozenset(workspaces)
    if not covered:
        raise InvalidInput("a key needs a workspace: name one with  --workspace")
    if scope not in get_args(Scope):
        raise InvalidInput(f"unknown scope {scope!r}: use one of {', '.join(get_args(Scope))}")
    if len(name) > 100 or not name.isprintable():
        raise InvalidInput("the name of a key is at most 100 printable characters: shorten it")
    for workspace in sorted(covered):
        if user not in store.users(workspace):
            raise NotFound(
                f"{user!r} is no user of {workspace!r}: "
                f"add them with  weftwork users add {user} --workspace {workspace}"
            )
    token = PREFIX + secrets.token_urlsafe(32)
    key = Key(
        id=f"key-{secrets.token_hex(4)}",
        digest=digest_of(token),
        user=user,
        workspaces=covered,
        scope=scope,
        name=name,
        created_at=now,
        expires_at=None if lasts is None else now + lasts,
    )
    store.keys.put(key)
    return key, token


def find_key(store: Store, token: str, now: datetime) -> Key | None:
    """The key that this is, if it is one that holds now."""
    if not _SHAPE.fullmatch(token):
        return None
    key = store.keys.get(digest_of(token))
    return key if key is not None and state_of(key, now) == "active" else None


def revoke_key(store: Store, name: str, now: datetime) -> Key:
    """End a key for good; one that has ended stays as it was."""
    known = store.keys.all()
    matching = [key for key in known if key.id == name]
    if not matching:
        raise NotFound(f"there is no key {name!r}: see  weftwork keys list")
    if matching[0].revoked_at is not None:
        return matching[0]
    revoked = replace(matching[0], revoked_at=now)
    store.keys.put(revoked)
    return revoked


def digest_of(token: str) -> str:
    """The digest of a key, which is all that is stored of it."""
    return hashlib.sha256(token.encode("ascii")).hexdigest()


def read_span(text: str) -> timedelta:
    """Parse a duration such as 12h, 90d, 4w or 1y."""
    match = _SPAN.fullmatch(text)
    if match is None:
        raise InvalidInput(f"{text!r} is no span of time: use a number with h, d, w or y, such as 90d")
    return timedelta(hours=int(match[1]) * _HOURS[match[2]])


def state_of(key: Key, now: datetime) -> Literal["active", "expired", "revoked"]:
    """The state of a key at a moment."""
    if key.revoked_at is not None:
        return "revoked"
    return "active" if key.expires_at is None or now < key.expires_at else "expired"
