"""Tokens of an OIDC issuer: checked by its published keys, for users whom a workspace knows."""

from __future__ import annotations

import json
import logging
from functools import cached_property
from hashlib import sha256
from typing import Any
from urllib.request import urlopen

import jwt

from weftwork.engine import Weft
from weftwork.server.http.oauth.settings import OAuthSettings
from weftwork.store.server_state import Key, Scope

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
SECONDS = 5.0
LEEWAY_SECONDS = 30
WRITING = frozenset({"write", "weftwork:write"})

log = logging.getLogger("weftwork.oauth")


class Issuer:
    """Checks tokens of one issuer. Blocks while it fetches keys."""

    def __init__(self, weft: Weft, settings: OAuthSettings) -> None:
        self._weft = weft
        self._settings = settings
        self._issuer = settings.issuer or ""
        self._audiences = [settings.audience] if settings.audience else list(settings.resources)

    @cached_property
    def _keys(self) -> jwt.PyJWKClient:
        address = self._issuer.rstrip("/") + "/.well-known/openid-configuration"
        with urlopen(address, timeout=SECONDS) as answer:
            described = json.load(answer)
        return jwt.PyJWKClient(described["jwks_uri"], cache_keys=True, timeout=int(SECONDS))

    def key_of(self, token: str) -> Key | None:
        """Rights of a token, as a key: the workspaces that know its user, to read or to write."""
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._keys.get_signing_key_from_jwt(token).key,
                algorithms=ALGORITHMS,
                audience=self._audiences,
                issuer=[self._issuer, self._issuer.rstrip("/") + "/"],
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWKClientConnectionError as error:
            log.error("the issuer does not answer", exc_info=error)
            return None
        except (jwt.PyJWTError, OSError, ValueError, KeyError):
            return None
        user = claims.get(self._settings.user_claim)
        store = self._weft.store
        known = {name for name in store.workspaces() if isinstance(user, str) and user in store.users(name)}
        if not isinstance(user, str) or not known:
            return None
        # An issuer that lets anybody write down an address vouches for one only where it says so.
        if self._settings.user_claim == "email" and claims.get("email_verified", True) is not True:
            return None
        name = sha256(f"{self._issuer}\n{user}".encode()).hexdigest()[:12]
        return Key(
            id=f"oidc-{name}",
            digest="",
            user=user,
            workspaces=frozenset(known),
            scope=_scope_of(claims),
            created_at=self._weft.now(),
        )


def _scope_of(claims: dict[str, Any]) -> Scope:
    given = claims.get("scope", claims.get("scp", ""))
    named = given.split() if isinstance(given, str) else given
    return "write" if WRITING & set(named if isinstance(named, list) else ()) else "read"
