"""Writing what a user may see of a workspace as files: JSON lines that can be added again, or Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from weftwork.document import read_document
from weftwork.engine import Weft
from weftwork.errors import InvalidInput
from weftwork.store.protocol import View
from weftwork.types import CONTAINERS, Edge, Filters, Node, NodeInfo

MOST_NODES = 10_000_000
BATCH = 500
"""Nodes whose texts are read at once."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')
_LONGEST_NAME = 100
_PLAIN = Node(id="")


def export_lines(weft: Weft, *, user: str, workspace: str) -> Iterator[str]:
    """Each node that the user may see, parents first, and then each edge, one JSON object a line."""
    with weft.store.view(workspace, user) as view:
        nodes = _parents_first(view.select(Filters(), limit=MOST_NODES, sort="title"))
        for start in range(0, len(nodes), BATCH):
            for node in view.nodes([node.id for node in nodes[start : start + BATCH]]):
                yield _line(_node_values(node))
        present = {node.id for node in nodes}
        for edge in _edges(view, [node.id for node in nodes]):
            if edge.source in present and edge.target in present:
                yield _line({name: getattr(edge, name) for name in ("source", "target", "type", "label", "weight")})


def export_markdown(weft: Weft, folder: Path, *, user: str, workspace: str) -> int:
    """Write a Markdown file for each document that the user may see, in folders as they were; count them."""
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput(f"{folder} is not empty: name a folder that is, or that does not exist yet")
    count, taken = 0, set[Path]()
    with weft.store.view(workspace, user) as view:
        for node in view.select(Filters(), limit=MOST_NODES, sort="title"):
            if node.type in CONTAINERS:
                continue
            outline = view.outlines([node.id], most=1)
            if node.id not in outline:  # a part of a document, which is read with it
                continue
            document = read_document(view, node.id, weft.tools.counter, tokens=None, ids=False)
            if document.document.id != node.id:
                continue
            path = _free(folder.joinpath(*map(_name, reversed(document.trail)), f"{_name(_title(node))}.md"), taken)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_front_matter(node) + document.text.rstrip("\n") + "\n", encoding="utf-8")
            count += 1
    return count


def _parents_first(nodes: Sequence[NodeInfo]) -> list[NodeInfo]:
    """The nodes by their depth, then by parent, position and id; a hidden parent counts as none."""
    parents = {node.id: node.parent for node in nodes}
    depths: dict[str, int] = {}
    for node in nodes:
        chain, name = list[str](), node.id
        while name in parents and name not in depths:
            chain.append(name)
            name = parents[name] or ""
        for above in reversed(chain):
            depths[above] = depths.get(parents[above] or "", -1) + 1
    return sorted(nodes, key=lambda node: (depths[node.id], node.parent or "", node.position, node.id))


def _node_values(node: Node) -> dict[str, Any]:
    """The members of a node that are not as they are by default."""
    values = {each.name: getattr(node, each.name) for each in fields(Node)}
    return {name: _plain(value) for name, value in values.items() if name == "id" or value != getattr(_PLAIN, name)}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(value) if isinstance(value, frozenset) else list(value) if isinstance(value, tuple) else value


def _edges(view: View, names: Sequence[str]) -> Iterator[Edge]:
    """All edges between visible nodes, each once."""
    seen = set[tuple[str, str, str, str]]()
    for start in range(0, len(names), BATCH):
        for edge in view.edges(names[start : start + BATCH], limit=MOST_NODES):
            key = (edge.source, edge.target, edge.type, edge.label)
            if key not in seen:
                seen.add(key)
                yield edge


def _line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


def _title(node: NodeInfo) -> str:
    return Path(node.source.replace("\\", "/")).stem or node.title or node.id


def _name(text: str) -> str:
    """A title as the name of a file or a folder."""
    return _UNSAFE.sub("-", text).strip(" .-")[:_LONGEST_NAME].rstrip(" .") or "untitled"


def _free(path: Path, taken: set[Path]) -> Path:
    number, free = 2, path
    while Path(str(free).casefold()) in taken:
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
        number += 1
    taken.add(Path(str(free).casefold()))
    return free


def _front_matter(node: NodeInfo) -> str:
    values: dict[str, object] = {
        "id": node.id,
        "type": node.type,
        "title": node.title or None,
        "source": node.source or None,
    }
    values["updated"] = None if node.updated_at is None else node.updated_at.isoformat()
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items() if value is not None]
    return "---\n" + "\n".join(lines) + "\n---\n\n"
