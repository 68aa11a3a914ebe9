"""The vector index on disk: whole generations, and one small file that says which of them counts.

A generation is written and synced before `CURRENT` names it, and `CURRENT` is replaced in one step:
a crash at any moment leaves the generation before it, or the new one.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from weftwork.store.index.columns import COLUMN_TYPES, Columns
from weftwork.store.index.labels import Vocabulary
from weftwork.store.index.merge import Merged
from weftwork.store.index.rows import IndexDamaged
from weftwork.store.index.scan import word_count
from weftwork.store.index.segments import Segment

FORMAT = 3
CHECKED = 64_000_000
"""The size up to which a file's checksum is verified when it is opened."""
CURRENT = "CURRENT"
LABELS = "labels.json"
VECTORS = "vectors.f32"
CODES = "codes.u64"
BY_NODE = "by_node.i64"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of `CURRENT`, from which the sizes of all files follow."""

    generation: int
    model: str
    dimensions: int
    seq: int
    rows: int
    checksums: dict[str, int]
    """Of each file, by its name."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A stored state of the index, mapped into memory."""

    seq: int
    segment: Segment
    vocabulary: Vocabulary


def load(folder: Path, model: str, dimensions: int) -> Generation | None:
    """The current generation, if there is one for this model and format."""
    while (manifest := _read_manifest(folder)) is not None:
        if (manifest.model, manifest.dimensions) != (model, dimensions):
            return None
        try:
            return _open(folder / f"g{manifest.generation}", manifest)
        except (OSError, IndexDamaged) as error:
            # Another process may have replaced the generation after its name was read.
            if _read_manifest(folder) == manifest:
                raise IndexDamaged(f"vector index in {folder}: {error}") from error
    return None


def store(folder: Path, merged: Merged, *, model: str, dimensions: int, seq: int) -> Generation:
    """Write a new generation, make it the current one and remove all others; one process at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    number = max(_numbers(folder), default=0) + 1
    home = folder / f"g{number}"
    home.mkdir()
    try:
        checksums = _write_files(home, merged)
    except OSError:
        shutil.rmtree(home, ignore_errors=True)
        raise
    manifest = Manifest(number, model, dimensions, seq, len(merged), checksums)
    _write_manifest(folder, manifest)
    for other in _numbers(folder) - {number}:
        shutil.rmtree(folder / f"g{other}", ignore_errors=True)
    return _open(home, manifest)


def _write_files(home: Path, merged: Merged) -> dict[str, int]:
    """Write all files of a generation; the checksum of each."""
    blocks: dict[str, Iterable[bytes | memoryview]] = {
        LABELS: [merged.vocabulary.to_json().encode()],
        **{_file_name(name): [getattr(merged.columns, name).data] for name in COLUMN_TYPES},
        BY_NODE: [merged.by_node.data],
        CODES: [word.data for word in merged.codes],
        VECTORS: (block.data for block in merged.vectors()),
    }
    checksums = {name: _write(home / name, parts) for name, parts in blocks.items()}
    _sync_folder(home)
    return checksums


def _open(home: Path, manifest: Manifest) -> Generation:
    rows, words = manifest.rows, word_count(manifest.dimensions)
    for name, checksum in manifest.checksums.items():
        _check(home / name, checksum)
    labels = (home / LABELS).read_bytes()
    columns = {name: _map(home / _file_name(name), kind, (rows,)) for name, kind in COLUMN_TYPES.items()}
    segment = Segment(
        columns=Columns(**columns),
        vectors=_map(home / VECTORS, "<f4", (rows, manifest.dimensions)),
        codes=tuple(_map(home / CODES, "<u8", (words, rows))),
        alive=np.ones(rows, dtype=np.bool_),
        by_node=_map(home / BY_NODE, "<i8", (rows,)),
    )
    return Generation(manifest.seq, segment, Vocabulary.from_json(labels.decode()))


def _check(path: Path, checksum: int) -> None:
    if path.stat().st_size <= CHECKED and zlib.crc32(path.read_bytes()) != checksum:
        raise IndexDamaged(f"{path.name} is not the one that was written")


def _map(path: Path, kind: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    expected = int(np.prod(shape)) * np.dtype(kind).itemsize
    if (size := path.stat().st_size) != expected:
        raise IndexDamaged(f"{path.name} has {size} bytes instead of {expected}")
    if not expected:
        return np.empty(shape, dtype=kind)
    return np.asarray(np.memmap(path, dtype=kind, mode="r", shape=shape))


def _file_name(column: str) -> str:
    kind = np.dtype(COLUMN_TYPES[column])
    return f"{column}.{kind.kind}{kind.itemsize * 8}"


def _numbers(folder: Path) -> set[int]:
    names = (path.name for path in folder.iterdir())
    return {int(name[1:]) for name in names if name[:1] == "g" and name[1:].isdecimal()}


def _read_manifest(folder: Path) -> Manifest | None:
    """The manifest, or None if there is none or it is of another format."""
    try:
        stored = json.loads((folder / CURRENT).read_bytes())
        if stored["format"] != FORMAT:
            return None
        manifest = Manifest(**stored["manifest"])
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise IndexDamaged(f"{folder / CURRENT} cannot be read: {error!r}") from error
    if stored.get("check") != _checksum(manifest):
        raise IndexDamaged(f"{folder / CURRENT} does not match its checksum")
    return manifest


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    stored = {"format": FORMAT, "manifest": asdict(manifest), "check": _checksum(manifest)}
    fresh = folder / f"{CURRENT}.new"
    _write(fresh, [json.dumps(stored).encode()])
    os.replace(fresh, folder / CURRENT)
    _sync_folder(folder)


def _checksum(manifest: Manifest) -> int:
    return zlib.crc32(json.dumps(asdict(manifest), sort_keys=True).encode())


def _write(path: Path, blocks: Iterable[bytes | memoryview]) -> int:
    """Write a file to the disk; its checksum."""
    checksum = 0
    # Not through a map: a full disk would then kill the process instead of raising an error.
    with path.open("wb") as file:
        for block in blocks:
            file.write(block)
            checksum = zlib.crc32(block, checksum)
        file.flush()
        os.fsync(file.fileno())
    return checksum


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
