"""Tana: the nodes of a workspace export or of a Tana Intermediate File, with supertags, fields and references."""

from __future__ import annotations

import html
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.dates import moment
from weftwork.ingest.connectors.exports import Entry, export_top, names_in, open_export, unread
from weftwork.ingest.connectors.jsonstream import Damaged
from weftwork.ingest.connectors.protocol import Source, Unread, Yielded
from weftwork.ingest.connectors.tana_intermediate import intermediate_sources
from weftwork.ingest.connectors.tana_nodes import Told, Top, kept, source, top_source, tree_pieces, values
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
    """A workspace that was exported as JSON, or a Tana Intermediate File."""

    name = "tana"
    summary = "Tana export: a workspace as JSON, a Tana Intermediate File, or the zip of one"
    version = 2

    def recognises(self, path: Path) -> float:
        """By how the file begins."""
        if path.is_dir() or not any(name.lower().endswith(".json") for name in names_in(path, 50)):
            return 0.0
        try:
            entries = [entry for entry in open_export(path).files if entry.suffix == ".json"]
            return 0.95 if len(entries) == 1 and _format(entries[0]) else 0.0
        except (Refused, OSError):
            return 0.0

    def sources(self, path: Path) -> Iterator[Source | Unread | Skipped]:
        """A source for each node at the top of the workspace, with all below it."""
        try:
            export = open_export(path)
        except (Refused, OSError) as refused:
            yield unread(path, str(refused))
            return
        yield from export.skipped
        for entry in (entry for entry in export.files if entry.suffix == ".json"):
            try:
                known = _format(entry)
                if known:
                    yield from (intermediate_sources if known == "nodes" else _workspace)(entry, path)
                else:
                    yield Skipped(entry.name, "is no export of Tana")
            except (Damaged, Refused, OSError, zlib.error, EOFError, ValueError) as error:
                yield unread(path, f"{entry.name} {error}")


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
    """The nodes of a workspace by id, and which of them people wrote."""

    def __init__(self, docs: Mapping[str, _Doc]) -> None:
        self.docs = docs
        homes = {doc.owner for doc in docs.values() if doc.kind == "home"}
        self._roots = homes | {name.removesuffix(end) for name in docs for end in _KEPT if name.endswith(end)}
        self._fate: dict[str, str] = {}
        for name in docs:
            self._judge(name)

    def _judge(self, name: str) -> None:
        """What a node and all that own it are: content, trash, system, or lost."""
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
        for each in reversed(way):
            fate = self._own_fate(each) or fate
            self._fate[each] = fate

    def _own_fate(self, name: str) -> str:
        if name.endswith("_TRASH"):
            return "trash"
        own = name.startswith("SYS_") or self.docs[name].kind in _SYSTEM
        made = name not in self._roots and any(name.startswith(f"{root}_") for root in self._roots if root)
        return "system" if own or (made and not name.endswith(_KEPT)) else ""

    def fates(self) -> Counter[str]:
        return Counter(self._fate.values())

    def is_content(self, name: str) -> bool:
        return self._fate.get(name) == "content"

    def holds(self, name: str) -> bool:
        """Whether a node only holds others: the home, the library, the inbox, the calendar."""
        doc = self.docs.get(name)
        return doc is not None and (name in self._roots or doc.kind in _CONTAINERS or name.endswith(_KEPT))

    def is_root(self, name: str) -> bool:
        return name in self._roots

    @cached_property
    def referred(self) -> frozenset[str]:
        """Ids that something that people wrote refers to."""
        written = [self.told(doc) for name, doc in self.docs.items() if self.is_content(name)]
        return frozenset(
            target
            for told in written
            for target in (*told.refers, *(target for _, target in told.field_links))
            if target != told.id
        )

    def tree(self, top: _Doc) -> dict[str, Told]:
        """A node with all below it, each before those below it."""
        found: dict[str, Told] = {}
        waiting = [top.id]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = self.told(self.docs[name])
                waiting += reversed(found[name].children)
        return found

    def is_line(self, doc: _Doc) -> bool:
        """Whether a node in the library or on a day is no page but a line: one alone, or anything plain on a day."""
        if self.holds(doc.id) or not self.holds(doc.owner) or self.is_root(doc.owner):
            return False
        tree = self.tree(doc)
        return not kept(tree, self.referred) and (len(tree) == 1 or self.docs[doc.owner].kind == _DAY)

    def told(self, doc: _Doc) -> Told:
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
        return Told(
            id=doc.id, text=text, refers=refers, tags=self._tags(doc), fields=fields, field_links=tuple(links),
            children=tuple(children), done=done, created_at=moment(doc.created), updated_at=moment(doc.modified),
        )  # fmt: skip

    def _tags(self, doc: _Doc) -> tuple[str, ...]:
        meta = self.docs.get(doc.meta)
        tuples = [self.docs[name].children for name in meta.children if name in self.docs] if meta else []
        tags = [name for each in tuples if each[:1] == (_TAGGED,) for name in each[1:]]
        known = [self.docs[name] for name in tags if name in self.docs]
        return tuple(tag.name for tag in known if tag.name and not tag.owner.endswith("_TRASH"))

    def _read_field(self, pair: _Doc, fields: dict[str, FieldValue], links: list[tuple[str, str]]) -> None:
        """A field: the first child names it, the others are its values or refer to them."""
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
        told = json.loads(html.unescape(match[1]))
    except ValueError:
        return ""
    return str(told.get("dateTimeString") or "") if isinstance(told, dict) else ""


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
    """A node of the list, whatever is wrong with parts of it."""
    props = value.get("props") if isinstance(value, dict) else None
    if not isinstance(props, dict) or not isinstance(value.get("id"), str) or not value["id"].isprintable():
        return None
    times, children = value.get("modifiedTs"), value.get("children")
    times = times if isinstance(times, list) else []
    text = {name: props[name] if isinstance(props.get(name), str) else "" for name in _TEXTS}
    return _Doc(
        value["id"], text["name"], text["_ownerId"], text["_docType"],
        tuple(each for each in children if isinstance(each, str)) if isinstance(children, list) else (),
        text["_metaNodeId"], text["description"], props.get("_done"), props.get("created"),
        max((each for each in times if isinstance(each, (int, float))), default=None),
    )  # fmt: skip


_TEXTS = ("name", "_ownerId", "_docType", "_metaNodeId", "description")


def _since(doc: _Doc) -> int:
    """A place among siblings that none of them changes: when it was made."""
    at = moment(doc.created)
    return int(at.timestamp() * 1000) if at else 0


def _read_tree(graph: _Graph, top: _Doc, parent: str, own: str) -> Iterator[Yielded]:
    """A node with all below it; of what only holds others, those that are mere lines."""
    if not graph.holds(top.id):
        yield from tree_pieces(graph.tree(top), Top(own, parent, _since(top)), graph.referred)
        return
    told = graph.told(top)
    lines = [graph.docs[name] for name in told.children if graph.is_line(graph.docs[name])]
    tree = {top.id: replace(told, children=tuple(line.id for line in lines))}
    for line in lines:
        tree |= graph.tree(line)
    yield from tree_pieces(tree, Top(own, parent, _since(top)), graph.referred)
