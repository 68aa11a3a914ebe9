"""The authorization server: whoever owns a key may let a client act with it, or with less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import anyio
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from weftwork.engine import Weft
from weftwork.server.http.headers import APPROVE_PATH
from weftwork.server.http.oauth.client_documents import ClientDocuments
from weftwork.server.http.oauth.sealing import Seal
from weftwork.server.http.oauth.settings import OAuthSettings, is_local
from weftwork.server.keys import find_key, state_of
from weftwork.store.server_state import Key, Scope

REQUEST_LASTS = timedelta(minutes=10)
CODE_LASTS = timedelta(minutes=1)
ACCESS_LASTS = timedelta(hours=1)
REFRESH_LASTS = timedelta(days=30)
MOST_CODES = 10_000
FETCHED_AT_ONCE = 4
"""Documents of clients."""
CHALLENGE_CHARACTERS = 43


class KeyOwners(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Tokens stand for a key: they end when it is revoked or expires, and allow no more than it does."""

    def __init__(self, weft: Weft, settings: OAuthSettings) -> None:
        self._weft = weft
        self.settings = settings
        self._seal = Seal(settings.secret)
        self._documents = ClientDocuments(local=is_local(settings.url))
        # Anybody may name an address: the threads of all other requests must not wait for what is there.
        self._fetching = anyio.CapacityLimiter(FETCHED_AT_ONCE)
        self._used: dict[str, None] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """The client that the document at this address describes."""
        return await anyio.to_thread.run_sync(self._documents.get, client_id, limiter=self._fetching)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Dynamic registration is not offered: clients name the address of their document."""
        raise NotImplementedError

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """The address of the page on which the owner of a key is asked."""
        if params.resource is not None and params.resource not in self.settings.resources:
            raise AuthorizeError("invalid_target", f"this server is {self.settings.resources[0]}")
        if len(params.code_challenge) != CHALLENGE_CHARACTERS:
            raise AuthorizeError("invalid_request", "code_challenge must be a SHA-256 in base64url")
        claims = {
            "client": client.client_id,
            "name": client.client_name or client.client_id,
            "redirect": str(params.redirect_uri),
            "explicit": params.redirect_uri_provided_explicitly,
            "state": params.state,
            "challenge": params.code_challenge,
            "scope": "write" if "write" in (params.scopes or ("read", "write")) else "read",
            "resource": params.resource,
        }
        sealed = self._seal.close("request", claims, self._weft.now(), REQUEST_LASTS)
        return construct_redirect_uri(self.settings.url.rstrip("/") + APPROVE_PATH, request=sealed)

    def asked(self, request: str) -> dict[str, Any] | None:
        """The request that a page is about, if it is one of ours and still holds."""
        return self._seal.open("request", request, self._weft.now())

    def approve(self, asked: Mapping[str, Any], token: str) -> str | None:
        """The address that takes the code to the client; None if this is no key that lets anybody read. Blocks."""
        now = self._weft.now()
        key = find_key(self._weft.store, token.strip(), now)
        if key is None or key.scope == "record":
            return None
        scope: Scope = "write" if asked["scope"] == "write" and key.scope in ("write", "admin") else "read"
        code = self._seal.close("code", {**asked, "scope": scope, "digest": key.digest}, now, CODE_LASTS)
        return construct_redirect_uri(asked["redirect"], code=code, state=asked["state"], iss=self.settings.identity)

    def refuse(self, asked: Mapping[str, Any]) -> str:
        """The address that tells the client that the owner said no."""
        return construct_redirect_uri(
            asked["redirect"], error="access_denied", state=asked["state"], iss=self.settings.identity
        )

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        """The code of this client that nobody has used."""
        claims = self._seal.open("code", authorization_code, self._weft.now())
        if claims is None or claims["client"] != client.client_id or claims["nonce"] in self._used:
            return None
        return AuthorizationCode(
            code=authorization_code,
            scopes=[claims["scope"]],
            expires_at=claims["ends"],
            client_id=claims["client"],
            code_challenge=claims["challenge"],
            redirect_uri=claims["redirect"],
            redirect_uri_provided_explicitly=claims["explicit"],
            resource=claims["resource"],
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        """The tokens for a code, once."""
        claims = self._seal.open("code", authorization_code.code, self._weft.now()) or {}
        while len(self._used) >= MOST_CODES:
            del self._used[next(iter(self._used))]
        self._used[claims["nonce"]] = None
        return self._tokens(claims)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        """The refresh token of this client, as long as its key holds."""
        claims = self._seal.open("refresh", refresh_token, self._weft.now())
        if claims is None or claims["client"] != client.client_id:
            return None
        if await anyio.to_thread.run_sync(self._key, claims) is None:
            return None
        return RefreshToken(
            token=refresh_token, client_id=claims["client"], scopes=[claims["scope"]], expires_at=claims["ends"]
        )

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """New tokens for a refresh token, with the same rights or fewer."""
        claims = self._seal.open("refresh", refresh_token.token, self._weft.now()) or {}
        return self._tokens(claims if "write" in scopes or claims["scope"] == "read" else {**claims, "scope": "read"})

    async def load_access_token(self, token: str) -> AccessToken | None:
        """The access token, if it holds."""
        claims = self._seal.open("access", token, self._weft.now())
        if claims is None:
            return None
        return AccessToken(token=token, client_id=claims["client"], scopes=[claims["scope"]], expires_at=claims["ends"])

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """Nothing is kept that could be revoked: the owner revokes the key."""

    def key_of(self, token: str) -> Key | None:
        """The key that an access token stands for, with the scope that was granted. Blocks."""
        claims = self._seal.open("access", token, self._weft.now())
        return None if claims is None else self._key(claims)

    def _key(self, claims: Mapping[str, Any]) -> Key | None:
        key = self._weft.store.keys.get(claims["digest"])
        if key is None or state_of(key, self._weft.now()) != "active":
            return None
        return replace(key, scope=claims["scope"])

    def _tokens(self, claims: Mapping[str, Any]) -> OAuthToken:
        now = self._weft.now()
        kept = {name: claims[name] for name in ("client", "scope", "digest")}
        return OAuthToken(
            access_token=self._seal.close("access", kept, now, ACCESS_LASTS),
            expires_in=int(ACCESS_LASTS.total_seconds()),
            scope=claims["scope"],
            refresh_token=self._seal.close("refresh", kept, now, REFRESH_LASTS),
        )
