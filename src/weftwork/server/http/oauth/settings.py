"""The settings of OAuth: the table `[server.oauth]` of weftwork.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from weftwork.errors import InvalidInput
from weftwork.trust import secret

LEAST_SECRET = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthSettings:
    """The address of a server, and who hands out its tokens."""

    url: str
    """The address under which clients reach the server, without a path, such as https://weft.example.org."""
    secret: str | None = None
    """At least 32 characters that seal tokens; None for random ones, with which a restart ends all tokens."""
    issuer: str | None = None
    """An OIDC issuer whose tokens are accepted instead of those of the server's own authorization page."""
    audience: str | None = None
    """The audience that tokens of the issuer must name; None for the address of the server."""
    user_claim: str = "email"
    """The claim of the issuer's tokens that names the user."""

    def __post_init__(self) -> None:
        for name in ("url", *(("issuer",) if self.issuer is not None else ())):
            _check_address(name, getattr(self, name))
        if urlsplit(self.url).path.strip("/"):
            raise InvalidInput(f"server.oauth.url is {self.url!r}: give the address without a path")
        if self.secret is not None and len(self.secret) < LEAST_SECRET:
            raise InvalidInput(f"WEFTWORK_OAUTH_SECRET must have at least {LEAST_SECRET} characters: make another")

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any], environment: Mapping[str, str]) -> OAuthSettings | None:
        """The settings of a table; None for an empty one. The secret comes from the environment alone."""
        if not table:
            return None
        known = [each.name for each in fields(cls) if each.name != "secret"]
        for name, value in table.items():
            if name not in known or not isinstance(value, str):
                raise InvalidInput(f"[server.oauth] has no text setting {name!r}: use {', '.join(known)}")
        if "url" not in table:
            raise InvalidInput("[server.oauth] needs url: the address under which clients reach the server")
        return cls(**table, secret=secret("WEFTWORK_OAUTH_SECRET", environment))

    @property
    def identity(self) -> str:
        """The issuer that metadata names, as clients compare it: character by character, so with its last slash."""
        return f"{self.url.rstrip('/')}/"

    @property
    def resources(self) -> tuple[str, ...]:
        """The addresses for which tokens are made: that of MCP, and that of the HTTP API."""
        base = self.url.rstrip("/")
        return f"{base}/mcp", base, f"{base}/"


def is_local(address: str) -> bool:
    """Return whether an address is on this machine."""
    return urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1")


def _check_address(name: str, value: str) -> None:
    parts = urlsplit(value)
    if not parts.hostname or parts.query or parts.fragment or (parts.scheme != "https" and not is_local(value)):
        raise InvalidInput(f"server.oauth.{name} is {value!r}: give an address that begins with https://")
