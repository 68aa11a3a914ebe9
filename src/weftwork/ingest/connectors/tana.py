"""Tana: the nodes of a workspace export or of a Tana Intermediate File."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.dates import moment
from weftwork.ingest.connectors.exports import Entry, entry_sources, export_sources, export_top, single_json
from weftwork.ingest.connectors.protocol import Listed, Source, Yielded
from weftwork.ingest.connectors.tana_intermediate import intermediate_sources
from weftwork.ingest.connectors.tana_nodes import TanaNode, Top, source, standalone, top_source, tree_pieces, values
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity
from weftwork.types import FieldValue

INTERMEDIATE = "TanaIntermediateFile"
_CONTAINERS = ("home", "journal", "journalPart")
_DAY = "journalPart"
_KEPT = ("_STASH", "_CAPTURE_INBOX")
"""Of the nodes that Tana itself makes in a workspace, those that hold what people write."""
_SYSTEM = frozenset(
    "tuple metanode viewDef attrDef tagDef associatedData search command settings workspace layout hotkey systemTool "
    "chatbot syntax placeholder group".split()
)
_TAGGED = "SYS_A13"
_NODE = re.compile(r'<span[^>]*data-inlineref-node="([^"]+)"[^>]*>(.*?)</span>', re.DOTALL)
_DATE = re.compile(r'<span[^>]*data-inlineref-date="([^"]*)"[^>]*>.*?</span>', re.DOTALL)
_ANCHOR = re.compile(r'<a[^>]*href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>")


class Tana:
    """A workspace exported as JSON, or a Tana Intermediate File."""

    name = "tana"
    summary = "Tana export: a workspace as JSON, a Tana Intermediate File, or the zip of one"
    version = 3

    def recognises(self, path: Path) -> float:
        """A JSON file, or a zip of one, that begins like one of Tana's formats."""
        try:
            entry = single_json(path)
            return 0.95 if entry and _format(entry) else 0.0
        except (Refused, OSError):
            return 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each node at the top of the workspace, with all below it."""
        read = partial(_file_sources, path)
        return export_sources(path, None, lambda export: entry_sources(path, export.json_files, read))


def _file_sources(path: Path, entry: Entry) -> Iterator[Listed]:
    key = _format(entry)
    if key:
        yield from (intermediate_sources if key == "nodes" else _workspace)(entry, path)
    else:
        yield Skipped(entry.name, "is no export of Tana")


def _format(entry: Entry) -> str:
    """The key under which a file keeps its nodes; empty if it is not Tana's."""
    with entry.open() as file:
        begin = file.read(4096).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not begin.startswith("{"):
        return ""
    if INTERMEDIATE in begin:
        return "nodes"
    return "docs" if '"formatVersion"' in begin and re.search(r'"(docs|editors|lastTxid|workspaces)"', begin) else ""


# A workspace export: all nodes in one list, each naming its owner and its children.


@dataclass(frozen=True, slots=True)
class _Doc:
    id: str
    name: str
    owner: str
    kind: str
    children: tuple[str, ...]
    meta: str
    description: str
    done: Any
    created: Any
    modified: Any


class _Graph:
    """The nodes of a workspace by id, classified as content, trash, system or lost."""

    def __init__(self, docs: Mapping[str, _Doc]) -> None:
        self.docs = docs
        homes = {doc.owner for doc in docs.values() if doc.kind == "home"}
        self._roots = homes | {name.removesuffix(end) for name in docs for end in _KEPT if name.endswith(end)}
        self._fate: dict[str, str] = {}
        for name in docs:
            self._judge(name)

    def _judge(self, name: str) -> None:
        """Classify a node and its owners as content, trash, system or lost."""
        way: list[str] = []
        fate = "lost"
        while name in self.docs and name not in way:
            if name in self._fate:
                fate = self._fate[name]
                break
            way.append(name)
            if name in self._roots:
                fate = "content"
                break
            name = self.docs[name].owner
        for owner in reversed(way):
            fate = self._own_fate(owner) or fate
            self._fate[owner] = fate

    def _own_fate(self, name: str) -> str:
        if name.endswith("_TRASH"):
            return "trash"
        of_tana = name.startswith("SYS_") or self.docs[name].kind in _SYSTEM
        made = name not in self._roots and any(name.startswith(f"{root}_") for root in self._roots if root)
        return "system" if of_tana or (made and not name.endswith(_KEPT)) else ""

    def fates(self) -> Counter[str]:
        return Counter(self._fate.values())

    def is_content(self, name: str) -> bool:
        return self._fate.get(name) == "content"

    def holds(self, name: str) -> bool:
        """Return True for a container: the home, the library, the inbox, the calendar."""
        doc = self.docs.get(name)
        return doc is not None and (name in self._roots or doc.kind in _CONTAINERS or name.endswith(_KEPT))

    def is_root(self, name: str) -> bool:
        return name in self._roots

    @cached_property
    def referred(self) -> frozenset[str]:
        """Ids that content refers to."""
        written = [self.node(doc) for name, doc in self.docs.items() if self.is_content(name)]
        return frozenset(
            target
            for node in written
            for target in (*node.refers, *(target for _, target in node.field_links))
            if target != node.id
        )

    def tree(self, top: _Doc) -> dict[str, TanaNode]:
        """A node with its descendants, parents first."""
        nodes: dict[str, TanaNode] = {}
        waiting = [top.id]
        while waiting:
            name = waiting.pop()
            if name not in nodes:
                nodes[name] = self.node(self.docs[name])
                waiting += reversed(nodes[name].children)
        return nodes

    def is_line(self, doc: _Doc) -> bool:
        """Return True for a line in the library or on a day: a single node, or anything plain on a day."""
        if self.holds(doc.id) or not self.holds(doc.owner) or self.is_root(doc.owner):
            return False
        tree = self.tree(doc)
        return not standalone(tree, self.referred) and (len(tree) == 1 or self.docs[doc.owner].kind == _DAY)

    def node(self, doc: _Doc) -> TanaNode:
        """A node with its tags and fields."""
        text, refers = self._shown(doc.name)
        fields: dict[str, FieldValue] = {}
        links: list[tuple[str, str]] = []
        children: list[str] = []
        for name in doc.children:
            child = self.docs.get(name)
            if child is None or child.owner != doc.id:
                refers += (name,) if self.is_content(name) else ()
            elif child.kind == "tuple":
                self._read_field(child, fields, links)
            elif self.is_content(name):
                children.append(name)
        if doc.description:
            text = f"{text}\n\n{self._shown(doc.description)[0]}"
        done = None if doc.done is None else bool(doc.done)
        return TanaNode(
            id=doc.id, text=text, refers=refers, tags=self._tags(doc), fields=fields, field_links=tuple(links),
            children=tuple(children), done=done, created_at=moment(doc.created), updated_at=moment(doc.modified),
        )  # fmt: skip

    def _tags(self, doc: _Doc) -> tuple[str, ...]:
        meta = self.docs.get(doc.meta)
        tuples = [self.docs[name].children for name in meta.children if name in self.docs] if meta else []
        tags = [name for members in tuples if members[:1] == (_TAGGED,) for name in members[1:]]
        tag_docs = [self.docs[name] for name in tags if name in self.docs]
        return tuple(tag.name for tag in tag_docs if tag.name and not tag.owner.endswith("_TRASH"))

    def _read_field(self, pair: _Doc, fields: dict[str, FieldValue], links: list[tuple[str, str]]) -> None:
        """Read a field: the first child names it, the others are its values or references."""
        about = self.docs.get(pair.children[0]) if pair.children else None
        if about is None or about.kind != "attrDef" or not about.name:
            return
        texts = []
        for name in pair.children[1:]:
            value = self.docs.get(name)
            if value is None or not value.name:
                continue
            text, refers = self._shown(value.name)
            texts += [text] if text else []
            targets = refers if value.owner == pair.id else (name,)
            links += [(about.name, target) for target in targets if self.is_content(target)]
        if texts:
            fields[about.name] = texts[0] if len(texts) == 1 else tuple(texts)

    def _shown(self, name: str) -> tuple[str, tuple[str, ...]]:
        """A text without its markup, and the nodes that it refers to."""
        refers = tuple(match[1] for match in _NODE.finditer(name))

        def called(match: re.Match[str]) -> str:
            target = self.docs.get(match[1])
            return match[2] or _MARKUP.sub("", target.name if target else "")

        shown = _DATE.sub(_day, _NODE.sub(called, name))
        shown = _ANCHOR.sub(lambda link: f"[{link[2]}]({link[1]})" if link[2] else link[1], shown)
        return html.unescape(_MARKUP.sub("", shown)).strip(), refers


def _day(match: re.Match[str]) -> str:
    try:
        value = json.loads(html.unescape(match[1]))
    except ValueError:
        return ""
    return str(value.get("dateTimeString") or "") if isinstance(value, dict) else ""


def _workspace(entry: Entry, path: Path) -> Iterator[Source | Skipped]:
    docs, wrong = {}, 0
    for value in values(entry, "docs"):
        doc = _doc(value)
        wrong += doc is None
        if doc:
            docs[doc.id] = doc
    graph = _Graph(docs)
    yield top_source(path, graph.fates())
    if wrong:
        yield Skipped(entry.name, f"{wrong} of its nodes have no id or are no objects")
    top = export_top(path, "tana", "Tana").id
    content = [doc for doc in docs.values() if graph.is_content(doc.id) and not graph.is_root(doc.id)]
    tops = [doc for doc in content if graph.holds(doc.owner) and not graph.is_line(doc)]
    order = {doc.id: place for place, doc in enumerate(tops)}
    for doc in sorted(tops, key=lambda doc: (len(_owners(doc, docs)), order[doc.id])):
        parent = top if graph.is_root(doc.owner) else identity("tana", doc.owner)
        read = partial(_read_tree, graph, doc, parent)
        yield source(doc.id, doc.name or "a node without a text", read, entry.stamp)


def _owners(doc: _Doc, docs: Mapping[str, _Doc]) -> list[str]:
    way: list[str] = []
    name = doc.owner
    while name in docs and name not in way:
        way.append(name)
        name = docs[name].owner
    return way


def _doc(value: Any) -> _Doc | None:
    """Parse a node leniently; None without an id."""
    props = value.get("props") if isinstance(value, dict) else None
    if not isinstance(props, dict) or not isinstance(value.get("id"), str) or not value["id"].isprintable():
        return None
    times, children = value.get("modifiedTs"), value.get("children")
    times = times if isinstance(times, list) else []
    text = {name: props[name] if isinstance(props.get(name), str) else "" for name in _TEXTS}
    return _Doc(
        value["id"], text["name"], text["_ownerId"], text["_docType"],
        tuple(child for child in children if isinstance(child, str)) if isinstance(children, list) else (),
        text["_metaNodeId"], text["description"], props.get("_done"), props.get("created"),
        max((time for time in times if isinstance(time, (int, float))), default=None),
    )  # fmt: skip


_TEXTS = ("name", "_ownerId", "_docType", "_metaNodeId", "description")


def _since(doc: _Doc) -> int:
    """The creation time as a stable position among siblings."""
    at = moment(doc.created)
    return int(at.timestamp() * 1000) if at else 0


def _read_tree(graph: _Graph, top: _Doc, parent: str, source_id: str) -> Iterator[Yielded]:
    """Yield a node with its descendants; of a container, only its lines."""
    if not graph.holds(top.id):
        yield from tree_pieces(graph.tree(top), Top(source_id, parent, _since(top)), graph.referred)
        return
    node = graph.node(top)
    lines = [graph.docs[name] for name in node.children if graph.is_line(graph.docs[name])]
    tree = {top.id: replace(node, children=tuple(line.id for line in lines))}
    for line in lines:
        tree |= graph.tree(line)
    yield from tree_pieces(tree, Top(source_id, parent, _since(top)), graph.referred)
