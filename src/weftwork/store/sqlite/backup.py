"""Copies of a store that is in use: made, checked, and put back.

::

    2026-03-16 / notes.weft          the database, with keys and jobs, as one file without a write-ahead log
               / notes.weft.files/   files of nodes, as beside the store
               / backup.json         counts and checksums, by which the copy is verified

A copy is made under another name and renamed when it is whole, so that an interruption leaves no backup that looks like
one. Its folder is a store that can be opened as it is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from filecmp import cmp
from hashlib import file_digest
from pathlib import Path
from typing import Any

from weftwork.errors import InvalidInput, NotFound, StoreError
from weftwork.store.files import FILE_FIELDS, Files
from weftwork.store.sql.codec import dump_fields
from weftwork.store.sqlite.checks import missing_files, problems_of

MANIFEST = "backup.json"
FORMAT = 1
PAGES_AT_ONCE = 2_000
"""Pages of the database that are copied before writers get a turn."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
COUNTED = ("nodes", "passages", "edges", "users")


@dataclass(frozen=True, slots=True)
class Backup:
    """Contents of a backup."""

    store: str
    made_at: str
    sha256: str
    """Of the database."""
    counts: dict[str, dict[str, int]]
    """Rows of each kind, by workspace."""
    files: dict[str, str]
    """SHA-256 of each file of a node, by its path."""


def back_up(store: Path, target: Path, now: datetime, *, base: Path | None = None) -> Backup:
    """Copy a store that may be in use into a new folder, and verify the copy.

    Files of nodes that are in an earlier backup as they are get a hard link to it instead of a copy.
    """
    if not store.is_file():
        raise NotFound(f"{store} does not exist: name the store with  --store")
    if target.exists():
        raise InvalidInput(f"{target} exists already: name another folder")
    with _incoming(target) as folder:
        copy = folder / store.name
        _create_private(copy)
        with _publishers_waiting(store), _reading(store) as source:
            with closing(sqlite3.connect(copy)) as connection:
                source.backup(connection, pages=PAGES_AT_ONCE)
                connection.execute("PRAGMA journal_mode = DELETE")
            _copy_folder(_files_of(store), _files_of(copy), None if base is None else _files_of(base / store.name))
        made = Backup(store.name, now.isoformat(), _sha256(copy), _counts(copy), _file_digests(copy))
        manifest = folder / MANIFEST
        _create_private(manifest)
        manifest.write_text(json.dumps({"format": FORMAT, **asdict(made)}, indent=1, sort_keys=True), encoding="utf-8")
        problems = verify(folder)
        if problems:
            raise StoreError(f"the copy of {store} is not whole ({problems[0]}): run  weftwork doctor  and try again")
        _sync(folder)
        folder.rename(target)
    return made


def back_up_into(folder: Path, store: Path, now: datetime, *, keep: int) -> tuple[Path, Backup, list[Path]]:
    """Add a backup named by its moment to a folder of them, and remove the oldest over `keep`."""
    earlier = sorted(path for path in folder.glob("*") if _MOMENT.fullmatch(path.name) and (path / MANIFEST).is_file())
    target = folder / now.strftime("%Y-%m-%dT%H-%M-%SZ")
    made = back_up(store, target, now, base=earlier[-1] if earlier else None)
    over = [*earlier, target][:-keep]
    for path in over:
        shutil.rmtree(path)
    return target, made, over


def read_manifest(backup: Path) -> Backup:
    """Read the manifest of a backup."""
    try:
        values: dict[str, Any] = json.loads((backup / MANIFEST).read_text(encoding="utf-8"))
        if values.pop("format") != FORMAT:
            raise StoreError(f"{backup} was made by a newer version of Weftwork: upgrade with  pip install -U weftwork")
        made = Backup(**values)
        if made.store in ("", "..") or Path(made.store).name != made.store or (backup / made.store).is_symlink():
            raise StoreError(f"{backup} names a store that is not in it ({made.store!r}): use another backup")
        return made
    except FileNotFoundError as error:
        raise NotFound(f"{backup} is no backup: name a folder that  weftwork backup  made") from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{backup / MANIFEST} cannot be read ({error}): use another backup") from error


def verify(backup: Path) -> list[str]:
    """Problems of a backup; none if it is whole, as it was made, and sound."""
    made = read_manifest(backup)
    store = backup / made.store
    if not store.is_file():
        return [f"{made.store} is missing"]
    if _sha256(store) != made.sha256:
        return [f"{made.store} is not what it was when the backup was made"]
    problems = []
    present = _file_digests(store)
    problems += [f"{path.relative_to(backup)} leads out of the backup" for path in _links(_files_of(store))]
    problems += [f"the file {name} is missing" for name in sorted(made.files.keys() - present.keys())]
    problems += [
        f"the file {name} is not what it was when the backup was made"
        for name in sorted(made.files.keys() & present.keys())
        if made.files[name] != present[name]
    ]
    with _reading(store, immutable=True) as connection:
        problems += problems_of(connection)
        problems += [
            f"node {node!r} names the file {name}, which is missing" for node, name in missing_files(connection, store)
        ]
    counts = _counts(store)
    return problems if counts == made.counts else [*problems, f"it holds {counts} where it held {made.counts}"]


def restore(backup: Path, store: Path) -> Backup:
    """Put a backup where a store is to be; refuse if one is there, or if the backup is not whole."""
    made = read_manifest(backup)
    for path in (store, _files_of(store), store.with_name(f"{store.name}-wal")):
        if path.exists():
            raise InvalidInput(f"{path} exists already: move it away, or restore to another path")
    problems = verify(backup)
    if problems:
        raise StoreError(f"{backup} cannot be restored ({problems[0]}): use another backup")
    store.parent.mkdir(parents=True, exist_ok=True)
    with _incoming(store) as folder:
        copy = folder / store.name
        shutil.copyfile(backup / made.store, copy)
        copy.chmod(0o600)
        _copy_folder(_files_of(backup / made.store), _files_of(copy))
        _rename_files(copy, made.store)
        _sync(folder)
        # Indexes of the store that was here before would be found to be of other commits.
        shutil.rmtree(store.with_name(f"{store.name}.index"), ignore_errors=True)
        if _files_of(copy).exists():
            _files_of(copy).rename(_files_of(store))
        copy.rename(store)  # last: a store that is there is whole
    return made


@contextmanager
def _incoming(target: Path) -> Iterator[Path]:
    """A private folder beside the target, which is removed at the end unless it was renamed."""
    folder = target.with_name(f".{target.name}.incoming-{os.getpid()}")
    try:
        folder.mkdir(mode=0o700, parents=True)
        yield folder
    except OSError as error:
        raise StoreError(f"{target} cannot be written ({error.strerror}): check the folder and its disk") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _publishers_waiting(store: Path) -> Iterator[None]:
    """Hold the locks of files, so that none goes between the copy of the database and theirs."""
    with ExitStack() as stack:
        for folder in sorted(_files_of(store).glob("[0-9]*")):
            stack.enter_context(Files(store, int(folder.name)).exclusively())
        yield


@contextmanager
def _reading(store: Path, *, immutable: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection that writes nothing; `immutable` is for a file that nobody has open."""
    mode = "mode=ro&immutable=1" if immutable else "mode=ro"
    with closing(sqlite3.connect(f"{store.resolve().as_uri()}?{mode}", uri=True)) as connection:
        try:
            yield connection
        except sqlite3.Error as error:
            raise StoreError(f"{store} cannot be read ({error}): run  weftwork doctor") from error


def _counts(store: Path) -> dict[str, dict[str, int]]:
    with _reading(store, immutable=True) as connection:
        names = connection.execute("SELECT id, name FROM workspaces ORDER BY name").fetchall()
        edges = "SELECT COUNT(*) FROM edges e JOIN nodes n ON n.pk = e.source WHERE n.workspace = ?"
        passages = "SELECT COUNT(*) FROM passages p JOIN nodes n ON n.pk = p.node WHERE n.workspace = ?"
        own = "SELECT COUNT(*) FROM {} WHERE workspace = ?"
        queries = {"edges": edges, "passages": passages}
        return {
            name: {
                kind: connection.execute(queries.get(kind, own.format(kind)), (number,)).fetchone()[0]
                for kind in COUNTED
            }
            for number, name in names
        }


def _rename_files(copy: Path, old: str) -> None:
    """Make nodes name their files beside a store of another name."""
    if copy.name == old:
        return
    with closing(sqlite3.connect(copy)) as connection, connection:
        rows = connection.execute("SELECT pk, fields FROM nodes WHERE fields LIKE ?", (f"%{old}.files/%",)).fetchall()
        for pk, text in rows:
            fields = json.loads(text)
            for name in FILE_FIELDS:
                named = fields.get(name)
                if isinstance(named, str) and named.startswith(f"{old}.files/"):
                    fields[name] = f"{copy.name}.files/{named.removeprefix(f'{old}.files/')}"
            connection.execute("UPDATE nodes SET fields = ?, digest = '' WHERE pk = ?", (dump_fields(fields), pk))
            for name in FILE_FIELDS:
                connection.execute(
                    "UPDATE fields SET value = REPLACE(value, ?, ?) WHERE node = ? AND name = ?",
                    (f"{old}.files/".lower(), f"{copy.name}.files/".lower(), pk, name),
                )


def _files_of(store: Path) -> Path:
    return store.with_name(f"{store.name}.files")


def _copy_folder(source: Path, target: Path, base: Path | None = None) -> None:
    """Copy published files, or link them to those of `base`; locks and what is incomplete stay."""
    for path in sorted(source.glob("*/*/*/*")):
        relative = path.relative_to(source)
        if path.is_symlink() or not path.is_file() or any(part.startswith(".") for part in relative.parts):
            continue
        place = target / relative
        (target / relative.parts[0]).mkdir(mode=0o700, parents=True, exist_ok=True)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if base is not None and (base / relative).is_file() and cmp(path, base / relative, shallow=False):
            os.link(base / relative, place)
            continue
        shutil.copyfile(path, place)
        place.chmod(0o600)


def _links(folder: Path) -> list[Path]:
    """Links, which no backup has: what they lead to would be copied, and handed out to readers of the store."""
    return [path for path in (folder, *sorted(folder.rglob("*"))) if path.is_symlink()]


def _file_digests(store: Path) -> dict[str, str]:
    folder = _files_of(store)
    return {path.relative_to(folder).as_posix(): _sha256(path) for path in sorted(folder.glob("*/*/*/*"))}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _create_private(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _sync(folder: Path) -> None:
    """Have the disk keep everything in a folder before it gets its name."""
    for path in [*folder.rglob("*"), folder]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
