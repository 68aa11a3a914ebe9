"""Logseq: the pages and journals of a graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from urllib.parse import unquote

from weftwork.ingest.connectors.dates import written_date
from weftwork.ingest.connectors.folders import FoundFile, walk
from weftwork.ingest.connectors.logseq_json import is_logseq_json, json_sources
from weftwork.ingest.connectors.outline import Block, Page, Task, listed, page_pieces
from weftwork.ingest.connectors.plain import modified, plain_source, source_of
from weftwork.ingest.connectors.protocol import Listed, Source, Yielded
from weftwork.ingest.documents.formats import is_document
from weftwork.ingest.events import Skipped
from weftwork.ingest.files import shown
from weftwork.types import FieldValue

FOLDERS = ("pages", "journals")
INTERNAL = frozenset(
    "id collapsed heading background-color public exclude-from-graph-view logseq.order-list-type ls-type hl-page "
    "hl-color hl-stamp card-last-interval card-repeats card-ease-factor card-next-schedule card-last-reviewed "
    "card-last-score query-table query-properties query-sort-by query-sort-desc updated-at created-at updated_at "
    "created_at todo doing done now later".split()
)
"""Properties that are Logseq's own."""
STATUS = {
    "TODO": "open", "LATER": "open", "WAITING": "waiting", "WAIT": "waiting", "DOING": "in progress",
    "NOW": "in progress", "STARTED": "in progress", "IN-PROGRESS": "in progress", "DONE": "done",
    "CANCELED": "cancelled", "CANCELLED": "cancelled",
}  # fmt: skip
_MARKER = re.compile(rf"({'|'.join(STATUS)})(?:\s+\[#([ABC])\])?(?:\s+|$)")
_DATED = re.compile(r"^\s*(SCHEDULED|DEADLINE):\s*<(\d{4}-\d\d-\d\d)[^>\n]*>\s*$", re.MULTILINE)
_CLOCK = re.compile(r"^\s*:LOGBOOK:.*?^\s*:END:\s*$", re.MULTILINE | re.DOTALL)
_PROPERTY = re.compile(r"\s*([^\s:`\[\]()#{}\"',][^\s`:]*)::(?:\s+(.*)|)$")
_HIDDEN = re.compile(r":hidden\s*\[([^\]]*)\]")
_COMMENT = re.compile(r"^\s*;.*$", re.MULTILINE)
_LEVELS = {"true": 0, **{str(level): level for level in range(1, 7)}}
_BULLET = re.compile(r"^([ \t]*)[-*](?: |$)")
_FENCE = re.compile(r"^\s*(?:- )?(```|~~~|#\+BEGIN_|#\+END_)", re.IGNORECASE)


class Logseq:
    """A graph of Markdown files."""

    name = "logseq"
    summary = "Logseq graph: the folder with pages and journals, or its export as JSON"
    version = 3

    def recognises(self, path: Path) -> float:
        """A folder with Logseq's settings, or with pages beside journals; or its JSON export."""
        if not path.is_dir():
            return 0.9 if is_logseq_json(path) else 0.0
        if (path / "logseq" / "config.edn").is_file():
            return 0.95
        return 0.7 if all((path / name).is_dir() for name in FOLDERS) and not (path / ".obsidian").exists() else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each page, journal and document; other files are reported as skipped."""
        if path.is_file():
            yield from json_sources(path, _task)
            return
        hidden = _hidden(path)
        for entry in walk(path):
            top = entry.key.partition("/")[0] if isinstance(entry, (Source, FoundFile)) else ""
            if top == "logseq":
                continue
            if not isinstance(entry, FoundFile):
                yield entry
            elif any(entry.key == name or entry.key.startswith(f"{name}/") for name in hidden):
                yield Skipped(shown(str(entry.path)), "is hidden in the settings of the graph")
            elif entry.path.suffix.lower() == ".md":
                yield source_of(entry, "logseq", _read)
            elif is_document(entry.path):
                yield plain_source(entry)
            else:
                yield Skipped(shown(str(entry.path)), _why_not(entry.path.suffix.lower()))


def _hidden(graph: Path) -> list[str]:
    """The files and folders that the graph's settings hide."""
    try:
        settings = (graph / "logseq" / "config.edn").read_text("utf-8", "replace")
    except OSError:
        return []
    match = _HIDDEN.search(_COMMENT.sub("", settings))
    return [name.strip("/") for name in re.findall(r'"([^"]+)"', match[1])] if match else []


def _why_not(extension: str) -> str:
    if extension == ".org":
        return "is in Org mode, which is not read: export the graph as Markdown"
    return "is no page, journal or document"


def _read(file: FoundFile, source_id: str) -> Iterator[Yielded]:
    header, blocks = parse(file.text())
    day = _day(file)
    title = header.get("title") or (_journal_title(day) if day else title_of(file.path.stem))
    aliases = listed(header.get("alias", header.get("aliases", "")))
    yield from page_pieces(
        Page(
            title=title,
            source=shown(str(file.path)),
            parent=file.parent or "",
            position=file.position,
            blocks=blocks,
            aliases=(*aliases, *((day.isoformat(),) if day and day.isoformat() != title else ())),
            properties={k: v for k, v in header.items() if k not in INTERNAL | {"title", "alias", "aliases"}},
            day=day,
            updated_at=modified(file),
        ),
        source_id,
    )


def title_of(stem: str) -> str:
    """The title of a page from its file name: `___` and `%2F` stand for `/`."""
    return unquote(stem.replace("___", "/"))


def _day(file: FoundFile) -> date | None:
    return written_date(file.path.stem) if file.key.startswith("journals/") else None


def _journal_title(day: date) -> str:
    """Logseq's default title of a journal: Oct 22nd, 2020."""
    end = "th" if 11 <= day.day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return f"{day:%b} {day.day}{end}, {day.year}"


@dataclass(slots=True)
class _Open:
    """A block under construction."""

    indent: int
    lines: list[str] = field(default_factory=list)
    children: list[_Open] = field(default_factory=list)


def parse(text: str) -> tuple[dict[str, str], tuple[Block, ...]]:
    """Parse a page into its properties and blocks."""
    lines = text.split("\n")
    header, start = _front_matter(lines)
    while start < len(lines) and not lines[start].strip():
        start += 1
    while start < len(lines) and (match := _PROPERTY.match(lines[start])):
        header[match[1].lower()] = (match[2] or "").strip()
        start += 1
    first = lines[start] if start < len(lines) else ""
    if not header and first.startswith("- ") and _PROPERTY.match(first[2:]):  # the properties as a block of their own
        header, start = _property_block(lines, start)
    return header, tuple(_closed(top) for top in _tree(lines[start:]))


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """The front matter of older graphs, and the line after it."""
    if lines[0].strip() != "---":
        return {}, 0
    end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
    pairs = (line.partition(":") for line in lines[1:end])
    return {name.strip().lower(): value.strip() for name, sign, value in pairs if sign and name.strip()}, end + 1


def _property_block(lines: list[str], start: int) -> tuple[dict[str, str], int]:
    header: dict[str, str] = {}
    line = lines[start][2:]
    end = start
    while match := _PROPERTY.match(line):
        header[match[1].lower()] = (match[2] or "").strip()
        end += 1
        line = lines[end] if end < len(lines) and not _BULLET.match(lines[end]) else ""
    return header, end


def _tree(lines: list[str]) -> list[_Open]:
    """Blocks by their indentation; text without a bullet at the margin is a block too."""
    root = _Open(-1)
    way, fence = [root], ""
    for line in lines:
        bullet = None if fence else _BULLET.match(line)
        if bullet:
            _begin(way, _width(bullet[1]), line[bullet.end() :])
        elif not fence and line[:1].strip() and (len(way) == 1 or line.startswith("#")):
            _begin(way, 0, line)
        elif len(way) > 1:
            way[-1].lines.append(line)
        elif line.strip():
            _begin(way, 0, line)
        fence = _fence_after(line, fence)
    return root.children


def _begin(way: list[_Open], indent: int, first: str) -> None:
    """Open a block below the nearest one with less indentation."""
    while way[-1].indent >= indent:
        way.pop()
    block = _Open(indent, [first])
    way[-1].children.append(block)
    way.append(block)


def _width(space: str) -> int:
    return len(space.expandtabs(2))


def _fence_after(line: str, fence: str) -> str:
    """The closing mark of the fence that is open after a line; inside, a dash is no bullet."""
    match = _FENCE.match(line)
    if not match:
        return fence
    mark = match[1].upper()
    if fence:
        return "" if mark == fence else fence
    if mark == "#+BEGIN_":
        return "#+END_"
    return "" if mark == "#+END_" or line.count(match[1]) > 1 else mark


def _closed(top: _Open) -> Block:
    """Convert a block with its descendants, innermost first, so that no nesting is too deep."""
    order, waiting = [], [top]
    while waiting:
        block = waiting.pop()
        order.append(block)
        waiting += block.children
    blocks: dict[int, Block] = {}
    for block in reversed(order):
        blocks[id(block)] = _block(block, tuple(blocks.pop(id(child)) for child in block.children))
    return blocks[id(top)]


def _block(open_: _Open, children: tuple[Block, ...]) -> Block:
    properties: dict[str, str] = {}
    lines, fence = [], ""
    for line in open_.lines:
        match = None if fence else _PROPERTY.match(line)
        if match:
            properties[match[1].lower()] = (match[2] or "").strip()
        else:
            lines.append(_outdented(line, open_.indent + 2) if fence else line.strip())
        fence = _fence_after(line, fence)
    text = _CLOCK.sub("", "\n".join(lines)).strip()
    level = properties.get("heading", "")
    return Block(
        text=text, children=children, key=properties.get("id", ""), task=_task(text),
        heading=level in _LEVELS, level=_LEVELS.get(level, 0),
        properties={name: value for name, value in properties.items() if name not in INTERNAL},
    )  # fmt: skip


def _outdented(line: str, width: int) -> str:
    """A line of code without the indentation of its block."""
    margin = line[: len(line) - len(line.lstrip(" \t"))]
    place = 0
    while place < len(margin) and _width(margin[: place + 1]) <= width:
        place += 1
    return line[place:]


def _task(text: str) -> Task | None:
    """The task of a block, with its dates; None if it is none."""
    marker = _MARKER.match(text)
    if marker is None:
        return None
    dates: Mapping[str, str] = dict(_DATED.findall(text))
    fields: dict[str, FieldValue] = {}
    if "DEADLINE" in dates:
        fields["due"] = dates["DEADLINE"]
    if "SCHEDULED" in dates:
        fields["scheduled"] = dates["SCHEDULED"]
    if marker[2]:
        fields["priority"] = marker[2]
    return Task(_DATED.sub("", text[marker.end() :]).strip(), STATUS[marker[1]], fields)
