"""JSON Canvas (`.canvas`): the cards of a board as parts of a page, its files as embeds, its arrows as links."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from weftwork.ingest.connectors import inline
from weftwork.ingest.connectors.folders import FoundFile
from weftwork.ingest.connectors.plain import modified, path_names, source_of
from weftwork.ingest.connectors.protocol import Link, Named, Source, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity, shown
from weftwork.types import ABOUT, Edge, Node

Card = Mapping[str, Any]


def is_canvas(file: FoundFile) -> bool:
    """Return True for a board."""
    return file.key.lower().endswith(".canvas")


def canvas_source(file: FoundFile) -> Source | Skipped:
    """A board as a page with a paragraph for each card."""
    return source_of(file, "file", _read)


def _read(file: FoundFile, name: str) -> Iterator[Yielded]:
    cards, arrows = _parsed(file.text())
    title, source = posixpath.splitext(posixpath.basename(file.key))[0], shown(str(file.path))
    labels = [text for card in cards if card.get("type") == "group" and (text := _text(card, "label"))]
    yield Node(
        id=name, type="page", title=title, text="\n".join(f"- {label}" for label in labels), parent=file.parent,
        position=file.position, source=source, updated_at=modified(file),
    )  # fmt: skip
    yield from path_names(name, file.key)
    yield Named(name, title, "alias")
    nodes: dict[str, str] = {}
    files: dict[str, str] = {}
    for position, card in enumerate(sorted(cards, key=_place)):
        card_id = str(card.get("id"))
        text = _text(card, "text") or _text(card, "url")
        if target := _text(card, "file"):
            files[card_id] = target
            anchor = _text(card, "subpath").lstrip("#")
            yield Link(source=name, names=(target,), anchor=anchor, type="embed")
        elif text and card_id not in nodes:
            nodes[card_id] = node = f"{name}#{identity('', card_id)[1:]}"
            readable = inline.without_code(text)
            yield Node(
                id=node, type="paragraph", text=text, parent=name, position=position, source=source,
                tags=tuple(inline.tags(readable)), fields={ABOUT: title}, updated_at=modified(file),
            )  # fmt: skip
            for found in inline.references(readable):
                kind = "embed" if found.embed else "reference"
                yield Link(source=node, names=(found.target,), anchor=found.anchor, type=kind, label=found.label)
    yield from _arrows(arrows, nodes, files)


def _arrows(arrows: list[Card], nodes: Mapping[str, str], files: Mapping[str, str]) -> Iterator[Yielded]:
    """The arrows from cards with text: edges to other cards, links to files."""
    for arrow in arrows:
        begin, end = str(arrow.get("fromNode")), str(arrow.get("toNode"))
        label = _text(arrow, "label")
        if begin in nodes and end in nodes and begin != end:
            yield Edge(source=nodes[begin], target=nodes[end], type="reference", label=label)
        elif begin in nodes and end in files:
            yield Link(source=nodes[begin], names=(files[end],), label=label)


def _parsed(text: str) -> tuple[list[Card], list[Card]]:
    try:
        board = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise Refused(f"is no board: it is no JSON ({error})") from error
    if not isinstance(board, dict):
        raise Refused("is no board: it has no cards")
    return _objects(board, "nodes"), _objects(board, "edges")


def _objects(board: Mapping[str, Any], name: str) -> list[Card]:
    items = board.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _text(card: Card, name: str) -> str:
    value = card.get(name)
    return value.strip() if isinstance(value, str) else ""


def _place(card: Card) -> tuple[float, float]:
    """Cards are read from the top down, and from the left to the right."""
    y, x = ((float(value) if isinstance(value := card.get(side), int | float) else 0.0) for side in ("y", "x"))
    return y, x
