"""Files of nodes, such as the pictures of a document's pages, in a folder beside the store.

::

    notes.weft.files / 1 (the workspace) / 3f9a… (the node's id, hashed) / 1-77c0… (the version) / page-0001.jpg

A version is written under a name of its own first and moved into place whole, before the nodes that name its files
are committed; the version before it is removed after that. So whatever a node names exists, and a crash leaves at most
a folder that nothing names, which the next version or the removal of the node sweeps away.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b, file_digest
from pathlib import Path

from filelock import FileLock

from weftwork.errors import InvalidInput, NotFound, StoreError
from weftwork.types import NodeInfo

FILE_FIELDS = ("image_path", "thumbnail_path")
"""Fields of a node that name files: the picture of a page, and a small one."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_INCOMING = ".incoming-"


class Incoming:
    """The files of a version that is not published yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, data: bytes) -> None:
        """Write one file."""
        with _explained(self.folder):
            (self.folder / _safe(name)).write_bytes(data)


class Files:
    """The files of one workspace."""

    def __init__(self, store: Path, number: int) -> None:
        self._base = store.parent
        self._folder = store.with_name(store.name + ".files") / str(number)
        self._lock = FileLock(self._folder / "lock")

    def has(self, node: str, version: str) -> bool:
        """True if the files of a version of a node exist."""
        return (self._of(node) / _safe(version)).is_dir()

    def relative(self, node: str, version: str, name: str) -> str:
        """The path by which a node names one of its files, relative to the folder of the store."""
        return (self._of(node) / _safe(version) / _safe(name)).relative_to(self._base).as_posix()

    def path(self, node: NodeInfo, field: str) -> Path:
        """The path of the file that a field names; only files of the node or of its parent are found."""
        named = node.fields.get(field)
        owners = [self._of(owner).resolve() for owner in (node.id, node.parent) if owner is not None]
        if isinstance(named, str) and "\0" not in named:
            path = (self._base / named).resolve()
            if any(path.parent.parent == owner for owner in owners) and path.is_file():
                return path
        raise NotFound(f"node {node.id!r} has no file {field!r}: add its document again")

    @contextmanager
    def incoming(self, node: str) -> Iterator[Incoming]:
        """A folder for the files of a new version; removed at the end of the block unless published."""
        folder = self._of(node) / f"{_INCOMING}{os.getpid()}-{os.urandom(4).hex()}"
        with _explained(folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(parents=True)
        try:
            yield Incoming(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # another version is there
                self._of(node).rmdir()

    @contextmanager
    def published(
        self, node: str, version: str, incoming: Incoming, committed: Callable[[], bool] = lambda: False
    ) -> Iterator[None]:
        """Publish a version around a block that commits the node; undone if the block raises before it has committed.

        Ctrl-C may raise right after the commit. Removal of files waits for the block, so that it sees either no node
        and no files, or both.
        """
        place = self._of(node) / _safe(version)
        with self._lock:
            fresh = not place.exists()
            with _explained(place):
                if not fresh:
                    shutil.rmtree(place)
                incoming.folder.rename(place)
            try:
                yield
            except BaseException:
                if fresh and not committed():
                    shutil.rmtree(place, ignore_errors=True)
                raise
            for other in self._of(node).iterdir():
                if other != place and not other.name.startswith(f"{_INCOMING}{os.getpid()}-"):
                    shutil.rmtree(other, ignore_errors=True)

    def forget(self, nodes: Iterable[str], existing: Iterable[str]) -> None:
        """Remove the files of removed nodes, unless they exist again (`existing`)."""
        doomed = [self._of(node) for node in set(nodes) - set(existing)]
        for folder in doomed:
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Lock out publishers in other threads and processes; re-entrant."""
        with self._lock:
            yield

    @property
    def prefix(self) -> str:
        """The common prefix of the paths by which nodes name their files."""
        return f"{self._folder.relative_to(self._base).as_posix()}/"

    def digests(self) -> list[tuple[str, str]]:
        """Yield the published files as (path after the prefix, hash of content)."""
        return [(name, _digest(self._folder / name)) for name in self._names()]

    def copy(self, other: Files) -> None:
        """Copy the files of another workspace; identical ones are skipped."""
        for name in other._names():
            source, place = other._folder / name, self._folder / name
            if place.is_file() and _digest(place) == _digest(source):
                continue
            with _explained(place):
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                place.parent.mkdir(parents=True, exist_ok=True)
                draft = place.with_name(f"{_INCOMING}{place.name}")
                shutil.copyfile(source, draft)
                draft.replace(place)

    def _names(self) -> list[str]:
        """Paths of all published files: node/version/name."""
        paths = (path.relative_to(self._folder) for path in self._folder.glob("*/*/*") if path.is_file())
        return sorted(path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts))

    def clear(self) -> None:
        """Remove all of them."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def any(self) -> bool:
        """True if the workspace has ever had files."""
        return self._folder.is_dir()

    def _of(self, node: str) -> Path:
        return self._folder / blake2b(node.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _safe(name: str) -> str:
    """The name, after a check that it cannot lead out of its folder."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} cannot be the name of a file: use small letters, digits, '.', '-' and '_'")
    return name


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror}): check the folder and its disk") from error
