"""Watching a folder or a file: signals when a burst of changes is over.

A signal says only that something changed: the import compares the whole path, so that no change is missed, whichever
events an editor causes or a file system drops.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Event
from typing import Any

QUIET = 0.1
"""Seconds without another change after which a burst is over."""
LONGEST = 0.5
"""Seconds after which an ongoing burst is reported nevertheless."""
POLL = 0.4
"""Seconds between two looks where the system does not tell of changes."""


def changes(path: Path, ignored: Collection[Path] = (), *, stop: Event, polling: bool = False) -> Iterator[None]:
    """Yield once as soon as the path is watched, then after each burst of changes, until `stop` is set.

    `ignored` are files, such as the store's own: any path that begins with one of them is ignored.
    """
    relevant = _Relevant(path, ignored)
    watching = None if polling else _notifications()
    yield from _polled(relevant, stop) if watching is None else _notified(watching, relevant, stop)


class _Relevant:
    """The filter of changes: those of the path, without hidden and ignored files."""

    def __init__(self, path: Path, ignored: Collection[Path]) -> None:
        self.path = Path(os.path.realpath(path))
        self.is_folder = path.is_dir()
        # A file that is written by renaming another one is a new file: only its folder knows.
        self.folder = self.path if self.is_folder else self.path.parent
        self._ignored = tuple(os.path.realpath(file) for file in ignored)

    def __call__(self, change: object, name: str) -> bool:
        if not self.is_folder:
            return name == str(self.path)
        inner = os.path.relpath(name, self.folder)
        return not any(part.startswith(".") for part in inner.split(os.sep) if part != ".") and not name.startswith(
            self._ignored
        )


def _notifications() -> Callable[..., Generator[Any, None, None]] | None:
    """The watcher of the optional package; None if it is not installed."""
    try:
        from watchfiles import watch  # noqa: PLC0415 (an optional extra)
    except ImportError:
        return None
    return watch


def _notified(watching: Callable[..., Generator[Any, None, None]], relevant: _Relevant, stop: Event) -> Iterator[None]:
    while not stop.is_set():
        watched = _inode(relevant.folder)
        events = watching(
            relevant.folder, watch_filter=relevant, debounce=int(LONGEST * 1000), step=int(QUIET * 1000),
            stop_event=stop, rust_timeout=200, yield_on_timeout=True, raise_interrupt=True,
            recursive=relevant.is_folder, ignore_permission_denied=True,
        )  # fmt: skip
        with suppress(FileNotFoundError), closing(events):  # it may be gone again before it is watched
            next(events, None)  # from here on the system keeps what happens until it is asked
            yield
            for changed in events:
                if _inode(relevant.folder) != watched:  # a moved or replaced folder sends no events any more
                    break
                if changed:
                    yield
        if not stop.is_set() and _inode(relevant.folder) is None:
            yield
            while _inode(relevant.folder) is None and not stop.wait(POLL):
                pass


def _inode(folder: Path) -> tuple[int, int] | None:
    """The device and inode of a folder; None if it does not exist."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _polled(relevant: _Relevant, stop: Event) -> Iterator[None]:
    last = _state(relevant)
    yield
    while not stop.wait(POLL):
        now = _state(relevant)
        if now == last:
            continue
        while not stop.wait(QUIET) and (later := _state(relevant)) != now:
            now = later
        last = now
        yield


def _state(relevant: _Relevant) -> dict[str, tuple[int, int, int]]:
    """Modification time, size and inode of each file."""
    states: dict[str, tuple[int, int, int]] = {}
    for place, folders, files in os.walk(relevant.folder):
        folders[:] = [name for name in folders if relevant.is_folder and relevant(None, os.path.join(place, name))]
        for name in (os.path.join(place, name) for name in files):
            if relevant(None, name):
                try:
                    status = os.stat(name)
                except OSError:
                    continue
                states[name] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return states
