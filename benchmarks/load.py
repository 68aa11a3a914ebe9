"""A server under load: readers that ask all the time and a writer, beside the same work called in-process.

Each reader has a connection of its own and asks one thing after the other: of ten requests, six search, three build a
context of 2,000 tokens and one reads a node; queries are real and distinct until they are used up. The writer adds
a batch of five nodes ten times a second, so that caches are emptied and indexes caught up all the while. The server
is `weftwork serve` in a process of its own, with a key and all checks; only its rate limit is lifted.

The same readers and the same writer then call the engine directly, as threads of one process, for as long.

Figures: requests, errors and requests_per_s; p50_ms and p95_ms of what the readers asked, and the medians of each
kind; in_process has the same without a server. rss_mb is the server's memory when its caches are full, in the middle
and at the end; rss_growth is what the end has over the start. The readers share the machine with the server: on few
cores it has a part of them only.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx

from benchmarks.corpus import REPOSITORY, data_folder, sample_queries
from benchmarks.people import ME
from benchmarks.timing import percentile, say
from benchmarks.workspace import WORKSPACE, Built, workspace
from weftwork import Node, Weft
from weftwork.client.transport import segment
from weftwork.server.keys import make_key

BUDGET = 2_000
PLACE = f"/v1/workspaces/{WORKSPACE}"
MIX = ("search", "context", "read", "search", "search", "context", "search", "search", "context", "search")
SECONDS_BETWEEN_WRITES = 0.1
LONGEST_WARM_UP = 60.0
"""Seconds; memory says nothing before the caches are full."""
NODES_A_WRITE = 5
MOST_QUERIES = 1_500


class Target(Protocol):
    """What is put under load."""

    def ask(self, kind: str, query: str, node: str) -> None:
        """One request; raises where it fails."""

    def write(self, nodes: Sequence[tuple[str, str]]) -> None:
        """One batch of ids and texts."""

    def close(self) -> None:
        """Give back its connection."""


class Remote:
    """A server, by a connection of one's own."""

    def __init__(self, url: str, key: str) -> None:
        self._client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60)

    def ask(self, kind: str, query: str, node: str) -> None:
        """One request."""
        if kind == "read":
            self._client.get(f"{PLACE}/nodes/{segment(node)}").raise_for_status()
        elif kind == "search":
            self._client.post(f"{PLACE}/search", json={"query": query}).raise_for_status()
        else:
            self._client.post(f"{PLACE}/context/build", json={"query": query, "budget": BUDGET}).raise_for_status()

    def write(self, nodes: Sequence[tuple[str, str]]) -> None:
        """One batch."""
        body = {"nodes": [{"id": name, "text": text} for name, text in nodes]}
        self._client.post(f"{PLACE}/nodes", json=body).raise_for_status()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


class Local:
    """The engine itself."""

    def __init__(self, weft: Weft) -> None:
        self._weft = weft

    def ask(self, kind: str, query: str, node: str) -> None:
        """One request."""
        if kind == "read":
            self._weft.node(node, user=ME, workspace=WORKSPACE)
        elif kind == "search":
            self._weft.search(query, user=ME, workspace=WORKSPACE)
        else:
            self._weft.context(query, user=ME, workspace=WORKSPACE, budget=BUDGET)

    def write(self, nodes: Sequence[tuple[str, str]]) -> None:
        """One batch."""
        self._weft.add([Node(id=name, text=text, owner=ME) for name, text in nodes], workspace=WORKSPACE)

    def close(self) -> None:
        """Leave the engine open: the others use it too."""


@dataclass(slots=True)
class Tally:
    """What was asked, how long each took, and what failed; each thread has its own."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    @contextmanager
    def __call__(self, kind: str) -> Iterator[None]:
        """Time a request."""
        started = time.perf_counter()
        try:
            yield
        except Exception as error:
            self.errors.append(f"{kind}: {type(error).__name__}: {error}")
        else:
            self.times.setdefault(kind, []).append((time.perf_counter() - started) * 1000)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=30, help="how long each side is under load (default: 30)")
    parser.add_argument(
        "--warm-up", type=int, default=900, help="requests before that, which fill the caches (default: 900)"
    )
    parser.add_argument("--readers", type=int, default=8, help="readers at once (default: 8)")
    parser.add_argument("--processes", type=int, default=1, help="processes of the server (default: 1)")
    parser.add_argument("--passages", type=int, default=10_000, help="size of the workspace (default: 10,000)")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Serve a copy of the workspace and press it; then the same in-process on another copy."""
    queries = sample_queries(data_folder(), MOST_QUERIES, args.seed)
    built = workspace(args.passages, args.seed)
    with tempfile.TemporaryDirectory(prefix="weftwork-load-") as folder:
        press = Press(args, queries, built.focuses)
        served, memory = _served(_copy(built, Path(folder) / "served"), press, args.processes)
        with Weft.open(_copy(built, Path(folder) / "local"), create=False) as weft:
            say(f"calling the engine for {args.seconds:g} s …")
            local = press(lambda: Local(weft))
    return {
        "passages": built.passages,
        "readers": args.readers,
        "processes": args.processes,
        "seconds": args.seconds,
        **served,
        "in_process": local,
        "overhead_p50_ms": round(served["p50_ms"] - local["p50_ms"], 3),
        "rss_mb": memory,
        "rss_growth": round(memory["end"] / memory["start"] - 1, 3),
        "cores": os.cpu_count(),
    }


class Press:
    """The load: so many readers and one writer for so many seconds."""

    def __init__(self, args: argparse.Namespace, queries: Sequence[str], nodes: Sequence[str]) -> None:
        self._readers: int = args.readers
        self._seconds: float = args.seconds
        self._warm_up: int = args.warm_up
        self._seed: int = args.seed
        self._queries = queries
        self._nodes = nodes

    def __call__(self, connect: Callable[[], Target], at: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
        """Press a target, and tell when it is warm, half through and done."""
        self._during(LONGEST_WARM_UP, connect, "warm", self._warm_up // self._readers)
        at("start")
        started = time.perf_counter()
        half = threading.Timer(self._seconds / 2, at, ["middle"])
        half.start()
        reading, writing = self._during(self._seconds, connect, "load")
        spent = time.perf_counter() - started
        half.join()
        at("end")
        return _figures(reading, writing, spent)

    def _during(
        self, seconds: float, connect: Callable[[], Target], name: str, each: int = sys.maxsize
    ) -> tuple[list[Tally], Tally]:
        """So many seconds, or until each reader has asked so often."""
        end, done = time.monotonic() + seconds, threading.Event()
        tallies = [Tally() for _ in range(self._readers)]
        writing = Tally()
        targets = [connect() for _ in range(self._readers + 1)]
        threads = [
            threading.Thread(target=self._read, args=(target, tally, f"{name}/{self._seed}/{number}", end, each))
            for number, (target, tally) in enumerate(zip(targets, tallies, strict=False))
        ]
        writer = threading.Thread(target=self._write, args=(targets[-1], writing, name, done))
        for thread in (*threads, writer):
            thread.start()
        for thread in threads:
            thread.join()
        done.set()
        writer.join()
        for target in targets:
            target.close()
        return tallies, writing

    def _read(self, target: Target, tally: Tally, seed: str, end: float, most: int) -> None:
        rng = random.Random(seed)
        queries = itertools.cycle(rng.sample(self._queries, len(self._queries)))
        for kind in itertools.islice(itertools.cycle(MIX), most):
            if time.monotonic() >= end:
                return
            with tally(kind):
                target.ask(kind, next(queries), rng.choice(self._nodes))

    def _write(self, target: Target, tally: Tally, name: str, done: threading.Event) -> None:
        rng = random.Random(f"{name}/{self._seed}/writer")
        for number in itertools.count():
            nodes = [(f"{ME}/{name}-{number}-{place}", rng.choice(self._queries)) for place in range(NODES_A_WRITE)]
            with tally("write"):
                target.write(nodes)
            if done.wait(SECONDS_BETWEEN_WRITES):
                return


def _figures(reading: Sequence[Tally], writing: Tally, spent: float) -> dict[str, Any]:
    kinds = sorted(set(MIX))
    times = {kind: [lap for tally in reading for lap in tally.times.get(kind, ())] for kind in kinds}
    everything = [lap for laps in times.values() for lap in laps]
    failed = [error for tally in (*reading, writing) for error in tally.errors]
    errors = [error for error in failed if "503" not in error]
    for error in errors[:5]:
        say(f"  error: {error}")
    writes = writing.times.get("write", [])
    return {
        "requests": len(everything) + len(writes),
        "errors": len(errors),
        "shed": len(failed) - len(errors),
        "requests_per_s": round((len(everything) + len(writes)) / spent, 1),
        "p50_ms": round(percentile(everything, 50), 3),
        "p95_ms": round(percentile(everything, 95), 3),
        **{f"{kind}_p50_ms": _median(times[kind]) for kind in kinds},
        "writes": len(writes),
        "write_p50_ms": _median(writes),
    }


def _median(laps: Sequence[float]) -> float | None:
    return round(percentile(laps, 50), 3) if laps else None


def _copy(built: Built, folder: Path) -> Path:
    """A copy of the workspace that may be written to."""
    store = Path(built.store)
    shutil.copytree(store.parent, folder)
    return folder / store.name


def _served(store: Path, press: Press, processes: int) -> tuple[dict[str, Any], dict[str, float]]:
    with Weft.open(store, create=False) as weft:
        _, key = make_key(weft.store, user=ME, workspaces=[WORKSPACE], scope="write", now=weft.now())
    memory: dict[str, float] = {}
    with _server(store, processes) as (url, pid):
        say(f"pressing {url} …")

        def note(moment: str) -> None:
            memory[moment] = _resident(pid)

        return press(lambda: Remote(url, key), note), memory


@contextmanager
def _server(store: Path, processes: int) -> Iterator[tuple[str, int]]:
    """`weftwork serve` in a process of its own, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "weftwork.cli", "serve", "--port", str(port), "--limit", "requests_per_minute=0"]
    command += ["--processes", str(processes)]
    settings = {
        "WEFTWORK_STORE": str(store),
        "WEFTWORK_WORKSPACE": WORKSPACE,
        "WEFTWORK_USER": ME,
        "PYTHONPATH": str(REPOSITORY),
    }
    log = store.parent / "server.log"
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=os.environ | settings, stdout=file, stderr=file, cwd=store.parent)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait(url, process, log)
        yield url, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(f"{url}/readyz").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise SystemExit(f"the server did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")


def _resident(pid: int) -> float:
    """Megabytes that a process and those that it started have in memory."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6 + sum(_resident(int(each)) for each in started), 1)
