"""Tables: CSV and its relatives, a node for each row."""

from __future__ import annotations

import csv
import errno
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import IO

from weftwork.ingest.connectors.block_ids import BlockNames
from weftwork.ingest.connectors.folders import Found, walk
from weftwork.ingest.connectors.plain import modified, path_names
from weftwork.ingest.connectors.protocol import Named, Source, Unread, Yielded
from weftwork.ingest.events import Note, Refused, Skipped
from weftwork.ingest.files import identity, shown
from weftwork.types import FieldValue, Node

SUFFIXES = (".csv", ".tsv", ".tab")
PART = 2_000
"""Rows that are one unit of change: a row that is added to a long table costs one part."""
LONGEST_LINE = 10_000_000
LONG = 300
"""Characters above which a value is the text of its row, not a field."""
_KEYS = ("id", "uuid", "key", "_id", "uid")
_TITLES = ("title", "name", "subject", "summary", "task", "label", "question")
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,14})")
_DECIMAL = re.compile(r"-?(?:0|[1-9]\d{0,14})\.\d{1,15}")
_SAMPLE = 64_000


class Csv:
    """Files of comma-, semicolon- or tab-separated values."""

    name = "csv"
    summary = "CSV and TSV tables: a node for each row"
    version = 1

    def recognises(self, path: Path) -> float:
        """By the extension, and that there are columns."""
        if path.suffix.lower() not in SUFFIXES or not path.is_file():
            return 0.0
        try:
            with path.open("rb") as file:
                return 0.8 if b"\0" not in file.read(1000) else 0.0
        except OSError:
            return 0.0

    def sources(self, path: Path) -> Iterator[Source | Unread | Skipped]:
        """The table, then its rows in parts."""
        for found in walk(path):
            if isinstance(found, Found):
                yield from table_sources(found)
            else:
                yield found


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is written down."""

    encoding: str
    delimiter: str
    header: tuple[str, ...]
    begin: int
    """Where its first row of values begins, in bytes."""


@dataclass(frozen=True, slots=True)
class _Part:
    number: int
    start: int
    end: int


def table_sources(found: Found) -> Iterator[Source | Unread | Skipped]:
    """A table, and its rows in parts, each read from its place in the file."""
    what = shown(str(found.path))
    own = identity("table", found.name)
    try:
        layout = layout_of(found.path)
    except Refused as refused:
        yield Skipped(what, str(refused))
        return
    except OSError as error:
        yield Unread(found.key, what, f"cannot be read ({error.strerror})")
        return
    about = repr((layout, what))
    try:
        parts = _parts(found.path, layout)
        some = list(islice(parts, 2))
        if len(some) < 2:
            yield Source(
                key=found.key, id=own, what=what, fingerprint=found.fingerprint, stamp=found.stamp,
                read=partial(_read_whole, found, layout, some),
            )  # fmt: skip
            return
        yield Source(
            key=found.key, id=own, what=what, movable=False, fingerprint=lambda: about,
            read=partial(_read_table, found, layout),
        )  # fmt: skip
        for part in chain(some, parts):
            yield Source(
                key=f"{found.key}/{part.number}", id=f"{own}/{part.number}", movable=False,
                what=f"{what}: from row {part.number * PART + 1:,}", fingerprint=partial(_content, found.path, part),
                read=partial(_read_part, found, layout, part, own),
            )  # fmt: skip
    except OSError as error:
        yield Unread(f"{found.key}/", what, f"cannot be read ({error.strerror})")


def layout_of(path: Path) -> Layout:
    """The encoding, the sign between values, and the names of the columns."""
    encoding = _encoding(path)
    with path.open("rb") as file:
        sample = file.read(_SAMPLE).decode(encoding, "replace")
    if not sample.strip():
        raise Refused("is empty")
    if "\0" in sample:
        raise Refused("is not text, or UTF-16: save it as UTF-8")
    lines = sample.splitlines(keepends=True)
    skipped, told = "", ""
    if lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5:  # as Excel writes it
        skipped, told, lines = lines[0], lines[0][4], lines[1:]
    delimiter = told or _delimiter(lines)
    rows = csv.reader(lines, delimiter=delimiter)
    try:
        first = next(rows, [])
    except csv.Error as error:
        raise Refused(f"is no table ({error})") from error
    if not _is_header(first):
        return Layout(encoding, delimiter, _named([""] * len(first)), _bytes(skipped, encoding))
    begin = skipped + "".join(lines[: rows.line_num])
    return Layout(encoding, delimiter, _named(first), _bytes(begin, encoding))


def _bytes(text: str, encoding: str) -> int:
    """How many bytes of the file a text at its beginning takes."""
    return len(text.encode(encoding, "replace")) if text or encoding != "utf-8-sig" else 3


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_SAMPLE)
    if data.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    try:
        data[: data.rfind(b"\n") + 1 or None].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _delimiter(lines: Sequence[str]) -> str:
    """The sign that divides most lines into the same number of values."""
    best, most = ",", 0
    for sign in (",", ";", "\t", "|"):
        counts = [len(row) for row in csv.reader(list(lines[:50])[: max(1, len(lines) - 1)], delimiter=sign)]
        width = max(set(counts), key=counts.count, default=1)
        score = counts.count(width) * (width - 1)
        if width > 1 and score > most:
            best, most = sign, score
    return best


def _is_header(row: Sequence[str]) -> bool:
    """Whether a first row names columns: texts, none twice, none a number."""
    names = [value.strip().casefold() for value in row]
    some = [name for name in names if name]
    return (
        bool(some)
        and len(set(some)) == len(some)
        and not any(_WHOLE.fullmatch(n) or _DECIMAL.fullmatch(n) for n in some)
    )


def _named(row: Sequence[str]) -> tuple[str, ...]:
    return tuple(" ".join(value.split()) or f"column {number + 1}" for number, value in enumerate(row))


def _parts(path: Path, layout: Layout) -> Iterator[_Part]:
    """Where each part lies: a row may go over several lines, so that the reader has to say where it ends."""
    with path.open("rb") as file:
        file.seek(layout.begin)
        lines = _Lines(file, layout.encoding)
        rows = csv.reader(lines, delimiter=layout.delimiter)
        number, start, count = 0, lines.place, 0
        while True:
            try:
                if next(rows, None) is None:
                    break
            except csv.Error:
                pass  # said where the row is read
            count += 1
            if count == PART:
                yield _Part(number, start, lines.place)
                number, start, count = number + 1, lines.place, 0
        if count:
            yield _Part(number, start, lines.place)


class _Lines:
    """The lines of a file, decoded, with how far they were read."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._encoding = encoding.removesuffix("-sig")
        self.place = file.tell()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline(LONGEST_LINE)
        if not line:
            raise StopIteration
        if len(line) == LONGEST_LINE:
            raise OSError(errno.EFBIG, f"it has a line of more than {LONGEST_LINE // 1_000_000} MB")
        self.place += len(line)
        return line.decode(self._encoding, "replace")


def _content(path: Path, part: _Part) -> str:
    with path.open("rb") as file:
        file.seek(part.start)
        return blake2b(file.read(part.end - part.start), digest_size=16).hexdigest()


def _read_table(found: Found, layout: Layout, own: str) -> Iterator[Yielded]:
    if layout.encoding == "cp1252":
        yield Note(shown(str(found.path)), "is not UTF-8: it is read as Windows-1252")
    yield Node(
        id=own, type="database", title=shown(found.path.stem), text="Columns: " + ", ".join(layout.header),
        parent=found.parent, position=found.position, source=shown(str(found.path)), updated_at=modified(found),
    )  # fmt: skip
    yield Named(own, shown(found.path.stem))
    yield from path_names(own, found.key)


def _read_whole(found: Found, layout: Layout, parts: Sequence[_Part], own: str) -> Iterator[Yielded]:
    """A short table: its rows stand right below it."""
    yield from _read_table(found, layout, own)
    for part in parts:
        yield from _rows(found, layout, part, own)


def _read_part(found: Found, layout: Layout, part: _Part, table: str, own: str) -> Iterator[Yielded]:
    """Rows of a long table, on a shelf that says which they are."""
    yield Node(
        id=own, type="folder", title=f"{shown(found.path.stem)} from row {part.number * PART + 1:,}", parent=table,
        position=part.number, source=shown(str(found.path)), updated_at=modified(found),
    )  # fmt: skip
    yield from _rows(found, layout, part, own)


def _rows(found: Found, layout: Layout, part: _Part, own: str) -> Iterator[Yielded]:
    source = shown(str(found.path))
    with found.path.open("rb") as file:
        file.seek(part.start)
        lines = _Lines(io.BytesIO(file.read(part.end - part.start)), layout.encoding)
    rows = csv.reader(lines, delimiter=layout.delimiter)
    names, taken, number = BlockNames(), set[str](), part.number * PART
    while True:
        number += 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield Skipped(f"{source}: row {number:,}", str(error))
            continue
        if row is None:
            return
        if any(value.strip() for value in row):
            if len(row) > len(layout.header):
                yield Note(f"{source}: row {number:,}", f"has {len(row)} values for {len(layout.header)} columns")
            values = dict(zip(layout.header, row, strict=False))
            key = row_key(values)
            name = key if key and key not in taken else names.name("row", "\0".join(row))
            taken.add(name)
            yield replace(row_node(values, f"{own}#{name}", own, number, source), updated_at=modified(found))


def row_key(values: Mapping[str, str]) -> str:
    """The id that a row has of its own."""
    known = {name.casefold(): value.strip() for name, value in values.items()}
    key = next((known[name] for name in _KEYS if known.get(name)), "")
    return key if key.isprintable() and len(key) <= 200 and "~" not in key else ""


def row_node(values: Mapping[str, str], name: str, parent: str, position: int, source: str) -> Node:
    """A row: one value is its title, long ones its text, all others its fields."""
    title = title_of(values)
    texts = [value.strip() for value in values.values() if len(value) > LONG]
    fields = {column: typed(value) for column, value in values.items() if value.strip() and len(value) <= LONG}
    return Node(
        id=name, type="db_row", title=title, text="\n\n".join(texts), parent=parent, position=position, fields=fields,
        source=source,
    )  # fmt: skip


def title_of(values: Mapping[str, str]) -> str:
    """What a row is called: the value of a column that says so, or the first that is no number."""
    known = {name.casefold().strip(): value.strip() for name, value in values.items()}
    told: Iterable[str] = (known.get(name, "") for name in _TITLES)
    others = (value for value in known.values() if value and not isinstance(typed(value), (int, float)))
    title = next((value for value in told if value), "") or next(others, "") or next(iter(known.values()), "")
    return " ".join(title.split())[:200]


def typed(value: str) -> FieldValue:
    """A value as a number where it is written as one."""
    text = value.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text
