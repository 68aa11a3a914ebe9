"""The address of a database, with the settings of its use.

``postgresql://user@host/name?weftwork_pool=20&weftwork_timeout=10`` is passed to PostgreSQL
without the parameters that begin with ``weftwork_``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from weftwork.errors import InvalidInput

SCHEMES = ("postgresql", "postgres")
OWN = "weftwork_"
_NUMBERS = {"pool": 10, "timeout": 30, "wait": 10, "lag": 1}
MOST = 1_000_000
"""The maximum of a numeric setting: twelve days, for those in seconds."""
_TEXTS = ("files", "read", "pooler")
TRANSACTION = "transaction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A database and the settings of its use."""

    server: str
    """The connection string for libpq."""
    place: str
    """The same without a password, for messages."""
    pool: int = _NUMBERS["pool"]
    """The maximum number of connections."""
    timeout: int = _NUMBERS["timeout"]
    """Seconds that a statement may take."""
    wait: int = _NUMBERS["wait"]
    """Seconds to wait for a connection."""
    lag: int = _NUMBERS["lag"]
    """Seconds to wait for the replica to have what this process wrote, before the primary is asked."""
    read: str | None = None
    """The connection string of a replica for reads."""
    pooled: bool = False
    """True behind a pooler such as PgBouncer that hands out connections for single transactions."""
    files: Path
    """Base path of the folders of files, on storage that all servers share."""


def parse(url: str) -> Address:
    """Parse an address."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES:
        raise InvalidInput(f"{parts.scheme!r} is no store that Weftwork knows: use a path, or postgresql://host/name")
    ours, rest = _divided(parts.query)
    settings = {name.removeprefix(OWN): value for name, value in parse_qsl(ours, keep_blank_values=True)}
    unknown = sorted(settings.keys() - {*_NUMBERS, *_TEXTS})
    if unknown:
        names = ", ".join(OWN + name for name in (*_NUMBERS, *_TEXTS))
        raise InvalidInput(f"the address has an unknown setting {OWN}{unknown[0]}: use {names}")
    if settings.get("pooler", TRANSACTION) != TRANSACTION:
        raise InvalidInput(f"{OWN}pooler in the address must be {TRANSACTION!r}, got {settings['pooler']!r}")
    name = unquote(parts.path.strip("/")) or "postgres"
    folder = Path(settings["files"]) if "files" in settings else _shared_folder()
    numbers = {setting: _number(setting, settings[setting]) for setting in _NUMBERS if setting in settings}
    return Address(
        server=urlunsplit(parts._replace(query=rest)),
        place=f"{parts.scheme}://{parts.hostname or dict(parse_qsl(rest)).get('host', '')}/{name}",
        files=folder / "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name),
        read=parse(settings["read"]).server if settings.get("read") else None,
        pooled="pooler" in settings,
        **numbers,
    )


def _divided(query: str) -> tuple[str, str]:
    """Split a query string into our settings and libpq's, verbatim (libpq reads + as a plus)."""
    settings = query.split("&") if query else []
    ours = [setting for setting in settings if setting.startswith(OWN)]
    return "&".join(ours), "&".join(setting for setting in settings if not setting.startswith(OWN))


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise InvalidInput(f"{OWN}{name} in the address must be a whole number from 1 to {MOST:,}, got {text!r}")
    return int(text)


def _shared_folder() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "weftwork"
