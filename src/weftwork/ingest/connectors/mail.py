"""Mail: mbox, .eml, .msg and signed .p7m files and folders of them, as threads of messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesHeaderParser, BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from functools import partial
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

from weftwork.clock import aware
from weftwork.ingest.connectors.compound_file import MAGIC
from weftwork.ingest.connectors.conversations import ChatMessage, Thread, thread_nodes
from weftwork.ingest.connectors.exports import digest, export_top, names_in
from weftwork.ingest.connectors.files import file_sources
from weftwork.ingest.connectors.folders import FoundFile, walk
from weftwork.ingest.connectors.htmltext import text_of
from weftwork.ingest.connectors.outlook import letter_of
from weftwork.ingest.connectors.protocol import Listed, Source, Unread, Yielded
from weftwork.ingest.connectors.signed_mail import signed_content
from weftwork.ingest.events import Note, Refused, Skipped
from weftwork.ingest.files import identity, shown
from weftwork.types import FieldValue, Node

LARGEST_LETTER = 100_000_000
LONGEST_LINE = 1_000_000
"""Bytes read at once: a longer line is read in pieces."""
LARGEST_ATTACHMENT = 1_000_000
"""Bytes of a text that was attached and is taken."""
ENVELOPES = {".msg": letter_of, ".p7m": signed_content, ".p7s": signed_content}
"""Files that hold one letter in another format, with what opens them."""
_SIGNATURES = ("application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature")
_SIGNED = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_BEGIN = re.compile(rb"From \S+.*\d{4}\s*$")
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_HEADER = re.compile(rb"[!-9;-~]+:")
_REPLY = re.compile(r"^\s*(?:(?:re|aw|sv|fwd?|wg|tr|rv)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)
_ID = re.compile(r"<([^<>\s]+)>")
_UNSOUND = (ValueError, LookupError, TypeError, AttributeError, AssertionError)
"""Errors of the mail parser on malformed mail."""


class Mail:
    """Letters, threaded by their References."""

    name = "mail"
    summary = "Mail: mbox, .eml, .msg and .p7m files and folders of them"
    version = 3

    def recognises(self, path: Path) -> float:
        """A file that begins like a mail or mbox, or a folder of mostly such files."""
        if path.is_dir():
            names = [name.lower() for name in names_in(path, 500)]
            letters = [name for name in names if name.endswith((".eml", ".mbox", ".mbox/mbox", ".msg"))]
            return 0.8 if letters and len(letters) * 2 > len(names) else 0.0
        try:
            with path.open("rb") as file:
                begin = file.read(4096)
        except OSError:
            return 0.0
        if path.suffix.lower() in ENVELOPES:
            return 0.9 if begin.startswith(MAGIC) or path.suffix.lower() != ".msg" else 0.0
        lines = begin.splitlines()[:6]
        if lines and _BEGIN.match(lines[0]) and any(_HEADER.match(line) for line in lines[1:3]):
            return 0.9
        return 0.9 if path.suffix.lower() == ".eml" and any(_HEADER.match(line) for line in lines) else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each thread, and what is no letter by its kind."""
        top = export_top(path, "mail", shown(path.resolve().stem))
        yield top
        letters: list[_Letter] = []
        for entry in walk(path):
            if isinstance(entry, (Unread, Skipped)):
                yield entry
            elif isinstance(entry, FoundFile):
                in_file = _letters_or_reason(entry.path)
                if not isinstance(in_file, list):
                    yield in_file
                    continue
                letters += in_file
                if not in_file and path.is_dir():
                    yield from file_sources(replace(entry, parent=top.id))
                elif not in_file:
                    yield Skipped(shown(str(entry.path)), "holds no letter")
        threads, twice = _threads([letter for letter in letters if letter.size <= LARGEST_LETTER])
        for letter in (letter for letter in letters if letter.size > LARGEST_LETTER):
            yield Skipped(letter.what, f"is larger than {LARGEST_LETTER // 1_000_000} MB")
        if twice:
            yield Skipped(shown(str(path)), f"{twice} letters are there twice")
        for root, several in threads.items():
            content = digest(*(letter.content for letter in several))
            yield Source(
                key=f"thread/{root}", id=identity("mail", root), what=several[0].subject or several[0].what,
                fingerprint=partial(str, content), stamp=content, read=partial(_read, several, top.id), movable=False,
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Letter:
    """The headers of a letter, and how to load it."""

    id: str
    answers: tuple[str, ...]
    """Ids of its predecessors, from the first letter of the thread on."""
    subject: str
    at: datetime | None
    content: str
    size: int
    what: str
    load: Callable[[], bytes]


def _letters_or_reason(path: Path) -> list[_Letter] | Unread | Skipped:
    try:
        return list(_letters(path))
    except OSError as error:
        return Unread("", shown(str(path)), f"cannot be read ({error.strerror})")
    except Refused as refused:
        return Skipped(shown(str(path)), str(refused))


def _letters(path: Path) -> Iterator[_Letter]:
    """The letters of a file; only their headers are held in memory."""
    if (suffix := path.suffix.lower()) in ENVELOPES:
        load = partial(_opened, path, ENVELOPES[suffix])
        yield _letter(load(), shown(str(path)), load)
        return
    with path.open("rb") as file:
        begin = file.readline(1000)
    spans = _spans(path) if _BEGIN.match(begin) else [(0, path.stat().st_size)]
    for number, (start, end) in enumerate(spans):
        what = f"{shown(str(path))}: letter {number + 1}" if _BEGIN.match(begin) else shown(str(path))
        load = partial(_load, path, start, end)
        if end - start > LARGEST_LETTER:
            yield _Letter("", (), "", None, "", end - start, what, load)
            continue
        data = load()
        if _HEADER.match(data.lstrip()):
            yield _letter(data, what, load)


def _opened(path: Path, open_envelope: Callable[[bytes], bytes]) -> bytes:
    """The letter in an envelope."""
    if path.stat().st_size > LARGEST_LETTER:
        raise Refused(f"is larger than {LARGEST_LETTER // 1_000_000} MB")
    letter = open_envelope(path.read_bytes())
    return letter if _HEADER.match(letter.lstrip()) else b"\n" + letter


def _load(path: Path, start: int, end: int) -> bytes:
    """Load a letter; unescape "From " lines of an mbox."""
    with path.open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
    return _ESCAPED.sub(rb"\1", data) if start else data


def _spans(path: Path) -> Iterator[tuple[int, int]]:
    """The byte spans of the letters of an mbox, without their "From " lines."""
    start, place, blank = -1, 0, True
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            if blank and line.startswith(b"From ") and _BEGIN.match(line):
                if start >= 0:
                    yield start, place
                start = place + len(line)
            place += len(line)
            blank = not line.strip()
    if start >= 0:
        yield start, place


def _letter(data: bytes, what: str, load: Callable[[], bytes]) -> _Letter:
    headers = BytesHeaderParser(policy=policy.default).parsebytes(data)
    content = _hash(data)
    ids = _ID.findall(_header(headers, "Message-ID"))
    answers = _ID.findall(_header(headers, "References")) or _ID.findall(_header(headers, "In-Reply-To"))[:1]
    subject = _header(headers, "Subject")
    return _Letter(
        ids[0] if ids else f"{content}@letter", tuple(answers), subject, _date(headers), content, len(data), what, load
    )


def _header(message: EmailMessage, name: str) -> str:
    """A header as text; empty if it is missing or malformed."""
    try:
        value = message.get(name)
        return " ".join(str(value).split()) if value is not None else ""
    except _UNSOUND:
        return ""


def _date(message: EmailMessage) -> datetime | None:
    try:
        return aware(parsedate_to_datetime(_header(message, "Date")))
    except (*_UNSOUND, OverflowError):
        return None


def _threads(letters: Sequence[_Letter]) -> tuple[dict[str, list[_Letter]], int]:
    """Letters by the id of their thread's first one, present or not, and the number of duplicates."""
    by_id: dict[str, _Letter] = {}
    above: dict[str, str] = {}
    for letter in letters:
        by_id.setdefault(letter.id, letter)
        way = [*dict.fromkeys(letter.answers), letter.id]
        for parent, child in pairwise(way):
            if parent != child:
                above.setdefault(child, parent)
    threads: dict[str, list[_Letter]] = {}
    for letter in by_id.values():
        threads.setdefault(_root(letter.id, above), []).append(letter)
    for several in threads.values():
        several.sort(key=lambda letter: (letter.at is None, letter.at.timestamp() if letter.at else 0.0))
    return threads, len(letters) - len(by_id)


def _root(name: str, above: dict[str, str]) -> str:
    """The first letter of a thread; of a cycle, the smallest id."""
    way: dict[str, None] = {}
    while name in above and name not in way:
        way[name] = None
        name = above[name]
    return min(list(way)[list(way).index(name) :]) if name in way else name


def _read(letters: Sequence[_Letter], top: str, source_id: str) -> Iterator[Yielded]:
    messages = []
    for letter in letters:
        message = BytesParser(policy=policy.default).parsebytes(_unchanged(letter))
        try:
            messages.append(_unwrapped(message))
        except Refused as refused:
            yield Note(letter.what, f"has no text: it {refused}")
            messages.append(message)
    chat_messages = [_said(letter, message) for letter, message in zip(letters, messages, strict=True)]
    first = letters[0]
    title = _REPLY.sub("", first.subject).strip() or "(no subject)"
    yield from thread_nodes(Thread(id=source_id, title=title, source=first.what, parent=top), chat_messages)
    for chat_message, message in zip(chat_messages, messages, strict=True):
        yield from _attached(message, f"{source_id}#{chat_message.key}", first.what)


def _unwrapped(message: EmailMessage) -> EmailMessage:
    """The letter with its signed content in place of the envelope."""
    if message.get_content_type() == "multipart/encrypted":
        raise Refused("is encrypted: export the letter from a program that can open it")
    if message.get_content_type() == "multipart/signed" and message.is_multipart():
        inner = next(iter(message.iter_parts()), None)
    elif message.get_content_type() in _SIGNED:
        data = message.get_payload(decode=True)
        inner = BytesParser(policy=policy.default).parsebytes(signed_content(data if isinstance(data, bytes) else b""))
    else:
        inner = None
    if not isinstance(inner, EmailMessage):
        return message
    for name in ("From", "To", "Cc", "Date", "Subject"):
        if name not in inner and _header(message, name):
            inner[name] = _header(message, name)
    return inner


def _unchanged(letter: _Letter) -> bytes:
    data = letter.load()
    if _hash(data) != letter.content:
        raise OSError(f"{letter.what} changed while it was read")
    return data


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _said(letter: _Letter, message: EmailMessage) -> ChatMessage:
    people = {name: _people(message, name) for name in ("From", "To", "Cc")}
    fields: dict[str, FieldValue] = {}
    for name, several in people.items():
        if several:
            fields[name.lower()] = ", ".join(f"{who} <{address}>" if who else address for who, address in several)
    if letter.subject:
        fields["subject"] = letter.subject
    if names := tuple(name for name, _ in _attachments(message)):
        fields["attachments"] = names
    who, address = people["From"][0] if people["From"] else ("", "")
    key = letter.id if letter.id.isprintable() else letter.content
    return ChatMessage(key=key, role="user", author=who or address, at=letter.at, text=_body(message), fields=fields)


def _people(message: EmailMessage, name: str) -> list[tuple[str, str]]:
    return [(who.strip(), address) for who, address in getaddresses([_header(message, name)]) if who or address]


def _body(message: EmailMessage) -> str:
    """The plain text of a letter, or else the text of its HTML."""
    try:
        part = message.get_body(preferencelist=("plain", "html"))
    except _UNSOUND:
        part = message
    if part is None:
        return ""
    text = _content(part)
    return (text_of(text) if part.get_content_type() == "text/html" else text).strip()


def _content(part: MIMEPart) -> str:
    try:
        content = part.get_content()
    except _UNSOUND:
        data = part.get_payload(decode=True)
        content = data.decode("utf-8", "replace") if isinstance(data, bytes) else ""
    return content.replace("\r\n", "\n") if isinstance(content, str) else ""


def _attachments(message: EmailMessage) -> list[tuple[str, EmailMessage]]:
    """The attachments with their names."""
    try:
        parts = [part for part in message.iter_attachments() if isinstance(part, EmailMessage)]
        parts = [part for part in parts if part.get_content_type() not in _SIGNATURES]
        return [(part.get_filename() or part.get_content_type(), part) for part in parts]
    except _UNSOUND:
        return []


def _attached(message: EmailMessage, above: str, source: str) -> Iterator[Node]:
    """The attached texts and letters as nodes; other files are only named."""
    for place, (name, part) in enumerate(_attachments(message)):
        inner = part.get_payload(0) if part.get_content_type() == "message/rfc822" else None
        if isinstance(inner, EmailMessage):
            title, text, at = _header(inner, "Subject") or name, _body(inner), _date(inner)
        elif part.get_content_maintype() == "text":
            content = _content(part)
            text = text_of(content) if part.get_content_type() == "text/html" else content
            title, at = name, _date(message)
        else:
            continue
        if text.strip() and len(text) <= LARGEST_ATTACHMENT:
            yield Node(
                id=f"{above}#file-{place + 1}", type="file", title=title, text=text, parent=above, position=place,
                source=source, updated_at=at,
            )  # fmt: skip
