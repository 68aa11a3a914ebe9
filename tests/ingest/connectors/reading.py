"""Reading all that a connector finds at a path, without a store."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from weftwork.ingest.connectors.protocol import Link, Named, Source, Unread
from weftwork.ingest.events import Note, Refused, Skipped
from weftwork.types import Node
from weftwork.write.prepare import check_node

DATA = Path(os.environ.get("WEFTWORK_DATA", Path(__file__).parents[4] / "shared" / "data"))


def real(name):
    """A folder or file of the public data; the test is skipped where it is absent."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not there: set WEFTWORK_DATA to the folder of the public data")
    return path


@dataclass
class Reading:
    """The pieces of a source by kind."""

    sources: list = field(default_factory=list)
    nodes: list = field(default_factory=list)
    links: list = field(default_factory=list)
    named: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    unread: list = field(default_factory=list)

    def of(self, kind):
        return [node for node in self.nodes if node.type == kind]

    def node(self, title):
        return next(node for node in self.nodes if node.title == title)

    def below(self, parent):
        return sorted((node for node in self.nodes if node.parent == parent.id), key=lambda node: node.position)

    def in_order(self, top):
        """The nodes of a page in reading order: each after the one above it, siblings by position."""
        inner, found, waiting = {}, [], [top]
        for node in self.nodes:
            inner.setdefault(node.parent, []).append(node)
        while waiting:
            node = waiting.pop()
            found.append(node)
            below = [each for each in inner.get(node.id, ()) if each.id.startswith(f"{top.id}#")]
            waiting += sorted(below, key=lambda each: each.position, reverse=True)
        return found

    def said(self, top):
        """All that the nodes of a page say, in reading order."""
        return "\n".join(f"{node.title}\n{node.text}" for node in self.in_order(top))


def shown(node):
    """The fields of a node that are not kept for programs."""
    return {name: value for name, value in node.fields.items() if not name.startswith("_")}


def read(connector, path):
    """All sources, each read as what follows a path would read it, and held to what the protocol says."""
    found = Reading()
    for source in connector.sources(path):
        if isinstance(source, Source):
            found.sources.append(source)
            _read_source(source, found)
        elif isinstance(source, Unread):
            found.unread.append(source)
        else:
            found.skipped.append(source)
    ids = [node.id for node in found.nodes]
    assert len(set(ids)) == len(ids)
    assert {node.parent for node in found.nodes} - set(ids) <= {None}
    return found


def _read_source(source, found):
    before = source.fingerprint()
    try:
        pieces = list(source.read(source.id))
    except Refused as refused:
        found.skipped.append(Skipped(source.what, str(refused)))
        return
    assert source.fingerprint() == before
    own = {piece.id for piece in pieces if isinstance(piece, Node)}
    for piece in pieces:
        match piece:
            case Node():
                check_node(piece)
                assert piece.id == source.id or piece.id.startswith(f"{source.id}#")
                found.nodes.append(piece)
            case Link():
                assert piece.source in own
                found.links.append(piece)
            case Named():
                assert piece.node in own
                found.named.append(piece)
            case Skipped():
                found.skipped.append(piece)
            case Note():
                found.notes.append(piece)
