"""Notion: the pages and databases of an export, with their properties, relations and sections."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from weftwork.ingest.connectors import inline
from weftwork.ingest.connectors.block_ids import BlockNames
from weftwork.ingest.connectors.dates import moment, start_of, written_date
from weftwork.ingest.connectors.exports import (
    Entry,
    Export,
    digest,
    export_sources,
    export_top,
    fingerprints,
    names_in,
)
from weftwork.ingest.connectors.folders import FoundFile, place_of, walk
from weftwork.ingest.connectors.htmltext import text_of
from weftwork.ingest.connectors.markdown import Kind, TooDeep, lined, plain, sections
from weftwork.ingest.connectors.plain import plain_source
from weftwork.ingest.connectors.protocol import Link, Listed, Named, Source, Yielded
from weftwork.ingest.connectors.section_nodes import SectionNodes
from weftwork.ingest.connectors.tables import named_columns, typed
from weftwork.ingest.documents.formats import is_document
from weftwork.ingest.events import Note, Refused, Skipped
from weftwork.ingest.files import identity
from weftwork.types import FieldValue, Node

PAGES = (".md", ".html")
_NAME = re.compile(r"(?P<title>.*?)[ -]?(?P<id>[0-9a-f]{32})(?P<all>_all)?")
_RELATION = re.compile(r"([^,()]*?)\s*\(((?:[^()]|\([^()]*\))*?([0-9a-f]{32})(?:_all)?\.(?:md|csv|html))\)")
_ADDRESS = re.compile(r"https?://(?:www\.)?notion\.(?:so|site)/\S*?([0-9a-f]{32})")
_HREF = re.compile(r'href="[^"]*?([0-9a-f]{32})(?:_all)?\.(?:html|csv)"')
_PROPERTY = re.compile(r"([^:\n]{1,100}?)\s*:(?:\s+(.*)|)$")
_TAG = re.compile(r"</?(?:aside|details|summary|br|img|figure)\b[^<>]*>")
_DUE = frozenset({"due", "due date", "deadline"})


class Notion:
    """An export as Markdown and CSV, or as HTML: the zip or its folder."""

    name = "notion"
    summary = "Notion export: Markdown and CSV, or HTML, as a zip or a folder"
    version = 2

    def recognises(self, path: Path) -> float:
        """A folder or zip in which most page names end in Notion's ids."""
        if path.is_file() and path.suffix.lower() != ".zip":
            return 0.0
        names = [PurePosixPath(name) for name in names_in(path)]
        pages = [name for name in names if name.suffix.lower() in (*PAGES, ".csv") and name.name != "index.html"]
        ours = [name for name in pages if _NAME.fullmatch(name.stem)]
        return 0.9 if ours and len(ours) * 2 > len(pages) else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each page and each database."""
        top = export_top(path, "notion", "Notion")
        return export_sources(path, top, partial(_sources, path, top))


def _sources(path: Path, top: Source, export: Export) -> Iterator[Listed]:
    pages, others = _pages(export.files, top.id)
    by_id = {page.id: page for page in pages}
    for page in sorted(pages, key=lambda page: (page.name.count("/"), page.name)):
        parent = identity("notion", page.above) if page.above in by_id else top.id
        yield (_database(page, pages, parent) if page.is_database else _page(page, by_id.get(page.above), parent))
    if path.is_dir():
        yield from _documents(path, pages, top.id)
    elif others:
        kinds = ", ".join(sorted({file.suffix.lstrip(".") for file in others}))
        why = f"{len(others)} attached files ({kinds}) are not read from a zip: unpack it, and add the folder"
        yield Skipped(top.what, why)


@dataclass(frozen=True, slots=True)
class _Page:
    """A page or a database of the export, by its file."""

    entry: Entry
    id: str
    title: str
    above: str
    """The id of what it stands in; empty at the top."""

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def is_database(self) -> bool:
        return self.entry.suffix == ".csv"


def _pages(files: Iterable[Entry], top: str) -> tuple[list[_Page], list[Entry]]:
    """Distinct pages and databases, and the other files; a database's table with all columns wins."""
    pages: dict[str, _Page] = {}
    others = []
    for entry in sorted(files, key=lambda file: (not file.stem.endswith("_all"), file.name)):
        if entry.suffix not in (*PAGES, ".csv"):
            others.append(entry)
        elif PurePosixPath(entry.name).name != "index.html":
            page_id, title = _identified(entry.stem)
            page_id = page_id or digest(top, entry.name)
            pages.setdefault(page_id, _Page(entry, page_id, title, _above(entry, top)))
    return list(pages.values()), others


def _identified(stem: str) -> tuple[str, str]:
    """The id in a file name, and the title without it."""
    match = _NAME.fullmatch(stem)
    return (match["id"], match["title"].strip()) if match else ("", stem)


def _above(entry: Entry, top: str) -> str:
    """The id of the page whose folder a file stands in; other folders are skipped."""
    for folder in PurePosixPath(entry.name).parents:
        if page_id := _identified(folder.name)[0]:
            return page_id
        if folder.name and not folder.name.startswith("Export-"):
            return digest(top, f"{folder}.md")
    return ""


def _page(page: _Page, above: _Page | None, parent: str) -> Source:
    is_row = above is not None and above.is_database
    return Source(
        key=f"page/{page.id}", id=identity("notion", page.id), what=page.name, movable=False,
        fingerprint=partial(fingerprints, [page.entry], parent, str(is_row), page.title),
        read=partial(_read_page, page, parent, is_row),
    )  # fmt: skip


def _database(page: _Page, pages: Iterable[_Page], parent: str) -> Source:
    rows = [row for row in pages if row.above == page.id and not row.is_database]
    return Source(
        key=f"database/{page.id}", id=identity("notion", page.id), what=page.name, movable=False,
        fingerprint=partial(fingerprints, [page.entry, *(row.entry for row in rows)], parent, page.title),
        read=partial(_read_database, page, rows, parent),
    )  # fmt: skip


def _read_page(page: _Page, parent: str, is_row: bool, source_id: str) -> Iterator[Yielded]:
    text = lined(page.entry.text())
    links = set[str]()
    if page.entry.suffix == ".html":
        links = {match[1] for match in _HREF.finditer(text)}
        text = text_of(text, markdown=True)
    title, body = _titled(text, page.title)
    properties, body = _properties(body) if is_row else ({}, body)
    try:
        top = sections(body, _is_task)
    except TooDeep as error:
        yield Note(page.name, f"{error}: it is split into paragraphs only")
        top = plain(body)
    nodes = SectionNodes(
        page=source_id, title=title, source=page.name, links=partial(_links, page.name), tags=lambda _: (), clean=_clean
    )
    lead = nodes.begin(top[0])
    nodes.add(top[1:])
    yield _described(source_id, "db_row" if is_row else "page", title, parent, properties, text=lead, source=page.name)
    yield from (Named(source_id, page.id, "id"), Named(source_id, page.name, "path"))
    if written_date(title) is None:  # a day is no name that others mention
        yield Named(source_id, title)
    yield from _relations(source_id, properties)
    yield from (Link(source=source_id, names=(target,)) for target in sorted(links - {page.id}))
    yield from nodes.pieces


def _is_task(kind: Kind, paragraphs: Sequence[str], *, first: bool) -> bool:
    return kind == "list_item" and inline.task(_clean(paragraphs[0])) is not None


def _titled(text: str, title: str) -> tuple[str, str]:
    """The heading of a page, or else the given title, and the rest of the text."""
    first, _, rest = text.lstrip().partition("\n")
    return (first[2:].strip() or title, rest) if first.startswith("# ") else (title, text)


def _properties(body: str) -> tuple[dict[str, str], str]:
    """The properties at the beginning of a row's page, and the rest."""
    lines = body.lstrip("\n").split("\n")
    properties: dict[str, str] = {}
    while lines and (match := _PROPERTY.match(lines[0])):
        properties[match[1].strip()] = (match[2] or "").strip()
        lines.pop(0)
    return (properties, "\n".join(lines)) if not lines or not lines[0].strip() else ({}, body)


def _described(
    source_id: str, kind: str, title: str, parent: str, properties: Mapping[str, str], *, text: str = "", source: str
) -> Node:
    """A page or row with its properties as fields."""
    fields: dict[str, FieldValue] = {}
    tags: list[str] = []
    for name, value in properties.items():
        shown = _RELATION.sub(lambda link: link[1], value).strip()
        day = written_date(shown.rpartition("→")[2])
        if name.casefold() in ("tags", "tag"):
            tags += [tag.strip() for tag in shown.split(",") if tag.strip()]
        elif shown:  # of a stretch of days, something is due on the last
            whole = day is not None and ("→" not in shown or name.casefold() in _DUE)
            fields[name] = day.isoformat() if day and whole else typed(shown)
    created, changed = (_told(properties, word) for word in ("created", "last edited"))
    return Node(
        id=source_id, type=kind, title=title, text=text, parent=parent, position=place_of(title), fields=fields,
        tags=tuple(dict.fromkeys(tags)), source=source, created_at=created, updated_at=changed or created,
    )  # fmt: skip


def _told(properties: Mapping[str, str], word: str) -> datetime | None:
    """The moment that a property tells whose name begins with a word."""
    for name, value in properties.items():
        if name.casefold().removeprefix("date ").startswith(word):
            day = written_date(value)
            return moment(value) or (start_of(day) if day else None)
    return None


def _relations(source_id: str, properties: Mapping[str, str]) -> Iterator[Link]:
    for name, value in properties.items():
        for target in dict.fromkeys(match[3] for match in _RELATION.finditer(value)):
            yield Link(source=source_id, names=(target,), type="relation", label=name)


def _links(here: str, node: str, text: str) -> Iterator[Link]:
    """Links to other pages in a text without code: by the ids in their paths, else by the paths."""
    targets: dict[str, str] = {}
    for reference in inline.references(text):
        path = PurePosixPath(reference.target)
        if path.suffix.lower() in (*PAGES, ".csv"):
            page_id = _identified(path.stem)[0]
            targets.setdefault(page_id or _joined(here, reference.target), reference.label)
    for address in _ADDRESS.finditer(text):
        targets.setdefault(address[1], "")
    for target, label in targets.items():
        yield Link(source=node, names=(target,), label=label)


def _joined(here: str, target: str) -> str:
    parts: list[str] = []
    for part in (*PurePosixPath(here).parent.parts, *PurePosixPath(unquote(target)).parts):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _clean(text: str) -> str:
    return _TAG.sub("", text).strip()


def _read_database(page: _Page, rows: Iterable[_Page], parent: str, source_id: str) -> Iterator[Yielded]:
    """The database, and its rows without a page of their own."""
    try:
        table = [row for row in csv.reader(io.StringIO(page.entry.text())) if any(value.strip() for value in row)]
    except csv.Error as error:
        raise Refused(f"is no table ({error})") from error
    header = named_columns(table[0]) if table else ()
    yield Node(
        id=source_id, type="database", title=page.title, text="Columns: " + ", ".join(header), parent=parent,
        position=place_of(page.title), source=page.name,
    )  # fmt: skip
    yield from (Named(source_id, page.id, "id"), Named(source_id, page.title), Named(source_id, page.name, "path"))
    names = BlockNames()
    for row in _without_page(table[1:], [_heading(row_page) for row_page in rows]):
        node = f"{source_id}#{names.name('row', chr(0).join(row))}"
        values = dict(zip(header[1:], row[1:], strict=False))
        yield _described(node, "db_row", row[0].strip(), source_id, values, source=page.name)
        yield from _relations(node, values)


def _without_page(rows: Sequence[list[str]], titles: Sequence[str]) -> list[list[str]]:
    """The rows that have no page.

    A title may differ: a page's title may say "Yesterday" for a day, its table does not.
    """
    left = Counter(titles)
    alone = []
    for row in rows:
        title = row[0].strip()
        if left[title] > 0:
            left[title] -= 1
        else:
            alone.append(row)
    return alone if len(alone) > left.total() else []


def _heading(page: _Page) -> str:
    try:
        with page.entry.open() as file:
            return _titled(file.read(4096).decode("utf-8-sig", "replace"), page.title)[0]
    except (OSError, Refused):
        return page.title


def _documents(path: Path, pages: Iterable[_Page], top: str) -> Iterator[Source | Skipped]:
    """Attached documents of an unpacked export, below the pages whose folders they stand in."""
    page_ids = {page.id for page in pages}
    for entry in walk(path):
        if isinstance(entry, FoundFile) and entry.path.suffix.lower() not in (*PAGES, ".csv"):
            above = next((name for part in PurePosixPath(entry.key).parents if (name := _identified(part.name)[0])), "")
            parent = identity("notion", above) if above in page_ids else top
            if is_document(entry.path):
                yield plain_source(replace(entry, parent=parent))
            else:
                yield Skipped(str(entry.path), "is neither a page, a database nor a document")
