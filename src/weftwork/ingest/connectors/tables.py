"""Tables: CSV and TSV, a node for each row."""

from __future__ import annotations

import codecs
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
from weftwork.ingest.connectors.folders import FoundFile, walk_files
from weftwork.ingest.connectors.plain import modified, path_names
from weftwork.ingest.connectors.protocol import Listed, Named, Source, Unread, Yielded
from weftwork.ingest.encodings import encoding_of, is_mostly_utf8
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
    version = 2

    def recognises(self, path: Path) -> float:
        """A text file with the extension of a table."""
        if path.suffix.lower() not in SUFFIXES or not path.is_file():
            return 0.0
        try:
            with path.open("rb") as file:
                return 0.8 if b"\0" not in file.read(1000) else 0.0
        except OSError:
            return 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """The table, then its rows in parts."""
        return walk_files(path, table_sources)


@dataclass(frozen=True, slots=True)
class Layout:
    """The encoding, delimiter and header of a table."""

    encoding: str
    delimiter: str
    header: tuple[str, ...]
    begin: int
    """The byte offset of its first row of values."""


@dataclass(frozen=True, slots=True)
class _Part:
    number: int
    start: int
    end: int


def table_sources(file: FoundFile) -> Iterator[Listed]:
    """A table, and its rows in parts, each read from its offset in the file."""
    what = shown(str(file.path))
    table_id = identity("table", file.name)
    try:
        layout = layout_of(file.path)
    except Refused as refused:
        yield Skipped(what, str(refused))
        return
    except OSError as error:
        yield Unread(file.key, what, f"cannot be read ({error.strerror})")
        return
    about = repr((layout, what))
    try:
        parts = _parts(file.path, layout)
        some = list(islice(parts, 2))
        if len(some) < 2:
            yield Source(
                key=file.key, id=table_id, what=what, fingerprint=file.fingerprint, stamp=file.stamp,
                read=partial(_read_table, file, layout, parts=some),
            )  # fmt: skip
            return
        yield Source(
            key=file.key, id=table_id, what=what, movable=False, fingerprint=lambda: about,
            read=partial(_read_table, file, layout),
        )  # fmt: skip
        for part in chain(some, parts):
            yield Source(
                key=f"{file.key}/{part.number}", id=f"{table_id}/{part.number}", movable=False,
                what=f"{what}: from row {part.number * PART + 1:,}", fingerprint=partial(_content, file.path, part),
                read=partial(_read_part, file, layout, part, table_id),
            )  # fmt: skip
    except OSError as error:
        yield Unread(f"{file.key}/", what, f"cannot be read ({error.strerror})")


def layout_of(path: Path) -> Layout:
    """Detect the encoding, the delimiter and the header."""
    encoding = _encoding(path)
    with path.open("rb") as file:
        sample = file.read(_SAMPLE).decode(encoding, "replace")
    mark = "\ufeff" if sample.startswith("\ufeff") else ""
    sample = sample.removeprefix(mark)
    if not sample.strip():
        raise Refused("is empty")
    if "\0" in sample:
        raise Refused("is not text")
    lines = sample.splitlines(keepends=True)
    skipped, declared = "", ""
    if lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5:  # as Excel writes it
        skipped, declared, lines = lines[0], lines[0][4], lines[1:]
    delimiter = declared or _delimiter(lines)
    rows = csv.reader(lines, delimiter=delimiter)
    try:
        first = next(rows, [])
    except csv.Error as error:
        raise Refused(f"is no table ({error})") from error
    header = "".join(lines[: rows.line_num]) if _is_header(first) else ""
    begin = len((mark + skipped + header).encode(encoding, "replace"))
    return Layout(encoding, delimiter, named_columns(first if header else [""] * len(first)), begin)


def _encoding(path: Path) -> str:
    """The encoding of the first lines; Windows-1252 where that is not certain."""
    with path.open("rb") as file:
        data = file.read(_SAMPLE)
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data[:1000]
    end = len(data) if len(data) < _SAMPLE else data.rfind(b"\n") + 1
    try:
        encoding = encoding_of(data[: end // 4 * 4 if wide and len(data) == _SAMPLE else end])
    except Refused:
        if wide:
            raise
        return "utf-8" if is_mostly_utf8(data) else "cp1252"
    if encoding in ("utf-16", "utf-32"):  # a range of rows is decoded without the mark
        return encoding + ("-be" if data[:1] in (b"\0", b"\xfe") else "-le")
    return encoding.removesuffix("-sig")


def _delimiter(lines: Sequence[str]) -> str:
    """The delimiter that splits most lines into the same number of values."""
    best, most = ",", 0
    for sign in (",", ";", "\t", "|"):
        counts = [len(row) for row in csv.reader(list(lines[:50])[: max(1, len(lines) - 1)], delimiter=sign)]
        width = max(set(counts), key=counts.count, default=1)
        score = counts.count(width) * (width - 1)
        if width > 1 and score > most:
            best, most = sign, score
    return best


def _is_header(row: Sequence[str]) -> bool:
    """Return True for a row of distinct texts without numbers."""
    names = [value.strip().casefold() for value in row]
    some = [name for name in names if name]
    return (
        bool(some)
        and len(set(some)) == len(some)
        and not any(_WHOLE.fullmatch(n) or _DECIMAL.fullmatch(n) for n in some)
    )


def named_columns(row: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns of a table by its first row; those without one are numbered."""
    return tuple(" ".join(value.split()) or f"column {number + 1}" for number, value in enumerate(row))


def _parts(path: Path, layout: Layout) -> Iterator[_Part]:
    """The byte ranges of the parts; only the CSV reader knows where a row of several lines ends."""
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
    """The decoded lines of a file, and the offset reached."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._encoding = encoding
        self._end = "\n".encode(encoding)
        self.place = file.tell()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline(LONGEST_LINE)
        unit = len(self._end)
        while unit > 1 and line and len(line) < LONGEST_LINE:  # the byte of a line end may be half of another letter
            line += self._file.read(-len(line) % unit)
            if line.endswith(self._end) or not (more := self._file.readline(LONGEST_LINE)):
                break
            line += more
        if not line:
            raise StopIteration
        if len(line) >= LONGEST_LINE:
            raise OSError(errno.EFBIG, f"it has a line of more than {LONGEST_LINE // 1_000_000} MB")
        self.place += len(line)
        return line.decode(self._encoding, "replace")


def _content(path: Path, part: _Part) -> str:
    with path.open("rb") as file:
        file.seek(part.start)
        return blake2b(file.read(part.end - part.start), digest_size=16).hexdigest()


def _read_table(file: FoundFile, layout: Layout, source_id: str, parts: Sequence[_Part] = ()) -> Iterator[Yielded]:
    """Yield a table; the rows of a short one stand right below it."""
    if not layout.encoding.startswith("utf"):
        encoding = "Windows-1252" if layout.encoding == "cp1252" else layout.encoding.upper()
        yield Note(shown(str(file.path)), f"is not UTF-8: it is read as {encoding}")
    yield Node(
        id=source_id, type="database", title=shown(file.path.stem), text="Columns: " + ", ".join(layout.header),
        parent=file.parent, position=file.position, source=shown(str(file.path)), updated_at=modified(file),
    )  # fmt: skip
    yield Named(source_id, shown(file.path.stem))
    yield from path_names(source_id, file.key)
    for part in parts:
        yield from _rows(file, layout, part, source_id)


def _read_part(file: FoundFile, layout: Layout, part: _Part, table: str, source_id: str) -> Iterator[Yielded]:
    """Yield rows of a long table below a folder for their range."""
    yield Node(
        id=source_id, type="folder", title=f"{shown(file.path.stem)} from row {part.number * PART + 1:,}", parent=table,
        position=part.number, source=shown(str(file.path)), updated_at=modified(file),
    )  # fmt: skip
    yield from _rows(file, layout, part, source_id)


def _rows(file: FoundFile, layout: Layout, part: _Part, source_id: str) -> Iterator[Yielded]:
    source = shown(str(file.path))
    with file.path.open("rb") as stream:
        stream.seek(part.start)
        lines = _Lines(io.BytesIO(stream.read(part.end - part.start)), layout.encoding)
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
            yield replace(row_node(values, f"{source_id}#{name}", source_id, number, source), updated_at=modified(file))


def row_key(values: Mapping[str, str]) -> str:
    """The id in a row's id column; empty if there is none."""
    by_name = {name.casefold(): value.strip() for name, value in values.items()}
    key = next((by_name[name] for name in _KEYS if by_name.get(name)), "")
    return key if key.isprintable() and len(key) <= 200 and "~" not in key else ""


def row_node(values: Mapping[str, str], name: str, parent: str, position: int, source: str) -> Node:
    """The node of a row: one value is its title, long ones its text, all others its fields."""
    title = title_of(values)
    texts = [value.strip() for value in values.values() if len(value) > LONG]
    fields = {column: typed(value) for column, value in values.items() if value.strip() and len(value) <= LONG}
    return Node(
        id=name, type="db_row", title=title, text="\n\n".join(texts), parent=parent, position=position, fields=fields,
        source=source,
    )  # fmt: skip


def title_of(values: Mapping[str, str]) -> str:
    """The value of a title column, or the first that is no number."""
    by_name = {name.casefold().strip(): value.strip() for name, value in values.items()}
    candidates: Iterable[str] = (by_name.get(name, "") for name in _TITLES)
    others = (value for value in by_name.values() if value and not isinstance(typed(value), (int, float)))
    title = next((value for value in candidates if value), "") or next(others, "") or next(iter(by_name.values()), "")
    return " ".join(title.split())[:200]


def typed(value: str) -> FieldValue:
    """Convert a value that is written as a number."""
    text = value.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text
