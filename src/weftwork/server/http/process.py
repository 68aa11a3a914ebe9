"""Serving until somebody ends it: requests in flight are answered, and jobs are left so that they can go on."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import ipaddress
import os
import signal
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from weftwork.config import Config
from weftwork.embed.cached import LOCAL_MODELS
from weftwork.engine import Weft
from weftwork.errors import InvalidInput
from weftwork.server.http.app import make_app
from weftwork.server.http.limits import Buckets
from weftwork.server.http.oauth.settings import OAuthSettings
from weftwork.server.http.openapi import describe
from weftwork.server.http.options import LIMITS, Limits, Local, Options, Tls
from weftwork.server.http.service import Service
from weftwork.server.http.slow_clients import PatientProtocol
from weftwork.server.http.tracing import exporting_provider
from weftwork.store.protocol import Store

BACKLOG = 2048
"""Connections that may wait to be accepted."""
LARGEST_HEADERS = 65_536
"""Bytes of a request before its body."""
M_ARENA_MAX = -8
"""The parameter of mallopt(3)."""
GARBAGE = 20_000
"""Objects that are made between two looks for cycles among the youngest."""
LONGEST_DRAIN_SECONDS = 300
GRACE_SECONDS = 30
"""Seconds that requests in flight may take when the server is told to stop."""


def make_options(store: Store, config: Config, chosen: Mapping[str, Any], *, model: Any) -> Options:
    """The options of a server by these settings; one without keys is for this machine only."""
    local = None
    oauth = OAuthSettings.from_mapping(chosen.get("oauth", {}), os.environ)
    if not store.keys.all() and (oauth is None or oauth.issuer is None):
        if not is_loopback(chosen["host"]):
            raise InvalidInput(
                f"without any key the server listens on this machine only, not on {chosen['host']}: make a key with"
                "  weftwork keys create --user NAME --workspace NAME --scope admin"
            )
        local = Local(user=config.user, workspace=config.workspace)
    uploads = chosen.get("uploads")
    return Options(
        local=local,
        limits=_limits(chosen.get("limits", {})),
        new_users=_names("new_users", chosen.get("new_users", ())),
        cors=tuple(map(_origin, chosen.get("cors", ()))),
        open_metrics=chosen.get("open_metrics", False),
        uploads=None if uploads is None else Path(uploads),
        workers=_count("workers", chosen.get("workers", 1)),
        threads=_count("threads", chosen.get("threads", 16)),
        max_output_tokens=config.max_output_tokens,
        model=model,
        oauth=oauth,
        tracer_provider=exporting_provider() if chosen.get("otel") else None,
        tls=_tls(chosen.get("certificate"), chosen.get("certificate_key")),
        proxies=tuple(map(_network, chosen.get("proxies", ()))),
        drain_seconds=_drain(chosen.get("drain", 0)),
    )


def run(
    weft: Weft,
    options: Options,
    *,
    listener: socket.socket,
    say: Callable[[list[str]], None],
    buckets: Buckets | None = None,
    backlog: int = BACKLOG,
) -> None:
    """Serve on a socket until a signal comes, and say where and for whom."""
    _limit_arenas()
    app = make_app(weft, options, buckets)
    _warm(weft)
    describe(app)
    _tune_garbage_collector()
    tls = options.tls
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(options.proxies),
        forwarded_allow_ips=list(options.proxies),
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
        timeout_graceful_shutdown=GRACE_SECONDS,
        lifespan="on",
        # It bounds the bytes of all headers, which others take whatever their size, before any key is looked at.
        http=PatientProtocol,
        h11_max_incomplete_event_size=LARGEST_HEADERS,
        backlog=backlog,
    )
    # The server raises the signals that ended it once more when it is done: they have had their effect by then.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda number, frame: None)
    _Server(config, app.state.service, say).run([listener])
    if options.tracer_provider is not None:
        options.tracer_provider.shutdown()


def _names(name: str, value: Any) -> frozenset[str]:
    if isinstance(value, str) or not all(isinstance(part, str) for part in value):
        raise InvalidInput(f"server.{name} must be a list of workspaces, got {value!r}")
    return frozenset(value)


def _warm(weft: Weft) -> None:
    """Load the vocabulary and the model that the first question would wait for; nobody who is paid is asked."""
    weft.tools.counter.count("warm")
    embedder = weft.tools.embedder
    if embedder is not None and embedder.model.startswith(LOCAL_MODELS):
        embedder.embed("warm")


def _limit_arenas() -> None:
    """Let all threads allocate from two arenas, where the C library is glibc.

    By default there are eight for each processor, and what one thread has freed no other may have: a server on 10,000
    passages with 16 readers took 564 MB instead of 368.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def _tune_garbage_collector() -> None:
    """Look for cycles less often: hardly any arise, and a full search walks through all that is cached.

    By default it took a tenth of all time, and doubled the slowest answers.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE, 20, 50)


def listening(host: str, port: int) -> socket.socket:
    """A socket at an address; an error says why there cannot be one."""
    if not 0 <= port <= 65535:
        raise InvalidInput(f"port {port} is not one of 0 to 65535: choose another")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise InvalidInput(f"{host}, port {port}, cannot be listened on ({error.strerror}): choose another") from error


class _Server(uvicorn.Server):
    """Says when it can be reached, and lets go of those who only watch when it is to stop."""

    def __init__(self, config: uvicorn.Config, service: Service, say: Callable[[list[str]], None]) -> None:
        super().__init__(config)
        self._service = service
        self._say = say
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets=sockets)
        for server in self.servers if self.started else ():
            for each in server.sockets:
                host, port = each.getsockname()[:2]
                scheme = "http" if self._service.options.tls is None else "https"
                where = f"listening on {scheme}://{f'[{host}]' if ':' in host else host}:{port}"
                page = "the page at this address shows what a model would read, and why"
                self._say([where, page, self._for_whom(host)])

    def _for_whom(self, host: str) -> str:
        local = self._service.options.local
        if local is not None:
            return f"no key is configured: for this machine only, and every request is {local.user!r} with every right"
        if self._service.options.tls is None and not is_loopback(host):
            return "keys and answers travel as they are: name a  --certificate, or put a proxy with TLS in front"
        return "every request needs a key"

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop after a signal: at once, or after a while in which `/readyz` says so and requests are still answered."""
        drain, first = self._service.options.drain_seconds, not self._service.jobs.stopping
        self._service.jobs.stop_soon()
        if first and drain and self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.call_later, drain, super().handle_exit, sig, frame)
        else:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what is in flight, and say that this was all."""
        await super().shutdown(sockets=sockets)
        with suppress(OSError):  # nobody may be left to hear it
            self._say(["stopped"])


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _limits(given: Mapping[str, Any]) -> Limits:
    unknown = sorted(set(given) - set(LIMITS))
    if unknown:
        raise InvalidInput(f"unknown limit {unknown[0]!r}: use {', '.join(LIMITS)}")
    return Limits(**given)


def _origin(given: Any) -> str:
    parts = urlsplit(given) if isinstance(given, str) else None
    if parts is None or parts.scheme not in ("http", "https") or given != f"{parts.scheme}://{parts.netloc}":
        raise InvalidInput(f"{given!r} is no origin: write it as a browser does, such as https://wiki.example.org")
    return str(given)


def _tls(certificate: str | None, key: str | None) -> Tls | None:
    """The files of a certificate and its key; an error says which of them is missing or does not fit."""
    if certificate is None and key is None:
        return None
    if certificate is None:
        raise InvalidInput("a key without a certificate: name that with  --certificate")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except OSError as error:  # of ssl, too
        raise InvalidInput(
            f"{certificate} and {key or 'the key in it'} cannot be used for TLS ({error.strerror or error}): "
            "name files in PEM format with  --certificate  and  --certificate-key"
        ) from error
    return Tls(certificate, key)


def _network(given: Any) -> str:
    try:
        return str(ipaddress.ip_network(given))
    except ValueError as error:
        raise InvalidInput(f"{given!r} is no address of a proxy: write one such as 127.0.0.1 or 10.0.0.0/8") from error


def _drain(seconds: int) -> int:
    if not 0 <= seconds <= LONGEST_DRAIN_SECONDS:
        raise InvalidInput(f"drain is between 0 and {LONGEST_DRAIN_SECONDS} seconds, got {seconds}")
    return seconds


def _count(name: str, value: int) -> int:
    if value < 1:
        raise InvalidInput(f"{name} must be at least 1, got {value}")
    return value
