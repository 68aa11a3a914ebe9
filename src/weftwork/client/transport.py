"""Requests to a server, sent again when it is busy, and its problems as errors."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from weftwork.embed.retry import seconds_to_wait
from weftwork.errors import (
    AccessDenied,
    EmbeddingError,
    InvalidInput,
    MissingExtra,
    NotFound,
    RemoteError,
    UnknownName,
    WeftError,
)

if TYPE_CHECKING:
    import httpx

LONGEST_WAIT = 60.0
BUSY = (429, 503)
_ERRORS: Mapping[int, type[WeftError]] = {
    400: InvalidInput,
    401: AccessDenied,
    403: AccessDenied,
    404: NotFound,
    413: InvalidInput,
    422: InvalidInput,
}


@dataclass(frozen=True, slots=True)
class Call:
    """A request: its method and its address below the workspace or the server."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, Any] | None = None
    files: Mapping[str, Any] | None = None
    again: bool = True
    """True if the request is idempotent, and may be sent again."""
    user: str | None = None


class Transport:
    """Sends calls to one server. Thread-safe, as httpx's client is."""

    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        timeout: float,
        retries: int,
        sleep: Callable[[float], None] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        httpx = _httpx()
        _check(url, key)
        headers = {} if key is None else {"Authorization": f"Bearer {key.strip()}"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=timeout, transport=transport)
        self._host = urlsplit(url).netloc.rpartition("@")[2]
        self._retries = retries
        self._sleep = sleep

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def send(self, call: Call) -> Any:
        """The answer's JSON; raises the error that a problem stands for."""
        for attempt in range(self._retries + 1):
            response, failure = self._once(call)
            if response is not None and response.is_success:
                return _json(response, self._host)
            wait = seconds_to_wait(attempt, {} if response is None else response.headers)
            busy = response is None or response.status_code in BUSY
            # 429 is said before anything is done; what broke off on the way may have happened.
            safe = call.again or (response is not None and response.status_code == 429)
            if not (busy and safe) or attempt == self._retries or wait > LONGEST_WAIT:
                break
            self._sleep(wait)
        if response is None:
            raise RemoteError(f"{self._host} could not be reached ({failure}): check the address, and that it runs")
        raise _error(response, self._host)

    def _once(self, call: Call) -> tuple[httpx.Response | None, str]:
        httpx = _httpx()
        try:
            return self._client.send(self._request(call)), ""
        except httpx.RequestError as error:
            return None, type(error).__name__

    def events(self, call: Call) -> Iterator[tuple[str, Any]]:
        """The server-sent events of an answer, as they come; leaving the loop ends the request."""
        httpx = _httpx()
        try:
            response = self._client.send(self._request(call), stream=True)
            try:
                if not response.is_success:
                    response.read()
                    raise _error(response, self._host)
                yield from _events(response.iter_lines())
            finally:
                response.close()
        except httpx.RequestError as error:
            raise RemoteError(f"{self._host} broke off ({type(error).__name__}): ask again") from error

    def _request(self, call: Call) -> httpx.Request:
        headers = {} if call.user is None else {"Weftwork-User": quote(call.user, safe="")}
        content = None
        if call.body is not None:
            content = json.dumps(call.body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
            headers["Content-Type"] = "application/json"
        query = {name: value for name, value in (call.query or {}).items() if value is not None}
        request: httpx.Request = self._client.build_request(
            call.method, call.path, content=content, params=query or None, files=call.files, headers=headers
        )
        return request


def segment(name: str) -> str:
    """A name as one part of an address, whatever it is made of; dots too, since two of them mean the part above."""
    return quote(name.encode("utf-8", "replace"), safe="").replace(".", "%2E")


def _httpx() -> Any:
    try:
        import httpx  # noqa: PLC0415  (an optional extra)
    except ImportError as error:
        raise MissingExtra("httpx", "client") from error
    return httpx


def _check(url: str, key: str | None) -> None:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except (ValueError, AttributeError):
        sound = False
    if not sound:
        raise InvalidInput("the address of a server starts with http:// or https:// and names a host")
    if key is not None and not (key.strip().isascii() and key.strip().isprintable() and key.strip()):
        raise InvalidInput("the key has characters that no key has: copy it again")


def _json(response: httpx.Response, host: str) -> Any:
    if response.status_code == 204:
        return None
    try:
        return response.json()
    except (ValueError, RecursionError):
        raise RemoteError(
            f"{host} did not answer in JSON: check that the address is that of a Weftwork server"
        ) from None


def _error(response: httpx.Response, host: str) -> WeftError:
    """The error that an answer stands for."""
    try:
        problem = response.json()
    except (ValueError, RecursionError):
        problem = None
    if not isinstance(problem, dict) or not isinstance(problem.get("detail"), str):
        return RemoteError(f"{host} answered HTTP {response.status_code}: check that the address is that of a server")
    detail = problem["detail"] + "".join(
        f"; {each.get('pointer', '')}: {each.get('detail', '')}" for each in problem.get("errors", ()) if each
    )
    match problem:
        case {"unknown": str(named), "name": str(name), "available": list(available)}:
            return UnknownName(named, name, map(str, available))
        case {"code": "embedding_error"}:
            return EmbeddingError(f"{host}: {detail}")
    kind = _ERRORS.get(response.status_code, RemoteError)
    return kind(detail if kind is not RemoteError else f"{host} answered HTTP {response.status_code}: {detail}")


def _events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    """Pairs of an event's name and its data."""
    name, data = "message", list[str]()
    for line in lines:
        if not line:
            if data:
                yield name, json.loads("\n".join(data))
            name, data = "message", []
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
