"""Signed envelopes of mail (S/MIME, `.p7m`): the letter that is inside. Signatures are not checked.

The format is CMS (RFC 5652) in BER: values with a tag, a length and a content, nested.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from weftwork.ingest.events import Refused

SIGNED = bytes.fromhex("2a864886f70d010702")
DATA = bytes.fromhex("2a864886f70d010701")
ENCRYPTED = {bytes.fromhex("2a864886f70d010703"), bytes.fromhex("2a864886f70d0109100117")}
"""Enveloped data, and the kind of it that is authenticated."""
DEEPEST = 20
_SEQUENCE, _OBJECT, _OCTETS, _WRAPPED = 0x30, 0x06, 0x04, 0xA0


def signed_content(data: bytes) -> bytes:
    """The content of a signed message; raise Refused where there is none, or where it is encrypted."""
    der = _binary(data)
    try:
        kind, content = _content_info(der)
        if kind in ENCRYPTED:
            raise Refused("is encrypted: export the letter as .eml from a program that can open it")
        if kind != SIGNED:
            raise Refused("is no signed letter")
        signed = next(value for tag, value in _values(content) if tag == _SEQUENCE)
        inner = [value for tag, value in _values(signed) if tag == _SEQUENCE]
        kind, wrapped = _content_info(_sequence(inner[0]))
        text = b"".join(_octets(wrapped, 0))
    except (IndexError, StopIteration) as error:
        raise Refused("is a damaged envelope") from error
    if kind != DATA or not wrapped:
        raise Refused("is the signature of a letter, not text")
    return text


def _binary(data: bytes) -> bytes:
    """The envelope as bytes: it may be written in base64, with or without lines around it."""
    if data[:1] == b"\x30":
        return data
    lines = [line for line in data.split() if not line.startswith(b"-----")]
    try:
        return base64.b64decode(b"".join(lines), validate=True)
    except binascii.Error as error:
        raise Refused("is no envelope that can be read") from error


def _sequence(content: bytes) -> bytes:
    return b"\x30\x84" + len(content).to_bytes(4, "big") + content


def _content_info(data: bytes) -> tuple[bytes, bytes]:
    """The kind of a message, and its content."""
    tag, outer = next(_values(data))
    values = list(_values(outer)) if tag == _SEQUENCE else []
    if not values or values[0][0] != _OBJECT:
        raise IndexError("no kind")
    return values[0][1], next((value for tag, value in values[1:] if tag == _WRAPPED), b"")


def _octets(data: bytes, depth: int) -> Iterator[bytes]:
    """The bytes of a string, which may be written in pieces."""
    for tag, value in _values(data):
        if tag == _OCTETS:
            yield value
        elif tag == _OCTETS | 0x20 and depth < DEEPEST:
            yield from _octets(value, depth + 1)


def _values(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Tags and contents, in order."""
    place = 0
    while place < len(data) and data[place : place + 2] != b"\0\0":
        tag, start, end, after = _bounds(data, place, 0)
        yield tag, data[start:end]
        place = after


def _bounds(data: bytes, place: int, depth: int) -> tuple[int, int, int, int]:
    """The tag of a value, where its content begins and ends, and where the next value begins."""
    if depth > DEEPEST:
        raise IndexError("nested too deeply")
    tag, length = data[place], data[place + 1]
    start = place + 2
    if length == 0x80:  # up to two zeros
        at = start
        while data[at] or data[at + 1]:
            at = _bounds(data, at, depth + 1)[3]
        return tag, start, at, at + 2
    if length > 0x80:
        size = length - 0x80
        length = int.from_bytes(data[start : start + size], "big")
        start += size
    if start + length > len(data):
        raise IndexError("cut off")
    return tag, start, start + length, start + length
