"""Detects an index folder of another database file (recreated, or restored from a backup).

Such a file counts the same versions again for other content. So each commit has a random mark, and the index folder
records the latest commit that the indexes may contain. The first process that opens them looks that commit up; if the
database does not have it, the indexes are stale and are removed. A note of it stays for `weftwork doctor`: the database
has lost commits, with its write-ahead log or because an older copy was put in its place.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

Snapshot = AbstractContextManager[sqlite3.Connection]


class Origin:
    """The latest commit that the indexes of a folder may contain. Callers hold the folder's lock."""

    def __init__(self, folder: Path, workspace: int, read: Callable[[], Snapshot]) -> None:
        self._folder = folder
        self._file = folder / "origin"
        self._lost = folder / "lost"
        self._workspace = workspace
        self._read = read
        self.checked = False

    def check(self) -> None:
        """Remove the indexes unless they were built from this database."""
        version, mark = self._named()
        if mark is None or self._mark(version) != mark:
            if mark is not None and not self._lost.exists():
                self._lost.write_text(f"{version}\n", encoding="ascii")
            for path in self._folder.iterdir():
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
            self._file.unlink(missing_ok=True)
        self.checked = True

    def lost_commit(self) -> int | None:
        """The version of a commit that the indexes had and the database lacks, until the loss is accepted."""
        try:
            return int(self._lost.read_text(encoding="ascii"))
        except (OSError, ValueError):
            pass
        version, mark = self._named()
        return version if mark is not None and self._mark(version) != mark else None

    def accept_loss(self) -> None:
        """Forget that the indexes had commits that the database lacks."""
        if self.lost_commit() is not None:
            self.check()
            self._lost.unlink(missing_ok=True)

    def record_commit(self, version: int) -> None:
        """Record a commit before it is indexed: a crash leaves a record that is ahead, never behind."""
        mark = self._mark(version)
        if self._named()[0] < version and mark is not None:
            draft = self._file.with_suffix(".new")
            draft.write_text(f"{version} {mark}\n", encoding="ascii")
            os.replace(draft, self._file)

    def _named(self) -> tuple[int, str | None]:
        try:
            version, mark = self._file.read_text(encoding="ascii").split()
            return int(version), mark
        except (OSError, ValueError):
            return 0, None

    def _mark(self, version: int) -> str | None:
        with self._read() as connection:
            row = connection.execute(
                "SELECT mark FROM commits WHERE workspace = ? AND version = ?", (self._workspace, version)
            ).fetchone()
        return None if row is None else str(row[0])
