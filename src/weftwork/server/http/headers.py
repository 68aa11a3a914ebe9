"""Headers that keep browsers out of trouble, and a guard for the server that answers without a key."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weftwork.server.http.problems import Problem

PAGES = ("/", "/docs")
ASSETS = "/assets/"
APPROVE_PATH = "/oauth/approve"
POLICY_OF_PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self';"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
POLICY_OF_ANSWERS = "default-src 'none'; frame-ancestors 'none'; sandbox"
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class SecurityHeaders:
    """Adds what every answer carries; nothing but the page and its assets may be kept by a cache."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        page = scope["path"] in PAGES or scope["path"].startswith(ASSETS)
        added = ALWAYS | {
            "Content-Security-Policy": POLICY_OF_PAGE if page else POLICY_OF_ANSWERS,
            "Cache-Control": "no-cache" if page else "no-store",
        }

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                # The page that asks for a key on behalf of a client has a policy of its own.
                own = headers.get("Content-Security-Policy") if scope["path"] == APPROVE_PATH else None
                headers.update(added if own is None else added | {"Content-Security-Policy": own})
            await send(message)

        await self.app(scope, receive, sending)


class LocalGuard:
    """Lets only this machine's own programs in: no name that a foreign site made point here, no foreign page."""

    def __init__(self, app: ASGIApp, cors: tuple[str, ...]) -> None:
        self.app = app
        self._cors = frozenset(cors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or refuse."""
        refusal = self._refusal(Headers(scope=scope), scope["method"]) if scope["type"] == "http" else None
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            await refusal.response()(scope, receive, send)

    def _refusal(self, headers: Headers, method: str) -> Problem | None:
        if _name_of(f"//{headers.get('host', '')}") not in LOOPBACK:
            return Problem(421, "without a key this server answers only as 127.0.0.1 or localhost")
        origin = headers.get("origin")
        if origin is not None:
            foreign = origin not in self._cors and origin.partition("://")[2] != headers["host"]
        else:
            followed = headers.get("sec-fetch-mode") == "navigate" and method in ("GET", "HEAD")
            foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site") and not followed
        if foreign:
            return Problem(403, "without a key this server does not answer pages of other sites")
        return None


def _name_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
