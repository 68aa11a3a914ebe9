"""Exports inside a folder: a file or folder of another connector's kind is read by that connector, in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from weftwork.ingest.connectors.folders import FoundFile, place_of
from weftwork.ingest.connectors.protocol import Connector, Document, Listed, Source, Unread, Yielded
from weftwork.ingest.connectors.registry import connectors
from weftwork.ingest.events import Skipped
from weftwork.ingest.files import identity, shown
from weftwork.types import Node

SINGLE = (".eml", ".msg", ".p7m", ".p7s")
"""Files of one letter."""
CONFIDENT = 0.8
"""Least confidence with which a connector takes a file or folder out of the hands of the one around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedPlace:
    """A file or folder below the top of an import."""

    path: Path
    key: str
    name: str
    """The base of its id: the name of the top and the key."""
    parent: str | None
    """The id that its folder proposes."""
    position: int


def place_of_file(file: FoundFile) -> NestedPlace:
    """The place of a file that was found."""
    return NestedPlace(path=file.path, key=file.key, name=file.name, parent=file.parent, position=file.position)


def place_of_folder(path: Path, key: str, name: str, parent: str) -> NestedPlace:
    """The place of a folder below the top."""
    return NestedPlace(path=path, key=shown(key), name=name, parent=parent, position=place_of(path.name))


def claimant(path: Path) -> Connector | None:
    """The connector that is confident of a path, if there is one."""
    usable = [registered.connector for registered in connectors().values() if registered.connector is not None]
    sure = [(connector.recognises(path), -place, connector) for place, connector in enumerate(usable)]
    confidence, _, surest = max(sure, key=lambda candidate: candidate[:2])
    return surest if confidence >= CONFIDENT else None


def nested_sources(connector: Connector, place: NestedPlace) -> Iterator[Listed]:
    """The sources of a path in the folder around it: keys and ids begin with the path, and its top hangs below it.

    The folder around the thread of a single letter is left out.
    """
    listed = list(connector.sources(place.path))
    sources = [item for item in listed if isinstance(item, Source)]
    top = sources[0] if sources and sources[0].key.endswith("/") else None
    single = top is not None and place.path.suffix.lower() in SINGLE

    def moved(id: str | None) -> str | None:
        if id is None or (single and top is not None and id == top.id):
            return place.parent
        return _id_below(id, place, is_top=top is not None and id == top.id)

    for item in listed:
        if item is top and single:
            continue
        if isinstance(item, Source):
            yield _moved_source(item, connector, place, moved, alone=item is top or single)
        elif isinstance(item, Unread):
            yield replace(item, key=f"{place.key}/{item.key}".rstrip("/"))
        else:
            yield item
    if not sources and not any(isinstance(item, (Unread, Skipped)) for item in listed):
        yield Skipped(shown(str(place.path)), f"is {connector.summary}, without anything in it")


def _id_below(id: str, place: NestedPlace, *, is_top: bool) -> str:
    kind, _, name = id.partition(":")
    base = identity(kind, place.name)
    root = identity("", place.path.resolve().name)[1:]
    within = "" if is_top or name == root else name.removeprefix(f"{root}/")
    return f"{base}/{within}" if within else base


def _moved_source(
    source: Source, connector: Connector, place: NestedPlace, moved: Callable[[str | None], str | None], *, alone: bool
) -> Source:
    edition = f"{connector.name}/{connector.version}:"
    path = shown(str(place.path))
    within = source.what.removeprefix(f"{place.path.name}: ")
    what = path if alone else source.what if path in source.what else f"{path}: {within}"

    def read(id: str) -> Iterator[Yielded]:
        for piece in source.read(id):
            if isinstance(piece, Node) and piece.id == id:
                position = place.position if alone else piece.position
                yield replace(piece, parent=moved(piece.parent), position=position)
            elif isinstance(piece, Document):
                yield replace(piece, parent=moved(piece.parent))
            else:
                yield piece

    return replace(
        source,
        key=place.key + ("/" if source.key.endswith("/") else "") if alone else f"{place.key}/{source.key}",
        id=moved(source.id) or source.id,
        what=what,
        fingerprint=lambda: edition + source.fingerprint(),
        stamp=edition + source.stamp if source.stamp else "",
        read=read,
    )
