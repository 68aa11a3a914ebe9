"""Evernote: notes of an `.enex` export, with tags, tasks, code and reminders."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring, iterparse, tostring

from weftwork.ingest.connectors.dates import moment
from weftwork.ingest.connectors.exported_notes import ExportedNote, note_pieces
from weftwork.ingest.connectors.exports import Entry, Export, digest, entry_sources, export_sources, export_top
from weftwork.ingest.connectors.htmltext import MarkdownText, converted
from weftwork.ingest.connectors.protocol import Link, Listed, Source, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity
from weftwork.types import FieldValue

_CODE = re.compile(r"-en-codeblock:\s*true")
_CHECKED = re.compile(r"--en-checked:\s*(true|false)")
_NOTE_LINK = re.compile(
    r"<a\b[^>]*href=[\"'](?:evernote:|https://(?:share|www)\.evernote\.com/(?:note|shard)/)[^>]*>(.*?)</a>", re.S
)


class Evernote:
    """An export file, or a folder or zip of them; each is a notebook."""

    name = "evernote"
    summary = "Evernote exports: .enex files"
    version = 2

    def recognises(self, path: Path) -> float:
        """An `.enex` file that begins like one."""
        if path.is_dir() or path.suffix.lower() != ".enex":
            return 0.0
        try:
            with path.open("rb") as file:
                return 0.95 if b"<en-export" in file.read(2000) else 0.0
        except OSError:
            return 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each note."""
        top = export_top(path, self.name, path.stem)
        return export_sources(path, top, partial(_sources, path, top.id))


def _sources(path: Path, top: str, export: Export) -> Iterator[Listed]:
    taken: dict[str, int] = {}
    return entry_sources(path, export.files, partial(_notes, top, taken))


def _notes(top: str, taken: dict[str, int], entry: Entry) -> Iterator[Listed]:
    """The notes of a file, read one at a time; each waits packed, without its attached files."""
    try:
        with entry.open() as file:
            for _, element in iterparse(file):
                if element.tag == "note":
                    yield _source(element, top, taken)
                    element.clear()
                elif element.tag == "resource":
                    for data in element.findall("data"):
                        element.remove(data)
    except ParseError as error:
        raise Refused(f"is damaged ({error})") from error


def _source(element: Element, top: str, taken: dict[str, int]) -> Source | Skipped:
    title = _text(element, "title") or "Untitled"
    content = tostring(element)
    name = digest(title, _text(element, "created"))
    taken[name] = number = taken.get(name, 0) + 1
    name = name if number == 1 else f"{name}-{number}"
    fingerprint = digest(content.decode("ascii"))
    return Source(
        key=f"notes/{name}", id=identity("evernote", f"{top.partition(':')[2]}/{name}"), what=title, movable=False,
        fingerprint=lambda: fingerprint, stamp=fingerprint, read=partial(_read, zlib.compress(content), top),
    )  # fmt: skip


def _read(packed: bytes, top: str, source_id: str) -> Iterator[Yielded]:
    note = fromstring(zlib.decompress(packed))
    title = _text(note, "title") or "Untitled"
    content = _text(note, "content")
    text = converted(_Enml(), content)
    due = moment(_text(note, "note-attributes/reminder-time"))
    fields: dict[str, FieldValue] = {}
    if due and not _text(note, "note-attributes/reminder-done-time"):
        fields["due"] = due.date().isoformat()
    for field, path in (("author", "author"), ("url", "source-url")):
        if value := _text(note, f"note-attributes/{path}"):
            fields[field] = value
    names = [_text(file, "resource-attributes/file-name") or _text(file, "mime") for file in note.iter("resource")]
    if names := [name for name in names if name]:
        fields["attachments"] = tuple(names)
    text = "\n".join(filter(None, (text, *_tasks(note))))
    yield from note_pieces(
        ExportedNote(
            id=source_id, title=title, text=text, parent=top, source=f"evernote:{title}", fields=fields,
            tags=[tag.text.strip() for tag in note.findall("tag") if tag.text and tag.text.strip()],
            created_at=moment(_text(note, "created")), updated_at=moment(_text(note, "updated")),
            tags_in=lambda _: (),
        )
    )  # fmt: skip
    labels = (" ".join(converted(MarkdownText(), match[1]).split()) for match in _NOTE_LINK.finditer(content))
    yield from (Link(source=source_id, names=(label,)) for label in dict.fromkeys(labels) if _is_title(label, title))


def _is_title(label: str, own: str) -> bool:
    """Return True for a label that may be the title of another note, not an address."""
    return bool(label) and label != own and "://" not in label


def _tasks(note: Element) -> Iterator[str]:
    """Tasks of newer exports, which stand beside the text."""
    for task in note.findall("task"):
        done = _text(task, "taskStatus") == "completed"
        due = moment(_text(task, "dueDate"))
        line = f"- [{'x' if done else ' '}] {_text(task, 'title')}"
        yield f"{line} 📅 {due.date().isoformat()}" if due else line


def _text(element: Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


class _Enml(MarkdownText):
    """Evernote's HTML: boxes of tasks, and code in divisions."""

    def __init__(self) -> None:
        super().__init__()
        self._divisions: list[str] = []
        """The tags that stand for each open division."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block, a box or code."""
        style = dict(attrs).get("style") or ""
        if tag == "en-todo":
            self.check(dict(attrs).get("checked") == "true")
            return
        if tag in ("en-media", "en-crypt"):
            return
        if tag == "div":
            within = "pre" in self._divisions
            self._divisions.append("line" if within else "pre" if _CODE.search(style) else "div")
            if within:
                self._feed_code()
                return
            tag = self._divisions[-1]
        if tag == "br" and "pre" in self._divisions:
            self._feed_code()
            return
        super().handle_starttag(tag, attrs)
        if tag == "li" and (box := _CHECKED.search(style)):
            self.check(box[1] == "true")

    def handle_endtag(self, tag: str) -> None:
        """End a block."""
        if tag == "div":
            tag = self._divisions.pop() if self._divisions else "div"
            if tag == "line":
                return
        super().handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        """Append text; in code without spaces that do not break."""
        super().handle_data(data.replace("\xa0", " ") if "pre" in self._divisions else data)

    def _feed_code(self) -> None:
        """Begin a line of code, unless one just began."""
        self.parts.append("\n")
