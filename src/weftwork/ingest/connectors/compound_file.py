"""Compound files (OLE), the container of Outlook's messages: streams by their paths.

Written after [MS-CFB] by Microsoft. Whatever is inconsistent raises `Refused`; chains that do not end are cut.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from weftwork.ingest.events import Refused

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_FREE = 0xFFFFFFFA
"""The first number that is no sector."""
_STREAM, _ROOT = 2, 5
DEEPEST = 8


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    kind: int
    left: int
    right: int
    child: int
    start: int
    size: int


def streams(data: bytes) -> dict[str, bytes]:
    """The streams of a compound file, by their paths with `/`."""
    try:
        return _File(data).streams()
    except (struct.error, IndexError, UnicodeDecodeError, OverflowError) as error:
        raise Refused(f"is a damaged compound file ({error})") from error


class _File:
    def __init__(self, data: bytes) -> None:
        if not data.startswith(MAGIC):
            raise Refused("is no compound file")
        self._data = data
        shift, small_shift = struct.unpack_from("<HH", data, 30)
        if shift not in (9, 12) or small_shift != 6:
            raise Refused("is a damaged compound file (its sectors have an unknown size)")
        self._size, self._small_size = 1 << shift, 1 << small_shift
        directory, _, self._cutoff, small_table, _, more, _ = struct.unpack_from("<7I", data, 48)
        tables = [number for number in struct.unpack_from("<109I", data, 76) if number < _FREE]
        seen: set[int] = set()
        while more < _FREE and more not in seen:
            seen.add(more)
            numbers = self._numbers(self._sector(more))
            tables += [number for number in numbers[:-1] if number < _FREE]
            more = numbers[-1]
        self._table = [number for table in tables for number in self._numbers(self._sector(table))]
        self._entries = self._directory(self._chain(directory))
        self._small_table = self._numbers(self._chain(small_table)) if small_table < _FREE else []
        root = next((entry for entry in self._entries if entry.kind == _ROOT), None)
        self._small = self._chain(root.start)[: root.size] if root and root.start < _FREE else b""
        self._root = root

    def streams(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        seen: set[int] = set()
        waiting = [(self._root.child, "", 0)] if self._root else []
        while waiting:
            number, above, depth = waiting.pop()
            if number >= _FREE or number in seen or depth > DEEPEST:
                continue
            seen.add(number)
            entry = self._entries[number]
            waiting += [(entry.left, above, depth), (entry.right, above, depth)]
            if entry.kind == _STREAM:
                found[above + entry.name] = self._content(entry)
            else:
                waiting.append((entry.child, f"{above}{entry.name}/", depth + 1))
        return found

    def _content(self, entry: _Entry) -> bytes:
        if entry.size >= self._cutoff:
            return self._chain(entry.start)[: entry.size]
        size = self._small_size
        numbers = _followed(entry.start, self._small_table)
        return b"".join(self._small[number * size : (number + 1) * size] for number in numbers)[: entry.size]

    def _chain(self, start: int) -> bytes:
        return b"".join(self._sector(number) for number in _followed(start, self._table))

    def _sector(self, number: int) -> bytes:
        return self._data[(number + 1) * self._size : (number + 2) * self._size]

    @staticmethod
    def _numbers(data: bytes) -> list[int]:
        return list(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))

    @staticmethod
    def _directory(data: bytes) -> list[_Entry]:
        entries = []
        for place in range(0, len(data) - 127, 128):
            length, kind = struct.unpack_from("<HB", data, place + 64)
            left, right, child = struct.unpack_from("<3I", data, place + 68)
            start, size = struct.unpack_from("<II", data, place + 116)
            name = data[place : place + max(0, min(length, 64) - 2)].decode("utf-16-le")
            entries.append(_Entry(name, kind, left, right, child, start, size))
        return entries


def _followed(start: int, table: list[int]) -> list[int]:
    """The numbers of a chain; one that comes back to itself is cut."""
    way: dict[int, None] = {}
    while start < _FREE and start not in way:
        way[start] = None
        start = table[start]
    return list(way)
