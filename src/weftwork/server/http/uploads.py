"""The folder in which uploads wait: one file for each job, gone when it ends."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from weftwork.errors import InvalidInput
from weftwork.server.http.options import Options
from weftwork.server.http.problems import Problem
from weftwork.store.protocol import Store
from weftwork.store.server_state import Job

_ARRIVING = ".arriving-"
_SUFFIX = re.compile(r"\.[a-z0-9]{1,10}")
STALE_SECONDS = 24 * 3600
"""Age at which a file that no job names is no upload in progress any more."""


class Incoming:
    """An upload while it arrives."""

    def __init__(self, path: Path, file: BinaryIO, most: int) -> None:
        self.path = path
        self.size = 0
        self._file = file
        self._most = most
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Take the next part; raises 413 when it is too much."""
        self.size += len(data)
        if self.size > self._most:
            raise Problem(413, f"the document is larger than {self._most:,} bytes: split it")
        self._digest.update(data)
        self._file.write(data)

    @property
    def digest(self) -> str:
        """The hash of the content."""
        return self._digest.hexdigest()

    def finish(self) -> None:
        """Have it on disk."""
        if not self.size:
            raise InvalidInput("the document is empty: choose another file")
        self._file.flush()
        os.fsync(self._file.fileno())


class UploadFolder:
    """The uploads of one server. Readable by its own account only."""

    def __init__(self, store: Store, options: Options) -> None:
        self._folder = (options.uploads or beside(store)).absolute()
        self._most = options.limits.upload_bytes
        self.mark = str(self._folder)
        """Tells the uploads of this server from those of another one on the same store."""

    @contextmanager
    def arriving(self) -> Iterator[Incoming]:
        """Room for an upload; what is not taken when the block ends is gone."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{_ARRIVING}{os.getpid()}-{secrets.token_hex(6)}"
        try:
            with path.open("xb") as file:
                yield Incoming(path, file, self._most)
        finally:
            path.unlink(missing_ok=True)

    def take(self, incoming: Incoming, job: Job) -> None:
        """Put an upload in its job's place."""
        incoming.path.replace(self.file(job))

    def has(self, job: Job) -> bool:
        """Return whether a job's upload is here."""
        return self.is_for(job) and self.file(job).is_file()

    def is_for(self, job: Job) -> bool:
        """Return whether a job's upload came to this folder."""
        return bool(job.details.get("folder") == self.mark)

    def file(self, job: Job) -> Path:
        """The path of a job's upload; its suffix selects the parser."""
        suffix = Path(str(job.details["name"])).suffix.lower()
        return self._folder / (job.id + (suffix if _SUFFIX.fullmatch(suffix) else ""))

    def lock(self, job: Job) -> Path:
        """The file that whoever works on a job holds locked."""
        return self._folder / f"{job.id}.lock"

    def remove(self, job: Job) -> None:
        """Forget a job's upload."""
        for path in (self.file(job), self.lock(job)):
            path.unlink(missing_ok=True)

    def sweep(self, jobs: set[str]) -> None:
        """Remove what a crash left behind: uploads that no job names, and parts that never became one."""
        if not self._folder.is_dir():
            return
        oldest = time.time() - STALE_SECONDS
        for path in self._folder.iterdir():
            named = path.name.partition(".")[0] in jobs
            with suppress(OSError):
                if not named and path.stat().st_mtime < oldest:
                    path.unlink()


def beside(store: Store) -> Path:
    """The folder for uploads where none is named: beside the store's file, if it has one."""
    path = getattr(store, "path", None)
    return path.with_name(path.name + ".uploads") if isinstance(path, Path) else Path("weftwork-uploads")
