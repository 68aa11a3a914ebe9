"""Fair shares: no key keeps all others waiting.

As long as one key is alone, it may have as many requests in work as there are threads. While others are there, too, it
has at most a quarter of them. One that took more than a tenth of a processor lately, and more than twice what the
others took in the mean, has one request in work at a time, and a pause before the next that makes up for it. What is
over that waits its turn; when very much waits, it is refused with 429.

A request whose client goes away while it waits is not begun.

Requests whose key is not known to hold, or which have none, share what one key has, by the address they come from.

Load is shed before answers get late: a request that would wait longer than a second, given how fast others were
answered lately, is refused with 503 at once, and told when to come again.
"""

from __future__ import annotations

import inspect
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import anyio
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from weftwork.server.cost import counted, metered
from weftwork.server.http.gone_clients import GONE, Arriving
from weftwork.server.http.problems import Problem
from weftwork.server.http.request_log import CALLER, address_of

HALF_LIFE_SECONDS = 10.0
"""Time in which what a key has spent counts half."""
ONE_PROCESSOR = HALF_LIFE_SECONDS / 0.693
"""What a key has spent whose requests keep one processor busy all the time."""
SHARE = ONE_PROCESSOR / 10
"""What a key may have spent while others are there, whatever they spend."""
LITTLE = ONE_PROCESSOR / 50
"""What the others together have to spend to hold a key up: who looks in now and then slows no application down."""
MUCH_MORE = 2.0
"""What a key may have spent, as a multiple of what the others have in the mean."""
MOST_SPENT = 4 * SHARE
"""What is counted at most: who was alone before others came is forgiven the rest."""
LONGEST_DELAY_SECONDS = 10.0
"""A request that would be delayed longer is refused, as is the second one that would be delayed."""
PRESENT_SECONDS = 10.0
"""Time since its last request in which a key counts as being there."""
MOST_WAITING = 200
"""Requests of one key that wait for their turn."""
LOOK_SECONDS = 1.0
"""Time after which one who waits looks again whether the others have gone."""
LONGEST_WAIT_SECONDS = 1.0
"""A request that would wait longer is refused."""
PACE = 0.1
"""The weight of the latest interval between two answers in their mean."""
MOST_KEYS = 10_000
EXEMPT = ("/healthz", "/readyz", "/metrics", "/assets")


@dataclass(slots=True)
class Share:
    """Requests of one key that are running, and the time that it has used."""

    working: int = 0
    spent: float = 0.0
    """Seconds of a processor that its requests took, the older ones counting less."""
    seen: float = 0.0
    queue: deque[anyio.Event] = field(default_factory=deque)


class Shares:
    """The shares of all keys; for one event loop."""

    def __init__(self, threads: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._threads = threads
        self._clock = clock
        self._shares: dict[bytes, Share] = {}

    def most(self, key: bytes) -> int:
        """The requests that a key may have in work at once."""
        now = self._clock()
        if not any(self._is_there(share, now) for other, share in self._shares.items() if other != key):
            return self._threads
        if self.delay(key):
            return 1
        return max(1, self._threads // 4)

    def delay(self, key: bytes) -> float:
        """Seconds until a key may begin a request, since it took more of the processor than the others let it."""
        now = self._clock()
        others = [
            self._spent(share, now)
            for other, share in self._shares.items()
            if other != key and share.spent and self._is_there(share, now)  # a stranger holds nobody up
        ]
        if sum(others) < LITTLE:
            return 0.0
        most = max(SHARE, MUCH_MORE * sum(others) / len(others))
        own = self._spent(self._shares.get(key, Share()), now)
        return HALF_LIFE_SECONDS * math.log2(max(1.0, own / most))

    def is_free(self, key: bytes) -> bool:
        """Return True if a request of a key need not wait."""
        share = self._shares.get(key)
        return share is None or (share.working < self.most(key) and not self.delay(key))

    async def enter(self, key: bytes) -> None:
        """Wait for a turn; raise 429 if too many wait."""
        now = self._clock()
        if len(self._shares) >= MOST_KEYS:
            self._forget(now)
        share = self._shares.setdefault(key, Share(seen=now))
        share.spent, share.seen = self._spent(share, now), now
        while share.working >= self.most(key) or self.delay(key):
            delay = self.delay(key)
            if delay > LONGEST_DELAY_SECONDS or (delay and share.queue):
                raise _too_much("requests with this key take too much of the server's time while others ask", delay)
            if len(share.queue) >= MOST_WAITING:
                raise _too_much("too many requests with this key are waiting", 5)
            turn = anyio.Event()
            share.queue.append(turn)
            try:
                with anyio.move_on_after(min(LOOK_SECONDS, delay or LOOK_SECONDS)):
                    await turn.wait()
            except anyio.get_cancelled_exc_class():
                if turn.is_set() and share.queue:  # the turn of one who has gone is the next one's
                    share.queue.popleft().set()
                raise
            finally:
                if turn in share.queue:
                    share.queue.remove(turn)
        share.working += 1
        self._shares[key] = share

    def leave(self, key: bytes, spent: float) -> None:
        """Count the seconds that a request took of the processor, and let the next one begin."""
        share, now = self._shares[key], self._clock()
        share.spent, share.seen = min(MOST_SPENT, self._spent(share, now) + spent), now
        share.working -= 1
        if share.queue:
            share.queue.popleft().set()

    def _is_there(self, share: Share, now: float) -> bool:
        return bool(share.working or share.queue) or now - share.seen < PRESENT_SECONDS

    def _spent(self, share: Share, now: float) -> float:
        return share.spent * math.exp2(-max(0.0, now - share.seen) / HALF_LIFE_SECONDS)

    def _forget(self, now: float) -> None:
        self._shares = {key: share for key, share in self._shares.items() if self._is_there(share, now)}


class Load:
    """The requests in flight, and the pace at which they are answered; for one event loop."""

    def __init__(self, threads: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._threads = threads
        self._clock = clock
        self._in_flight: Counter[bytes] = Counter()
        self._interval = 0.0
        """Mean seconds between two answers while others wait."""
        self._answered = clock()

    def wait(self, key: bytes) -> float:
        """Seconds until a request of a key that comes now would be answered, at the pace of late.

        Keys take turns: before a key's third request, each other key has three answered at most, whatever it sends.
        """
        own = self._in_flight[key] + 1
        return self._interval * sum(min(count, own) for count in self._in_flight.values())

    def enter(self, key: bytes) -> None:
        """Count a request in; raise 503 if it would wait too long."""
        wait = self.wait(key)
        if self._in_flight.total() >= self._threads and wait > LONGEST_WAIT_SECONDS:
            later = {"Retry-After": str(math.ceil(wait))}
            raise Problem(503, "the server has more to do than it can answer in time: try again", headers=later)
        if not self._in_flight:
            self._answered = self._clock()
        self._in_flight[key] += 1

    def leave(self, key: bytes) -> None:
        """Count a request out, and measure the pace."""
        now = self._clock()
        self._interval += PACE * (now - self._answered - self._interval)
        self._answered = now
        self._in_flight[key] -= 1
        if not self._in_flight[key]:
            del self._in_flight[key]


class MeteredRoute(APIRoute):
    """A route whose endpoint is counted as a cost of the request, where it runs in a thread."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        counted = endpoint if inspect.iscoroutinefunction(endpoint) else metered(endpoint)
        super().__init__(path, counted, **options)


class FairShare:
    """Lets requests in by the shares of their keys, as many as can be answered in time."""

    def __init__(self, app: ASGIApp, threads: int) -> None:
        self.app = app
        self.shares = Shares(threads)
        self.load = Load(threads)
        self._known: OrderedDict[bytes, bytes] = OrderedDict()
        """Keys that held lately, by what was sent for them: others share what the strangers of one address have."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on in turn; what only listens to events takes no turn."""
        if scope["type"] != "http" or scope["path"].startswith(EXEMPT) or _listens(scope):
            await self.app(scope, receive, send)
            return
        given = blake2b(dict(scope["headers"]).get(b"authorization", b"")[:500], digest_size=16).digest()
        key = self._known.get(given) or address_of(scope).encode()
        try:
            self.load.enter(key)
        except Problem as refusal:
            await refusal.response()(scope, receive, send)
            return
        try:
            await self._in_turn(key, scope, receive, send)
        finally:
            self.load.leave(key)
            if CALLER in scope:
                self._remember(given, scope[CALLER].key.encode())

    def _remember(self, given: bytes, key: bytes) -> None:
        self._known[given] = key
        self._known.move_to_end(given)
        if len(self._known) > MOST_KEYS:
            self._known.popitem(last=False)

    async def _in_turn(self, key: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        arriving = Arriving(scope, receive)
        try:
            if self.shares.is_free(key):
                await self.shares.enter(key)
            elif not await arriving.stays_until(lambda: self.shares.enter(key)):
                await Response(status_code=GONE)(scope, receive, send)
                return
        except Problem as refusal:
            await refusal.response()(scope, arriving.receive, send)
            return
        with counted() as cost:
            try:
                await self.app(scope, arriving.receive, send)
            finally:
                self.shares.leave(key, cost.seconds)


def _too_much(what: str, delay: float) -> Problem:
    seconds = str(math.ceil(delay))
    return Problem(429, f"{what}: try again in {seconds} s", headers={"Retry-After": seconds})


def _listens(scope: Scope) -> bool:
    """Return True for what waits for events, for minutes, and works on nothing."""
    return bool(scope["method"] == "GET" and scope["path"].endswith(("/events", "/mcp")))
