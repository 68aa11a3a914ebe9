"""Requests to a server over HTTP, within limits of size and time."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener
from xml.etree import ElementTree

from weftwork.errors import AccessDenied, InvalidInput, NotFound, RemoteError
from weftwork.ingest.remotes.protocol import Address

LARGEST = 250_000_000
SECONDS = 60.0
AGENT = "weftwork"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a server; `body` is empty if nothing changed (304)."""

    status: int
    headers: Message
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise RemoteError("the server answers something that is not JSON: check the address") from error

    def xml(self) -> ElementTree.Element:
        """The body as XML; definitions of entities are refused."""
        return parse_xml(self.body)


class _Redirects(HTTPRedirectHandler):
    """Follows redirects, and sends a password to no other server than the one that it is for."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        """The request that follows."""
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            following.remove_header("Authorization")
        return following


_opener = build_opener(_Redirects)


def ask(
    url: str, *, method: str = "GET", headers: Mapping[str, str] | None = None, body: bytes | None = None
) -> Answer:
    """Send a request; an answer that is no success raises an error that says what to do."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise InvalidInput(f"{url} is no address of a web server: write https://…")
    request = Request(url, data=body, method=method, headers={"User-Agent": AGENT, **(headers or {})})
    try:
        with _opener.open(request, timeout=SECONDS) as response:
            content = response.read(LARGEST + 1)
            if len(content) > LARGEST:
                raise RemoteError(f"{url} answers more than {LARGEST // 1_000_000} MB")
            return Answer(response.status, response.headers, content)
    except HTTPError as error:
        error.close()
        if error.code == 304:
            return Answer(304, error.headers, b"")
        raise _refusal(url, error) from error
    except (OSError, HTTPException, ValueError) as error:
        raise RemoteError(f"{url} cannot be reached ({getattr(error, 'reason', error)}): try again later") from error


def _refusal(url: str, error: HTTPError) -> Exception:
    if error.code in (401, 403) and error.headers.get("x-ratelimit-remaining") != "0":
        return AccessDenied(f"{url} refuses ({error.code}): set the right key, see  weftwork pull --help")
    if error.code in (404, 410):
        return NotFound(f"{url} does not exist ({error.code}): check the address")
    wait = error.headers.get("Retry-After")
    return RemoteError(f"{url} answers {error.code}: try again {f'in {wait} s' if wait else 'later'}")


def authorised(address: Address, scheme: str = "Basic") -> dict[str, str]:
    """The header that shows a password or a token; none without one."""
    if not address.key:
        return {}
    if scheme == "Basic":
        pair = base64.b64encode(f"{address.user}:{address.key}".encode()).decode()
        return {"Authorization": f"Basic {pair}"}
    return {"Authorization": f"{scheme} {address.key}"}


def parse_xml(content: bytes) -> ElementTree.Element:
    """Parse XML from elsewhere."""
    if b"<!ENTITY" in content:
        raise RemoteError("the server answers XML that defines entities, which is not read")
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise RemoteError(f"the server answers XML that is damaged ({error}): check the address") from error
