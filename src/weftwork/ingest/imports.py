"""The paths that were added to a workspace: list them, read them again, remove them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weftwork.engine import Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.ingest.connectors.nested import claimant
from weftwork.ingest.connectors.protocol import Connector
from weftwork.ingest.connectors.registry import get_connector, recognise
from weftwork.ingest.events import Skipped
from weftwork.ingest.follow import follow, place_of
from weftwork.ingest.import_log import IMPORTS, ImportLog
from weftwork.ingest.jsonlines import read_json_lines
from weftwork.ingest.load import load
from weftwork.ingest.report import Followed, Options
from weftwork.store.protocol import Store

LINES = (".jsonl", ".ndjson")
"""Endings of files of JSON lines, which say themselves what their nodes are."""


@dataclass(frozen=True, slots=True)
class Import:
    """A path that was added."""

    id: str
    """Of its top node."""
    place: str
    """Where it is on disk."""
    connector: str
    stored: int
    """The sources of it that are in the store: files, folders, pages or threads."""
    skipped: int

    @property
    def is_there(self) -> bool:
        """True if the path still exists."""
        return os.path.exists(self.place)


def list_imports(store: Store, workspace: str) -> list[Import]:
    """The paths that were added, by their place."""
    found = []
    for name, text in store.marks(workspace, IMPORTS).items():
        states = ImportLog(store, workspace, name).states.values()
        stored = sum(bool(state.id) for state in states)
        found.append(Import(name, **json.loads(text), stored=stored, skipped=len(states) - stored))
    return sorted(found, key=lambda each: (each.place, each.id))


def find_import(store: Store, workspace: str, reference: str) -> Import:
    """The path that is meant: by its id, its path, or the last part of that."""
    every = list_imports(store, workspace)
    ways = (
        lambda each: each.id == reference,
        lambda each: each.place == place_of(Path(reference)),
        lambda each: Path(each.place).name == reference.rstrip("/"),
    )
    for is_meant in ways:
        meant = [each for each in every if is_meant(each)]
        if len(meant) == 1:
            return meant[0]
        if meant:
            raise InvalidInput(f"{reference!r} may mean {', '.join(each.place for each in meant)}: give the whole path")
    known = ", ".join(each.place for each in every) or "nothing"
    raise NotFound(f"{reference!r} was not added to workspace {workspace!r}: {known} was, see  weftwork sources")


def add_path(weft: Weft, path: Path, connector: Connector | None = None, options: Options | None = None) -> Followed:
    """Add a path, or read it again; one that lies in a folder which was added is read with that folder.

    A file is in a workspace once, however it is reached: a folder around one that was added is refused.
    """
    options = options or Options()
    covering = _covering(weft.store, options.workspace, path)
    if covering is not None:
        return follow(weft, Path(covering.place), get_connector(covering.connector), options)
    return follow(weft, path, connector or recognise(path), options)


def read_path(weft: Weft, path: Path, workspace: str) -> tuple[int, int, int, tuple[str, ...]]:
    """Add a path, also one of JSON lines; the nodes and links written, and what was skipped."""
    if not path.exists():
        raise NotFound(f"{path} does not exist: give a file or a folder, or a list of nodes")
    if path.suffix in LINES and path.is_file() and claimant(path) is None:
        loaded = load(weft, read_json_lines(path), workspace=workspace)
        return loaded.changed, loaded.edges, 0, _reasons(loaded.skipped)
    report = add_path(weft, path, options=Options(workspace=workspace))
    return report.nodes, report.links, 0, _reasons(report.skipped)


def _reasons(skipped: Sequence[Skipped]) -> tuple[str, ...]:
    return tuple(f"{notice.what}: {notice.why}" for notice in skipped)


def _covering(store: Store, workspace: str, path: Path) -> Import | None:
    """The folder that was added and has this path among its sources; refuse a path around one."""
    place = Path(place_of(path))
    for each in list_imports(store, workspace):
        other = Path(each.place)
        if other == place or not each.stored:
            continue
        if place in other.parents:
            raise InvalidInput(
                f"{each.place} was added by itself and lies in {path}: run  weftwork sources remove {each.id}  first, "
                "so that nothing is stored twice"
            )
        if other in place.parents and _holds(store, workspace, each, place.relative_to(other).as_posix()):
            return each
    return None


def _holds(store: Store, workspace: str, folder: Import, key: str) -> bool:
    states = ImportLog(store, workspace, folder.id).states
    return any((name == key or name.startswith(f"{key}/")) and state.id for name, state in states.items())


def read_again(weft: Weft, imported: Import, options: Options) -> Followed:
    """Read every source of a path anew, changed or not."""
    if not imported.is_there:
        raise NotFound(f"{imported.place} is gone: put it back, or run  weftwork sources remove {imported.id}")
    connector = get_connector(imported.connector)
    return follow(weft, Path(imported.place), connector, replace(options, again=True))


def remove_imports(weft: Weft, workspace: str, imports: Sequence[Import]) -> int:
    """Remove what was added from these paths, and what is recorded of them, all or nothing; count the nodes."""
    with weft.atomic(workspace) as batch:
        removed = 0
        for each in imports:
            log = ImportLog(weft.store, workspace, each.id)
            removed += batch.remove([state.id for state in log.states.values() if state.id])
            log.clear(batch)
    return removed
