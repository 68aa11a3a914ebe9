"""The routes of OAuth: what clients discover, the page on which an owner of a key is asked, and the tokens."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib.resources import files
from urllib.parse import urlsplit

import anyio
from mcp.server.auth.handlers.metadata import MetadataHandler
from mcp.server.auth.routes import build_metadata, cors_middleware, create_auth_routes, create_protected_resource_routes
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from weftwork.engine import Weft
from weftwork.server.http.headers import APPROVE_PATH
from weftwork.server.http.oauth.issuer import Issuer
from weftwork.server.http.oauth.provider import KeyOwners
from weftwork.server.http.oauth.settings import OAuthSettings
from weftwork.store.server_state import Key

OPEN_PATHS = frozenset({"/authorize", "/token", APPROVE_PATH})
"""Paths that take a body without a key, which is what they are for."""
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True)
class OAuth:
    """Authentication by access tokens."""

    settings: OAuthSettings
    grants: KeyOwners | Issuer

    @classmethod
    def of(cls, weft: Weft, settings: OAuthSettings) -> OAuth:
        """The server's own authorization page, or the issuer that the settings name."""
        return cls(settings, KeyOwners(weft, settings) if settings.issuer is None else Issuer(weft, settings))

    def key_of(self, token: str) -> Key | None:
        """Return the key that stands for an access token. Blocks."""
        return self.grants.key_of(token)

    def challenge(self, path: str) -> str:
        """The header of an answer that asks for a token, with where to find out how to get one."""
        base = self.settings.url.rstrip("/")
        place = "/mcp" if path.startswith("/mcp") else ""
        return f'Bearer realm="weftwork", resource_metadata="{base}/.well-known/oauth-protected-resource{place}"'

    def routes(self) -> list[Route]:
        """The routes of metadata, and where the server has its own page, of the page and the tokens."""
        base = AnyHttpUrl(self.settings.url)
        servers = [AnyHttpUrl(self.settings.issuer or self.settings.url)]
        routes = [
            route
            for resource in (AnyHttpUrl(self.settings.resources[0]), base)
            for route in create_protected_resource_routes(resource, servers, ["read", "write"], "Weftwork")
        ]
        if isinstance(self.grants, KeyOwners):
            routes += _own_routes(self.grants, base)
        return routes


def _own_routes(owners: KeyOwners, base: AnyHttpUrl) -> list[Route]:
    none, scopes = RevocationOptions(), ClientRegistrationOptions(valid_scopes=["read", "write"])
    described = build_metadata(base, None, scopes, none)
    described.client_id_metadata_document_supported = True
    described.scopes_supported = ["read", "write"]
    described.token_endpoint_auth_methods_supported = ["none"]
    _, *others = create_auth_routes(owners, base, None, scopes, none)
    metadata = cors_middleware(MetadataHandler(described).handle, ["GET", "OPTIONS"])
    return [
        Route("/.well-known/oauth-authorization-server", endpoint=metadata, methods=["GET", "OPTIONS"]),
        Route(APPROVE_PATH, endpoint=_Page(owners).answer, methods=["GET", "POST"]),
        *others,
    ]


class _Page:
    """Asks whether a client may act with a key, and for the key."""

    def __init__(self, owners: KeyOwners) -> None:
        self._owners = owners
        self._template = (files("weftwork.server.http.oauth") / "approve.html").read_text(encoding="utf-8")

    async def answer(self, request: Request) -> Response:
        """The page, or where the browser goes on."""
        given = request.query_params if request.method == "GET" else await request.form()
        sealed = str(given.get("request", ""))
        asked = self._owners.asked(sealed)
        if asked is None:
            return self._show("<p>This request has ended: begin again in your assistant.</p>", status=400)
        if request.method == "GET":
            return self._form(sealed, asked)
        if given.get("answer") != "allow":
            return RedirectResponse(self._owners.refuse(asked), status_code=303)
        goes_to = await anyio.to_thread.run_sync(self._owners.approve, asked, str(given.get("key", "")))
        if goes_to is None:
            return self._form(sealed, asked, "This is no key that holds and may read: see  weftwork keys list.", 403)
        return RedirectResponse(goes_to, status_code=303)

    def _form(self, sealed: str, asked: dict[str, str], problem: str = "", status: int = 200) -> Response:
        rights = "read and write" if asked["scope"] == "write" else "read"
        target = urlsplit(asked["redirect"])
        origin = f"{target.scheme}://{target.netloc}"
        form = (
            f"<p><b>{escape(asked['name'])}</b> asks to {rights} what your key opens.</p>"
            f"<p>It is described at <code>{escape(asked['client'])}</code>, and the answer goes to"
            f" <code>{escape(origin)}</code>. Allow it only if you have just asked for this.</p>"
            f'<form method="post"><input type="hidden" name="request" value="{escape(sealed)}">'
            '<label>Your key <input type="password" name="key" autocomplete="off" autofocus></label>'
            f'<p class="problem">{escape(problem)}</p>'
            '<button name="answer" value="allow">Allow</button>'
            ' <button name="answer" value="deny">Cancel</button></form>'
        )
        # A browser checks the redirect after a form against form-action, too.
        return self._show(form, status, f"; form-action 'self' {origin}", markup=True)

    def _show(
        self, content: str, status: int, policy: str = "; form-action 'none'", *, markup: bool = False
    ) -> Response:
        body = self._template.replace("{{content}}", content if markup else f"<p>{escape(content)}</p>")
        return HTMLResponse(body, status, headers={"Content-Security-Policy": PAGE_POLICY + policy})
