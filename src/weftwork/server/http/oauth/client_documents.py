"""Client id metadata documents: a client is named by the address of a document that describes it.

The server fetches what a stranger names, so it goes to public addresses alone, once resolved and by https, follows no
redirect, and reads a few kilobytes. A server on this machine may read documents on this machine, for development.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull
from pydantic import AnyUrl, ValidationError

from weftwork.server.http.oauth.settings import is_local

MOST_BYTES = 10_000
SECONDS = 5.0
"""Time for one document, from the first byte to the last."""
KEPT_SECONDS = 600.0
MOST_KEPT = 200
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
SCOPES = "read write"


class Client(OAuthClientInformationFull):
    """A client by its document; loopback redirects may name any port, as RFC 8252 has it."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """The address to redirect to, if the document has it."""
        if redirect_uri is not None and redirect_uri.host in LOOPBACK:
            known = [(each.scheme, each.host, each.path) for each in self.redirect_uris or ()]
            if (redirect_uri.scheme, redirect_uri.host, redirect_uri.path) in known:
                return redirect_uri
            raise InvalidRedirectUriError(f"{redirect_uri} is not in the client's document")
        return super().validate_redirect_uri(redirect_uri)


class ClientDocuments:
    """Fetches documents, and keeps them for ten minutes. Blocks."""

    def __init__(self, *, local: bool) -> None:
        self._local = local
        self._kept: dict[str, tuple[float, Client]] = {}

    def get(self, address: str) -> Client | None:
        """The client that an address describes; None if there is none that may be used."""
        kept = self._kept.get(address)
        if kept is not None and time.monotonic() - kept[0] < KEPT_SECONDS:
            return kept[1]
        try:
            client = _client(address, json.loads(self._fetch(address)))
        except (OSError, ValueError, http.client.HTTPException):
            return None
        if client is not None:
            while len(self._kept) >= MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[address] = (time.monotonic(), client)
        return client

    def _fetch(self, address: str) -> bytes:
        parts = urlsplit(address)
        host, here = parts.hostname or "", self._local and is_local(address)
        if not parts.path.strip("/") or parts.fragment or parts.username or not (here or parts.scheme == "https"):
            raise ValueError("no address of a client's document")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4]
        if not here and not ip_address(place[0]).is_global:
            raise ValueError("not a public address")
        # Connected to the address that was checked: a name may be resolved differently the next time.
        sock: socket.socket = socket.create_connection((str(place[0]), port), timeout=SECONDS)
        if parts.scheme == "https":
            sock = ssl.create_default_context().wrap_socket(sock, server_hostname=host)
        connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
        connection.sock = sock
        # Each read has a timeout, and a server that sends a byte at a time would keep the thread for days.
        end = threading.Timer(SECONDS, _cut, [sock])
        end.start()
        try:
            connection.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""))
            answer = connection.getresponse()
            body = answer.read(MOST_BYTES + 1)
        finally:
            end.cancel()
            connection.close()
        if answer.status != http.client.OK or len(body) > MOST_BYTES:
            raise ValueError("no document")
        return body


def _cut(sock: socket.socket) -> None:
    """End whatever waits for a connection."""
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _client(address: str, document: Any) -> Client | None:
    """The client of a document that names itself, has no secret, and says where to redirect to."""
    if not isinstance(document, dict) or document.get("client_id") != address or not document.get("redirect_uris"):
        return None
    if document.get("token_endpoint_auth_method", "none") != "none":
        return None
    known = {name: document.get(name) for name in ("client_id", "client_name", "redirect_uris", "client_uri")}
    try:
        return Client.model_validate(known | {"token_endpoint_auth_method": "none", "scope": SCOPES})
    except ValidationError:
        return None
