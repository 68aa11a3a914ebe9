"""Settings files that send something to another machine are obeyed once their reader has said so, as they are.

A `weftwork.toml` comes with a folder that was cloned or unpacked, too. One that names an address, of a model, a
database or an index, would have notes and keys sent there. So the hash of each such file that is trusted is kept among
the user's settings; a file that changes is asked about again. Addresses of this machine need no trust.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from weftwork.errors import InvalidInput

EVERYTHING = "WEFTWORK_TRUST"
"""The variable that trusts every settings file if it is 1, for servers that are set up by other means."""


class UntrustedSettings(InvalidInput):
    """A settings file names addresses, and nobody has said that it may."""

    def __init__(self, path: Path, addresses: Mapping[str, str]) -> None:
        self.path = path
        self.addresses = addresses
        named = ", ".join(f"{setting} at {host}" for setting, host in addresses.items())
        super().__init__(
            f"{path} sends what you ask and what is found to other machines ({named}): "
            "if you trust it, run  weftwork trust"
        )


def refuse_untrusted(path: Path, values: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Raise UntrustedSettings if a settings file names addresses of other machines and is not trusted as it is."""
    addresses = dict(_addresses(values))
    if addresses and environment.get(EVERYTHING) != "1" and _line(path) not in _trusted(environment):
        raise UntrustedSettings(path, addresses)


def secret(name: str, environment: Mapping[str, str]) -> str | None:
    """The value of a variable, or the content of the file that `NAME_FILE` names; None if there is neither."""
    if environment.get(name):
        return environment[name]
    path = environment.get(f"{name}_FILE")
    if not path:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{name}_FILE names {path}, which cannot be read: correct it, or set {name}") from error


def trust(path: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Obey a settings file from now on, as long as it stays as it is."""
    kept = _register(environment)
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [*(line for line in _trusted(environment) if not line.endswith(f"  {path.resolve()}")), _line(path)]
    draft = kept.with_name(f".{kept.name}.draft-{os.getpid()}")
    draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogateescape")
    os.replace(draft, kept)


def _addresses(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Settings that name another machine, with its host."""
    for name, value in values.items():
        if isinstance(value, Mapping) and name != "templates":
            yield from _addresses(value, f"{prefix}{name}.")
        elif isinstance(value, str) and "://" in value and (host := _other_host(value)):
            yield f"{prefix}{name}", host


def _other_host(address: str) -> str:
    """The host of an address; empty for this machine."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:  # half of an IPv6 address
        return address
    try:
        return "" if ip_address(host).is_loopback else host
    except ValueError:
        return "" if host == "localhost" else host


def _register(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "weftwork" / "trusted"


def _trusted(environment: Mapping[str, str]) -> list[str]:
    try:
        return _register(environment).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []


def _line(path: Path) -> str:
    return f"{sha256(path.read_bytes()).hexdigest()}  {path.resolve()}"
