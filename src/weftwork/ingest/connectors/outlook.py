"""Outlook's messages (`.msg`) as letters: headers, text and attachments, as `.eml` would have them.

Properties are those of [MS-OXMSG] and [MS-OXPROPS]: a stream for each that is text, all others in one table.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email import policy
from email.message import EmailMessage
from email.parser import HeaderParser
from email.utils import format_datetime
from hashlib import blake2b

from weftwork.ingest.connectors.compound_file import streams
from weftwork.ingest.events import Refused

_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_TABLE = "__properties_version1.0"
SUBJECT, HEADERS, BODY, HTML, ID, ANSWERS = 0x0037, 0x007D, 0x1000, 0x1013, 0x1035, 0x1042
SENDER, ADDRESS, SMTP, SENT, RECEIVED = 0x0C1A, 0x0C1F, 0x5D01, 0x0039, 0x0E06
FILE, LONG_FILE, DATA = 0x3704, 0x3707, 0x3701
NAME, MAIL, OTHER_MAIL, KIND = 0x3001, 0x39FE, 0x3003, 0x0C15
_KINDS = {1: "To", 2: "Cc"}
_HEADERS = ("Message-ID", "In-Reply-To", "References", "Date")


def letter_of(data: bytes) -> bytes:
    """An Outlook message as the bytes of an `.eml` file; raise Refused if it is none."""
    parts = streams(data)
    message = _Properties(parts, "")
    if not any(name.startswith("__substg1.0_") for name in parts):
        raise Refused("is no Outlook message")
    letter = EmailMessage(policy=policy.SMTP)
    _put(letter, "From", _person(message.text(SENDER), message.text(SMTP) or message.text(ADDRESS)))
    for kind, people in _recipients(parts).items():
        _put(letter, kind, ", ".join(people))
    _put(letter, "Subject", message.text(SUBJECT))
    _put_headers(letter, message)
    html = message.text(HTML) or message.binary(HTML).decode("utf-8", "replace")
    letter.set_content(message.text(BODY) or "\n")
    if html.strip():
        letter.add_alternative(html, subtype="html")
    for folder in _folders(parts, "__attach_version1.0_"):
        file = _Properties(parts, folder)
        name = file.text(LONG_FILE) or file.text(FILE) or "attachment"
        content = file.binary(DATA)
        textual = name.lower().endswith((".txt", ".md", ".csv"))
        letter.add_attachment(content, maintype="text" if textual else "application",
                              subtype="plain" if textual else "octet-stream", filename=_line(name))  # fmt: skip
    for number, part in enumerate(letter.walk()):
        if part.is_multipart():  # not by chance: the same message is the same letter
            part.set_boundary(f"=-{blake2b(data, digest_size=16).hexdigest()}-{number}")
    return letter.as_bytes()


def _put_headers(letter: EmailMessage, message: _Properties) -> None:
    """Its place in a thread and its date: as they came over the network, else from properties."""
    transported = HeaderParser().parsestr(message.text(HEADERS))
    sent = message.time(SENT) or message.time(RECEIVED)
    own = {
        "Message-ID": message.text(ID), "In-Reply-To": message.text(ANSWERS),
        "Date": format_datetime(sent) if sent else "",
    }  # fmt: skip
    for name in _HEADERS:
        _put(letter, name, str(transported.get(name) or "") or own.get(name, ""))


def _put(letter: EmailMessage, name: str, value: str) -> None:
    if value := _line(value):
        letter[name] = value


def _line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _person(name: str, address: str) -> str:
    name, address = _line(name).replace('"', "'"), _line(address)
    address = address if "@" in address else ""
    return f'"{name}" <{address}>' if name and address and name != address else address or f'"{name}" <>' * bool(name)


def _recipients(parts: Mapping[str, bytes]) -> dict[str, list[str]]:
    people: dict[str, list[str]] = {}
    for folder in _folders(parts, "__recip_version1.0_"):
        one = _Properties(parts, folder)
        who = _person(one.text(NAME), one.text(MAIL) or one.text(OTHER_MAIL))
        if who and (kind := _KINDS.get(one.number(KIND))):
            people.setdefault(kind, []).append(who)
    return people


def _folders(parts: Mapping[str, bytes], prefix: str) -> list[str]:
    """The folders at the top that begin with a prefix; those of a message that is attached are not."""
    return sorted({name.partition("/")[0] + "/" for name in parts if name.startswith(prefix)})


class _Properties:
    """The properties of a message, a recipient or an attachment."""

    def __init__(self, parts: Mapping[str, bytes], folder: str) -> None:
        self._parts = parts
        self._folder = folder
        table = parts.get(f"{folder}{_TABLE}", b"")[8 if folder else 32 :]
        self._values = {
            struct.unpack_from("<HH", table, place)[1]: table[place + 8 : place + 16]
            for place in range(0, len(table) - 15, 16)
        }

    def text(self, number: int) -> str:
        wide = self._parts.get(f"{self._folder}__substg1.0_{number:04X}001F")
        if wide is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._parts.get(f"{self._folder}__substg1.0_{number:04X}001E", b"")
        return narrow.decode("cp1252", "replace").rstrip("\0")

    def binary(self, number: int) -> bytes:
        return self._parts.get(f"{self._folder}__substg1.0_{number:04X}0102", b"")

    def number(self, number: int) -> int:
        value = self._values.get(number, b"")
        return int.from_bytes(value[:4], "little")

    def time(self, number: int) -> datetime | None:
        ticks = int.from_bytes(self._values.get(number, b""), "little")
        try:
            return _EPOCH + timedelta(microseconds=ticks // 10) if ticks else None
        except OverflowError:
            return None
