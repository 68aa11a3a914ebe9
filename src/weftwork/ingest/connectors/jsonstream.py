"""Streaming the items of a large JSON array: memory holds one item, not the file."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from weftwork.ingest.events import Refused

CHUNK = 1 << 18
LARGEST_ITEM = 100_000_000
"""Characters above which an item is not waited for: the file is damaged, or no export."""
GLANCE = 20_000_000
"""Characters of a first item that are enough to recognise an export."""
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


class Damaged(Exception):
    """The file is not the expected JSON from here on; the message says how."""


@dataclass(frozen=True, slots=True)
class Item:
    """A value of an array with its source text."""

    value: Any
    text: str

    def packed(self) -> bytes:
        """Compress the text, to be parsed again when needed: parsed values take many times the memory."""
        return zlib.compress(self.text.encode("utf-8", "surrogatepass"), 1)


def unpacked(packed: bytes) -> Any:
    """Parse the value of a packed item."""
    try:
        return json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    except RecursionError as error:
        raise Refused("is nested too deeply") from error


def items(file: TextIO, key: str | None = None, largest: int = LARGEST_ITEM) -> Iterator[Item]:
    """Yield the items of the array at the top, or at a key of the object at the top.

    Items before the first damage, or before an item that is too large, are yielded; then `Damaged` is raised.
    """
    reader = _Reader(file, largest)
    if key is not None:
        _enter(reader, key)
    reader.expect("[")
    more = reader.peek() != "]"
    while more:
        yield reader.value()
        more = reader.peek() != "]"
        if more:
            reader.expect(",")


def _enter(reader: _Reader, key: str) -> None:
    """Advance to the value of a key in the object at the top."""
    reader.expect("{")
    while reader.peek() != "}":
        name = reader.value().value
        reader.expect(":")
        if name == key:
            return
        reader.value()
        if reader.peek() != "}":
            reader.expect(",")
    raise Damaged(f"has no {key!r}")


class _Reader:
    """A sliding window on a text."""

    def __init__(self, file: TextIO, largest: int) -> None:
        self._file = file
        self._largest = largest
        self._text = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """The next character that is not white space."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(CHUNK):
                raise Damaged("ends in the middle")

    def expect(self, character: str) -> None:
        """Skip the next character, which has to be this one."""
        actual = self.peek()
        if actual != character:
            raise Damaged(f"is not the JSON that was expected ({actual!r} where {character!r} should stand)")
        self._at += 1

    def value(self) -> Item:
        """Parse the next value."""
        self.peek()
        size = CHUNK
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise Damaged("is nested too deeply") from error
            except ValueError as error:
                if len(self._text) - self._at > self._largest or not self._more(size):
                    raise Damaged(f"is not JSON any more ({error})") from error
            else:
                if end < len(self._text) or not self._more(size):  # a number might go on
                    item = Item(value, self._text[self._at : end])
                    self._at = end
                    return item
            size *= 2  # a value is tried again only when twice as much is there, so that large ones cost no more

    def _more(self, size: int) -> bool:
        if self._ended:
            return False
        try:
            read = self._file.read(size)
        except UnicodeDecodeError as error:
            raise Damaged(f"is not UTF-8 text (byte {error.start})") from error
        self._ended = not read
        self._text, self._at = self._text[self._at :] + read, 0
        return bool(read)
