"""Several processes that serve one store on one socket, and the supervisor that starts and ends them.

SIGTERM and SIGINT end all of them, after the requests in flight. SIGHUP replaces them one after the other, each by one
that can answer already, so that no request is refused meanwhile. A process that dies is replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from prometheus_client.multiprocess import mark_process_dead

from weftwork.config import Config
from weftwork.errors import InvalidInput, StoreError
from weftwork.faces.opening import open_configured
from weftwork.faces.research import ChatModel, ModelSettings
from weftwork.server.http.limits import SharedBuckets
from weftwork.server.http.logs import set_up_logging
from weftwork.server.http.metrics import FIGURES
from weftwork.server.http.process import BACKLOG, GRACE_SECONDS, listening, make_options, run

START_SECONDS = 120
"""Seconds in which a process has to answer."""
LOOK_SECONDS = 0.5
SETTLED_SECONDS, LONGEST_PAUSE_SECONDS = 10.0, 30.0
"""A process that dies sooner than this is replaced after a pause, each time twice as long."""


@dataclass(slots=True)
class Worker:
    """A process that serves, and the ends of its two pipes."""

    process: SpawnProcess
    words: Connection
    """What it has to say; the first words tell that it answers."""
    leash: Connection
    """Closed when the supervisor ends, in whatever way: then the process ends as well."""
    began: float

    def close(self) -> None:
        """Let go of the pipes."""
        self.words.close()
        self.leash.close()


def serve_together(config: Config, chosen: Mapping[str, Any], *, processes: int, say: Callable[[str], None]) -> None:
    """Serve with several processes until a signal comes."""
    with open_configured(config) as weft:  # refuses wrong settings, and brings the store up to date once
        options = make_options(weft.store, config, chosen, model=None)
    if options.oauth is not None and options.oauth.issuer is None:
        raise InvalidInput("tokens that this server issues itself need one process: leave out --processes, or [oauth]")
    with (
        listening(chosen["host"], chosen["port"]) as listener,
        tempfile.TemporaryDirectory(prefix="weftwork-metrics-") as folder,
    ):
        os.environ[FIGURES] = folder
        Supervisor(config, dict(chosen), listener, processes, say).run()


class Supervisor:
    """Keeps as many processes as it was told."""

    def __init__(
        self, config: Config, chosen: dict[str, Any], listener: socket.socket, count: int, say: Callable[[str], None]
    ) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._config, self._chosen = config, chosen
        self._listener = listener
        self._count = count
        self._say = say
        self._buckets = SharedBuckets.of(self._context)
        self._workers: list[Worker] = []
        self._stopping = threading.Event()
        self._renewing = threading.Event()
        self._pause = 0.0

    def run(self) -> None:
        """Start the processes, and keep them until a signal comes."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._stopping.set())
        signal.signal(signal.SIGHUP, lambda *_: self._renewing.set())
        try:
            self._workers = [self._start() for _ in range(self._count)]
            for place, worker in enumerate(self._workers):
                for text in self._answering(worker):
                    if place == 0:
                        self._say(text)
            self._listen()
            self._say(f"{self._count} processes answer; SIGHUP renews them")
            while not self._stopping.is_set():
                wait([worker.process.sentinel for worker in self._workers], LOOK_SECONDS)
                self._replace_dead()
                if self._renewing.is_set():
                    self._renewing.clear()
                    self._renew()
        finally:
            self._end(self._workers)

    def _start(self) -> Worker:
        words, their_words = self._context.Pipe(duplex=False)
        their_leash, leash = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=_work,
            args=(self._config, self._chosen, self._listener, self._buckets, their_words, their_leash),
            daemon=True,
        )
        process.start()
        their_words.close()
        their_leash.close()
        return Worker(process, words, leash, time.monotonic())

    def _answering(self, worker: Worker) -> list[str]:
        """Wait until a process answers; return what it has to say."""
        deadline = time.monotonic() + START_SECONDS
        while not self._stopping.is_set():
            try:
                if worker.words.poll(LOOK_SECONDS):
                    texts: list[str] = worker.words.recv()
                    return texts
            except EOFError:
                worker.process.join(LOOK_SECONDS)
                raise StoreError(f"a process ended with code {worker.process.exitcode}: see the log") from None
            if time.monotonic() > deadline:
                raise StoreError(f"a process did not answer within {START_SECONDS} s: see the log")
        return []

    def _listen(self) -> None:
        # Each process took a backlog of one, so that none accepts all that wait: the socket is theirs together.
        self._listener.listen(BACKLOG)

    def _replace_dead(self) -> None:
        for place, worker in enumerate(self._workers):
            if worker.process.is_alive() or self._stopping.is_set():
                continue
            lived = time.monotonic() - worker.began
            self._pause = 0.0 if lived > SETTLED_SECONDS else min(LONGEST_PAUSE_SECONDS, max(0.5, 2 * self._pause))
            self._say(f"a process ended with code {worker.process.exitcode}: another one takes its place")
            self._bury(worker)
            self._stopping.wait(self._pause)
            self._workers[place] = self._start()
            try:
                self._answering(self._workers[place])
            except StoreError as error:
                self._say(str(error))
            self._listen()

    def _renew(self) -> None:
        """Replace each process by a new one that answers already; the old one finishes what it has begun."""
        for place, old in enumerate(self._workers):
            new = self._start()
            try:
                self._answering(new)
            except StoreError as error:
                self._say(f"{error}; the other processes go on")
                self._end([new])
                return
            self._listen()
            self._workers[place] = new
            self._end([old])
        self._say(f"{self._count} processes were renewed")

    def _end(self, workers: list[Worker]) -> None:
        """End processes in order, and by force what does not end in time."""
        for worker in workers:
            if worker.process.is_alive():
                worker.process.terminate()
        deadline = time.monotonic() + self._chosen.get("drain", 0) + GRACE_SECONDS + 5
        for worker in workers:
            worker.process.join(max(0.1, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
            self._bury(worker)

    def _bury(self, worker: Worker) -> None:
        worker.process.join()
        worker.close()
        if worker.process.pid is not None:
            mark_process_dead(worker.process.pid)  # type: ignore[no-untyped-call]


def _work(
    config: Config,
    chosen: dict[str, Any],
    listener: socket.socket,
    buckets: SharedBuckets,
    words: Connection,
    leash: Connection,
) -> None:
    """Serve in this process until a signal comes, or until the supervisor is gone."""
    threading.Thread(target=_follow, args=(leash,), name="weftwork leash", daemon=True).start()
    set_up_logging(chosen.get("log", "text"))
    model = ModelSettings.from_mapping(config.model, os.environ)
    with open_configured(config) as weft:
        options = make_options(weft.store, config, chosen, model=None if model is None else ChatModel(model))
        run(weft, options, listener=listener, say=words.send, buckets=buckets, backlog=1)


def _follow(leash: Connection) -> None:
    try:
        leash.recv()
    except EOFError:
        os.kill(os.getpid(), signal.SIGTERM)
