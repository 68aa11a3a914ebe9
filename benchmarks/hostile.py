"""One hostile key beside usual ones: what the others wait for while it sends the most expensive things it may.

Four users with a key each search and build contexts at an even pace, twice a second. In every other round, a fifth key
has twelve connections that send, as fast as they are answered: queries of 8,000 characters, many misspelt words and
prefixes, contexts of 200,000 tokens that walk to depth 5, and writes of 1.5 MB. The server is `weftwork serve` with its
usual limits, but that of the rate, so that the figures are about cost alone.

Figures: p50_ms and p95_ms of the four, without and beside the hostile key, and their ratio (`p95_ratio`, which should
stay within 2); `refused` counts answers 429 and 503 to the four, `hostile_refused` those to the fifth, `hostile_done`
its others.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from benchmarks.corpus import data_folder, sample_queries
from benchmarks.load import PLACE, _copy, _server
from benchmarks.timing import percentile, say
from benchmarks.workspace import WORKSPACE, workspace
from weftwork import Weft
from weftwork.server.keys import make_key

USERS = ("ana", "ben", "cleo", "dora")
HOSTILE = "mallory"
PACE_SECONDS = 0.5
CONNECTIONS = 12
ROUNDS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=15, help="how long each round takes (default: 15)")
    parser.add_argument("--passages", type=int, default=10_000, help="size of the workspace (default: 10,000)")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Alternate rounds without and beside the hostile key."""
    queries = sample_queries(data_folder(), 400, args.seed)
    built = workspace(args.passages, args.seed)
    with tempfile.TemporaryDirectory(prefix="weftwork-hostile-") as folder:
        store = _copy(built, Path(folder) / "served")
        with Weft.open(store, create=False) as weft:
            keys = {}
            for user in (*USERS, HOSTILE):
                weft.add_user(user, workspace=WORKSPACE)
                _, keys[user] = make_key(weft.store, user=user, workspaces=[WORKSPACE], scope="write", now=weft.now())
        with _server(store, 1) as (url, _):
            rounds = Rounds(url, keys, queries, args)
            rounds(hostile=False)  # fills the caches
            rounds.usual.clear()
            for number in range(ROUNDS):
                say(f"round {number + 1} of {ROUNDS} …")
                rounds(hostile=False)
                rounds(hostile=True)
    quiet, beside = rounds.usual[False], rounds.usual[True]
    return {
        "passages": built.passages,
        "seconds": args.seconds,
        "requests": len(quiet) + len(beside),
        "p50_ms": round(percentile(quiet, 50), 1),
        "p95_ms": round(percentile(quiet, 95), 1),
        "beside_p50_ms": round(percentile(beside, 50), 1),
        "beside_p95_ms": round(percentile(beside, 95), 1),
        "p95_ratio": round(percentile(beside, 95) / percentile(quiet, 95), 2),
        "refused": rounds.refused,
        "hostile_done": rounds.hostile_done,
        "hostile_refused": rounds.hostile_refused,
    }


class Rounds:
    """Rounds of requests, and what came of them."""

    def __init__(self, url: str, keys: dict[str, str], queries: list[str], args: argparse.Namespace) -> None:
        self._url, self._keys, self._queries, self._seconds = url, keys, queries, float(args.seconds)
        self._guard = threading.Lock()
        self.usual: dict[bool, list[float]] = {}
        self.refused = self.hostile_done = self.hostile_refused = 0

    def __call__(self, *, hostile: bool) -> None:
        """Ask for so many seconds."""
        context = multiprocessing.get_context("spawn")
        counts: multiprocessing.Queue[tuple[int, int]] = context.Queue()
        given = (self._url, self._keys[HOSTILE], self._queries, self._seconds, counts)
        # In a process of its own: what it takes to make its requests must not slow the measuring of the others.
        attack = context.Process(target=_attack, args=given)
        if hostile:
            attack.start()
            counts.get()
        end = time.monotonic() + self._seconds
        threads = [threading.Thread(target=self._ask, args=(user, end, hostile)) for user in USERS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if hostile:
            done, refused = counts.get()
            self.hostile_done += done
            self.hostile_refused += refused
            attack.join()

    def _ask(self, user: str, end: float, hostile: bool) -> None:
        rng = random.Random(f"{user}/{hostile}/{len(self.usual)}")
        with _client(self._url, self._keys[user]) as client:
            time.sleep(rng.uniform(0, PACE_SECONDS))
            for turn in itertools.count():
                if time.monotonic() >= end:
                    return
                started = time.perf_counter()
                query = rng.choice(self._queries)
                path, body = ("search", {"query": query}) if turn % 3 else ("context/build", {"query": query})
                status = client.post(f"{PLACE}/{path}", json=body).status_code
                spent = time.perf_counter() - started
                with self._guard:
                    if status in (429, 503):
                        self.refused += 1
                    else:
                        assert status == 200, status
                    self.usual.setdefault(hostile, []).append(spent * 1000)
                time.sleep(max(0.0, PACE_SECONDS - spent))


def _attack(url: str, key: str, queries: list[str], seconds: float, counts: multiprocessing.Queue[Any]) -> None:
    """Send the most expensive things for so many seconds; tell when it begins, and then the counts."""
    statuses: list[int] = []
    end = time.monotonic() + seconds
    threads = [
        threading.Thread(target=_press, args=(url, key, queries, end, number, statuses))
        for number in range(CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    counts.put((0, 0))
    for thread in threads:
        thread.join()
    refused = sum(status in (429, 503) for status in statuses)
    assert all(status < 300 or status in (429, 503) for status in statuses), sorted(set(statuses))
    counts.put((len(statuses) - refused, refused))


def _press(url: str, key: str, queries: list[str], end: float, number: int, statuses: list[int]) -> None:
    rng = random.Random(number)
    with _client(url, key) as client:
        while time.monotonic() < end:
            try:
                statuses.append(_costly(client, queries, rng))
            except httpx.TransportError:
                statuses.append(503)
            if statuses[-1] in (429, 503):
                time.sleep(0.05)


def _costly(client: httpx.Client, queries: list[str], rng: random.Random) -> int:
    words = " ".join(queries).split()
    long = " ".join(rng.choices(words, k=2_000))[:7_900]
    typos = " ".join(f"{word[:-1]}zq{word[-1:]}" for word in rng.choices(words, k=60))
    prefixes = " ".join(f"{word[:2]}*" for word in rng.choices(words, k=60))
    kind = rng.randrange(5)
    if kind == 0:
        nodes = [{"text": long * 25} for _ in range(8)]
        return client.post(f"{PLACE}/nodes", json={"nodes": nodes}).status_code
    if kind == 1:
        body = {"query": long, "budget": 200_000, "depth": 5}
        return client.post(f"{PLACE}/context/build", json=body).status_code
    return client.post(f"{PLACE}/search", json={"query": (long, typos, prefixes)[kind - 2]}).status_code


def _client(url: str, key: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=120)
