"""The Tana Intermediate Format: nested nodes, as other programs write them for Tana to import."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.dates import moment
from weftwork.ingest.connectors.exports import Entry, export_top
from weftwork.ingest.connectors.jsonstream import Damaged, unpacked
from weftwork.ingest.connectors.protocol import Source, Yielded
from weftwork.ingest.connectors.tana_nodes import TanaNode, Top, source, top_source, tree_pieces, values
from weftwork.ingest.events import Skipped
from weftwork.types import FieldValue


@dataclass(frozen=True, slots=True)
class _Index:
    """Names, supertags and references of all nodes of a file."""

    names: Mapping[str, str]
    """Texts by id."""
    tags: Mapping[str, str]
    """Names of supertags by id."""
    referred: Container[str]
    """Ids that texts refer to."""


_UID = re.compile(r"(?:\[([^\[\]]*)\]\()?\[\[([^\[\]]+)\]\]\)?")


def intermediate_sources(entry: Entry, path: Path) -> Iterator[Source | Skipped]:
    """A source for each node at the top of the file; names are read first, since texts refer by id."""
    tags = _supertags(entry)
    names: dict[str, str] = {}
    referred: set[str] = set()
    for value in values(entry, "nodes"):
        for node in _flat(value):
            name = names[str(node["uid"])] = str(node.get("name") or "")
            referred |= {match[2] for match in _UID.finditer(name) if match[2] != node["uid"]}
    index = _Index(names, tags, referred)
    yield top_source(path)
    top = export_top(path, "tana", "Tana").id
    seen: set[str] = set()
    for number, value in enumerate(values(entry, "nodes")):
        name = _uid(value)
        if not name or name in seen:
            yield Skipped(f"{entry.name}: node {number + 1}", "has no uid, or that of another")
            continue
        seen.add(name)
        packed = zlib.compress(json.dumps(value).encode(), 1)
        yield source(value["uid"], str(value.get("name") or ""), partial(_read_nested, packed, index, top), entry.stamp)


def _supertags(entry: Entry) -> dict[str, str]:
    try:
        return {str(tag["uid"]): str(tag["name"]) for tag in values(entry, "supertags") if isinstance(tag, dict)}
    except (Damaged, KeyError):  # a file need not have any
        return {}


def _uid(value: Any) -> str:
    """The id of a node; empty if it has no usable one."""
    name = value.get("uid") if isinstance(value, dict) else None
    return name if isinstance(name, str) and name.strip() and name.isprintable() else ""


def _flat(value: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(node.get("uid"), str):
                yield node
            children = node.get("children")
            waiting += children if isinstance(children, list) else []


def _read_nested(packed: bytes, index: _Index, top: str, source_id: str) -> Iterator[Yielded]:
    tree: dict[str, TanaNode] = {}
    waiting = [unpacked(packed)]
    while waiting:
        value = waiting.pop()
        name = _uid(value)
        if not name or name in tree:
            yield Skipped(source_id, "one of its nodes has no uid, or that of another")
            continue
        node, children = _nested(value, index)
        tree[name] = replace(node, children=tuple(_uid(child) for child in children))
        waiting += children[::-1]
    yield from tree_pieces(tree, Top(source_id, top), index.referred)


def _nested(value: Mapping[str, Any], index: _Index) -> tuple[TanaNode, list[Any]]:
    """A node of the Intermediate Format, and its children other than fields."""
    fields: dict[str, FieldValue] = {}
    links: list[tuple[str, str]] = []
    children = []
    below = value.get("children")
    for child in below if isinstance(below, list) else ():
        if isinstance(child, dict) and child.get("type") == "field":
            _nested_field(child, index.names, fields, links)
        else:
            children.append(child)
    text, refers = _named(str(value.get("name") or ""), index.names)
    described = value.get("description")
    listed, state, flags = value.get("supertags"), value.get("todoState"), value.get("flags")
    supertags = listed if isinstance(listed, list) else []
    node = TanaNode(
        id=value["uid"], text=f"{text}\n\n{described}" if described else text, refers=refers,
        tags=tuple(filter(None, (index.tags.get(str(tag), str(tag)) for tag in supertags))),
        fields=fields, field_links=tuple(links), done=None if state is None else state == "done",
        heading=isinstance(flags, list) and "section" in flags,
        created_at=moment(value.get("createdAt")), updated_at=moment(value.get("editedAt")),
    )  # fmt: skip
    return node, children


def _nested_field(
    child: Mapping[str, Any], names: Mapping[str, str], fields: dict[str, FieldValue], links: list[tuple[str, str]]
) -> None:
    name, values = str(child.get("name") or ""), child.get("children")
    several = values if isinstance(values, list) else []
    named = [_named(str(item.get("name") or ""), names) for item in several if isinstance(item, dict)]
    if name and named:
        texts = tuple(text for text, _ in named)
        fields[name] = texts[0] if len(texts) == 1 else texts
        links += [(name, target) for _, refers in named for target in refers]


def _named(text: str, names: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """A text with names in place of ids, and the ids."""
    refers = tuple(match[2] for match in _UID.finditer(text) if match[2] in names)
    return _UID.sub(lambda match: match[1] or names.get(match[2], match[2]), text).strip(), refers
