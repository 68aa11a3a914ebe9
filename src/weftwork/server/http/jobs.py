"""Documents that are indexed while nobody waits.

An upload is written to a folder of its own, noted as a job in the store, and read by a worker thread through the same
ingest as `weftwork add`. What was not finished when a server stopped, in order or not, is begun again by the next one:
a document is added wholly or not at all, so nothing is there twice.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from typing import get_args

from filelock import FileLock, Timeout

from weftwork.engine import Weft
from weftwork.errors import InvalidInput, NotFound, StoreError
from weftwork.ingest import load
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.load import Report
from weftwork.ingest.uploads import Upload, admitted, node_of, read_upload, upload_name
from weftwork.server.http.logs import log_failure
from weftwork.server.http.options import Options
from weftwork.server.http.problems import HIDDEN, Problem
from weftwork.server.http.uploads import Incoming, UploadFolder
from weftwork.store.server_state import UNFINISHED, Job, JobState

SECONDS_BETWEEN_NOTES = 1.0
"""Seconds between writes of a job's progress to the store; those who follow it hear of each page."""
SECONDS_BETWEEN_KNOCKS, KNOCKS = 0.2, 50
"""Seconds to wait for a worker before its parser, which it may just have started, is ended once more."""
MOST_TOLD = 50
"""Parts of a document of which it is told why they were left out."""


class _Stop(Exception):
    """The server stops: the job is for the next one."""


class _Cancelled(Exception):
    """Nobody wants the job any more."""


class Jobs:
    """Takes uploads, works on them one after the other, and tells how far they are. Thread-safe."""

    def __init__(self, weft: Weft, options: Options, *, on_end: Callable[[JobState], None]) -> None:
        self._weft = weft
        self._options = options
        self._on_end = on_end
        self.folder = UploadFolder(weft.store, options)
        self.stopping = False
        self._live: dict[str, Job] = {}
        self._waiting: deque[str] = deque()
        self._turn = itertools.count(1)
        self._turns: dict[str, int] = {}
        """The last turn of each user: nobody's documents keep all others waiting."""
        self._unwanted: set[str] = set()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._parsers: dict[str, Parser] = {}
        """The parser of each document that is being worked on."""

    def start(self) -> None:
        """Take up what an earlier server left, and begin to work."""
        for job in self._weft.store.jobs.in_states(UNFINISHED):
            if self.folder.has(job):
                self._live[job.id] = replace(job, state="queued")
                self._waiting.append(job.id)
            elif self.folder.is_for(job):
                self.keep(_failed(job, "its upload is gone: upload it again"))
        self.folder.sweep(set(self._live))
        for number in range(self._options.workers):
            thread = threading.Thread(target=self._work, name=f"weftwork job {number + 1}", daemon=True)
            self._threads.append(thread)
            thread.start()

    @property
    def unfinished(self) -> int:
        """The number of jobs that wait or are worked on here."""
        return len(self._live)

    def stop(self) -> None:
        """Let go of what is being worked on, so that it can be taken up again, and wait for that."""
        self.stop_soon()
        with self._changed:
            self._changed.notify_all()
        while any(thread.is_alive() for thread in self._threads):
            with self._changed:
                for name in self._parsers:
                    self._interrupt(name)
            for thread in self._threads:
                thread.join(SECONDS_BETWEEN_KNOCKS)

    def stop_soon(self) -> None:
        """Begin nothing more; without a lock, since a signal's handler calls it."""
        self.stopping = True

    def submit(
        self, incoming: Incoming, *, workspace: str, user: str, name: str, access: frozenset[str] | None = None
    ) -> Job:
        """Have an upload indexed; the same one again while it waits or is worked on is the same job."""
        now = self._weft.now()
        upload = Upload(name=upload_name(name), user=user, access=access, at=now)
        details = {
            "name": upload.name,
            "node": node_of(upload),
            "bytes": incoming.size,
            "access": None if access is None else sorted(access),
            "folder": self.folder.mark,
            "done": 0,
            "expected": None,
        }
        parts = (workspace, user, upload.name, incoming.digest, repr(details["access"]))
        number = blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()
        job = Job(id=f"job-{number}", workspace=workspace, user=user, state="queued", created_at=now, updated_at=now,
                  details=details)  # fmt: skip
        incoming.finish()
        with self._changed:
            present = self._live.get(job.id)
            if present is not None:
                return present
            self._refuse_many(workspace)
            self.folder.take(incoming, job)
            self._weft.store.jobs.put(job)
            self._live[job.id] = job
            self._waiting.append(job.id)
            self._changed.notify_all()
        return job

    def get(self, name: str, *, workspace: str, user: str) -> Job:
        """A job of this user in this workspace; another's is reported like one that does not exist."""
        with self._changed:
            job = self._live.get(name)
        job = job or self._weft.store.jobs.get(name)
        if job is None or (job.workspace, job.user) != (workspace, user):
            raise NotFound(f"there is no job {name!r}: it may have ended long ago")
        return job

    def list(self, *, workspace: str, user: str | None) -> list[Job]:
        """The jobs of a user in a workspace, or of everybody, the latest first."""
        with self._changed:
            live = dict(self._live)
        known = {job.id: job for job in self._weft.store.jobs.in_states(get_args(JobState))} | live
        own = [job for job in known.values() if job.workspace == workspace and user in (None, job.user)]
        return sorted(own, key=lambda job: (job.created_at, job.id), reverse=True)

    def cancel(self, name: str, *, workspace: str, user: str) -> Job:
        """End a job; nothing of its document is kept. One that has ended stays as it is."""
        job = self.get(name, workspace=workspace, user=user)
        with self._changed:
            if name not in self._live and job.state in UNFINISHED:
                # Another process works on it: it reads this with its next note.
                ended = replace(job, state="cancelled", updated_at=self._weft.now())
                self.keep(ended)
                return ended
            if name in self._waiting:
                self._waiting.remove(name)
                ended = self._end(replace(self._live[name], state="cancelled"))
                self._forget(ended)
                return ended
            if name in self._live:
                self._unwanted.add(name)
            for _ in range(KNOCKS):
                self._interrupt(name)
                if self._changed.wait_for(lambda: name not in self._live, timeout=SECONDS_BETWEEN_KNOCKS):
                    break
        return self.get(name, workspace=workspace, user=user)

    def _interrupt(self, name: str) -> None:
        """End what reads a document: it may be at a page that takes minutes. The lock is held."""
        if name in self._parsers:
            self._parsers[name].close()

    def _refuse_many(self, workspace: str) -> None:
        if sum(job.workspace == workspace for job in self._live.values()) >= self._options.limits.waiting_jobs:
            raise Problem(429, "too many documents are waiting: try again later", headers={"Retry-After": "30"})

    def _work(self) -> None:
        with Parser() as parser:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self.stopping or bool(self._waiting))
                    if self.stopping:
                        return
                    job = self._next()
                self._run(job, parser)

    def _next(self) -> Job:
        """Take the next job: the oldest one of the user who has waited longest for a turn. The lock is held."""
        name = min(self._waiting, key=lambda name: self._turns.get(self._live[name].user, 0))
        self._waiting.remove(name)
        job = self._live[name]
        self._turns[job.user] = next(self._turn)
        return job

    def _run(self, job: Job, parser: Parser) -> None:
        """Work on a job until it ends, or until the server stops; another server's on this folder is left to it."""
        ended = job
        try:
            with FileLock(self.folder.lock(job), timeout=0):
                current = self._weft.store.jobs.get(job.id)
                if current is not None and current.state in UNFINISHED:
                    ended = self._conclude(job, parser)
        except _Stop:
            with suppress(StoreError):
                self.keep(replace(self._live[job.id], state="queued"))
            return
        except Timeout:
            pass
        except Exception as error:
            # The outermost handler of this thread: another job must not wait for ever because of this one.
            log_failure(error)
        # Once only, and after the lock of its file is free: from here on, the same upload is a new job of this name.
        with self._changed:
            self._forget(ended)

    def _conclude(self, job: Job, parser: Parser) -> Job:
        """Work on a job and note how it ended, while no other server may look at it."""
        try:
            ended = self._index(job, parser)
        except Exception as error:
            if self.stopping:  # its parser may have been ended under its hands
                raise _Stop from error
            log_failure(error)
            ended = replace(job, state="cancelled") if job.id in self._unwanted else _failed(job, HIDDEN)
        return self._end(ended)

    def _index(self, job: Job, parser: Parser) -> Job:
        watch = _Progress(self, replace(job, state="running"))
        with self._changed:
            self._parsers[job.id] = parser
        try:
            watch.begin()
            upload = _upload(job)
            with admitted(self._weft, upload, job.workspace):
                pieces = read_upload(self.folder.file(job), upload, parser)
                report = load(self._weft, pieces, workspace=job.workspace, progress=watch.read, expected=watch.expect)
                if report.skipped and not report.read:
                    self.note(watch.job)  # because its parser was ended, if it is not to go on
                    raise InvalidInput(f"{upload.name} {report.skipped[0].why}")
        except _Cancelled:
            return replace(watch.job, state="cancelled")
        except (InvalidInput, NotFound) as error:
            return _failed(watch.job, str(error))
        finally:
            with self._changed:  # the next document is none that somebody may be about to interrupt
                del self._parsers[job.id]
        return _done(watch.job, report)

    def note(self, job: Job) -> None:
        """Tell those who watch how far a job is; raises where it is not to go on."""
        with self._changed:
            if self.stopping:
                raise _Stop
            if job.id in self._unwanted:
                raise _Cancelled
            self._live[job.id] = job

    def now(self) -> datetime:
        """The time by the engine's clock."""
        return self._weft.now()

    def keep(self, job: Job) -> None:
        """Write down how far a job is."""
        with suppress(NotFound):  # its workspace was dropped meanwhile
            self._weft.store.jobs.put(job)

    def keep_on(self, job: Job) -> None:
        """Write down how far a job is, unless another process was told to end it."""
        stored = self._weft.store.jobs.get(job.id)
        if stored is not None and stored.state == "cancelled":
            raise _Cancelled
        self.keep(job)

    def _end(self, job: Job) -> Job:
        """Note how a job ended, and remove its upload."""
        job = replace(job, updated_at=self._weft.now())
        try:
            self.keep(job)
        except StoreError as error:
            log_failure(error)
        self.folder.remove(job)
        return job

    def _forget(self, job: Job) -> None:
        """Let go of a job that has ended, or that another server works on. The lock is held."""
        self._live.pop(job.id, None)
        self._unwanted.discard(job.id)
        self._changed.notify_all()
        if job.state not in UNFINISHED:
            self._on_end(job.state)


class _Progress:
    """Counts what was read of one document."""

    def __init__(self, jobs: Jobs, job: Job) -> None:
        self._jobs = jobs
        self.job = job
        self._kept_at: datetime | None = None

    def begin(self) -> None:
        """The document is being worked on."""
        self._tell(done=0)

    def read(self, count: int) -> None:
        """So many more pages were read."""
        self._tell(done=self.job.details["done"] + count)

    def expect(self, count: int) -> None:
        """The document has so many pages."""
        self._tell(expected=count)

    def _tell(self, **details: int) -> None:
        now = self._jobs.now()
        self.job = replace(self.job, updated_at=now, details={**self.job.details, **details})
        self._jobs.note(self.job)
        if self._kept_at is None or (now - self._kept_at).total_seconds() >= SECONDS_BETWEEN_NOTES:
            self._kept_at = now
            self._jobs.keep_on(self.job)


def _upload(job: Job) -> Upload:
    access = job.details["access"]
    return Upload(
        name=job.details["name"],
        user=job.user,
        at=job.created_at,
        access=None if access is None else frozenset(access),
    )


def _failed(job: Job, why: str) -> Job:
    return replace(job, state="failed", details={**job.details, "why": why})


def _done(job: Job, report: Report) -> Job:
    told = {"read": report.read, "changed": report.changed, "notes": [each.why for each in report.notes[:MOST_TOLD]]}
    return replace(job, state="done", details={**job.details, **told})
