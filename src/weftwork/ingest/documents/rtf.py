"""RTF: its text with headings and tables; a page ends at a page break."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from weftwork.ingest.documents.html import PAGE_END, PICTURE, sections
from weftwork.ingest.documents.layout.blocks import escaped, table
from weftwork.ingest.documents.values import Parsed, Tools, Unreadable

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+"
)
_UNSEEN = frozenset(
    "fonttbl colortbl stylesheet info pict header headerl headerr headerf footer footerl footerr footerf object "
    "themedata datastore listtable listoverridetable rsidtbl generator xmlnstbl latentstyles fldinst nonshppict "
    "bkmkstart bkmkend filetbl revtbl annotation atnid atnauthor atrfstart atrfend".split()
)
"""Destinations that hold no text of the document."""
_SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ",
}  # fmt: skip
_SYMBOLS = {"~": "\u00a0", "_": "-", "-": "", "{": "{", "}": "}", "\\": "\\", "\n": "\n", "\r": "\n"}
DEEPEST = 1_000
_HIGH = 0xD800


@dataclass(frozen=True, slots=True)
class _State:
    """The formatting of a group."""

    seen: bool = True
    fallback: int = 1
    """Characters after a Unicode one that stand for it in old readers."""


@dataclass(slots=True)
class _Text:
    """The text that was read."""

    blocks: list[str] = field(default_factory=list)
    paragraph: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    level: int = -1
    in_table: bool = False

    def end_paragraph(self) -> None:
        """Add the paragraph to its cell, or close the table before it."""
        text = "".join(self.paragraph).strip()
        self.paragraph = []
        if self.in_table:
            self.paragraph = [text, "\n"] if text else []
            return
        self.end_table()
        if text:
            mark = f"{'#' * (self.level + 1)} " if 0 <= self.level <= 5 else ""
            self.blocks.append(mark + " ".join(text.split()) if mark else escaped(text))

    def end_cell(self) -> None:
        self.cells.append("".join(self.paragraph).strip())
        self.paragraph = []

    def end_row(self) -> None:
        if self.cells:
            self.rows.append(self.cells)
        self.cells = []

    def end_table(self) -> None:
        self.end_row()
        if self.rows:
            self.blocks.append(table(self.rows))
        self.rows = []


def read_rtf(path: Path, tools: Tools) -> Parsed:
    """The pages of an RTF file, or its sections if it has no page breaks."""
    data = path.read_bytes()
    if not data.lstrip().startswith(b"{\\rtf"):
        raise Unreadable("is no RTF file")
    pages = sections(rtf_text(data.decode("latin-1")))
    if not pages:
        raise Unreadable("has no text")
    return Parsed(len(pages), iter(pages))


def rtf_text(rtf: str) -> str:
    """The text of RTF as Markdown."""
    reader = _Reader()
    place = 0
    while match := _TOKEN.match(rtf, place):
        place = match.end()
        if match[1] == "bin" and match[2]:
            place += max(int(match[2]), 0)
        else:
            reader.take(match)
    reader.out.end_paragraph()
    reader.out.in_table = False
    reader.out.end_paragraph()
    return "\n\n".join(reader.out.blocks)


class _Reader:
    """Takes the tokens of RTF one by one."""

    def __init__(self) -> None:
        self.out = _Text()
        self._state = _State()
        self._groups: list[_State] = []
        self._codec = "cp1252"
        self._skip = 0
        self._starred = False
        self._bytes = bytearray()

    def take(self, token: re.Match[str]) -> None:
        word, number, code, symbol, brace, text = token.groups()
        if code is not None:
            if self._skip:
                self._skip -= 1
            else:
                self._bytes.append(int(code, 16))
            return
        self._flush()
        if brace:
            self._group(brace)
        elif word:
            self._control(word, int(number) if number else None)
        elif symbol == "*":
            self._starred = True
        elif symbol:
            self._add(_SYMBOLS.get(symbol, ""))
        elif text:
            skipped, self._skip = self._skip, max(self._skip - len(text), 0)
            self._add(text[skipped:])

    def _flush(self) -> None:
        """Decode bytes together: a character may have two."""
        if self._bytes:
            self._add(self._bytes.decode(self._codec, "replace"))
            self._bytes.clear()

    def _add(self, text: str) -> None:
        if self._state.seen and text:
            self.out.paragraph.append(text.replace(PAGE_END, "").replace(PICTURE, ""))

    def _group(self, brace: str) -> None:
        self._starred, self._skip = False, 0
        if brace == "{":
            if len(self._groups) >= DEEPEST:
                raise Unreadable("is nested too deeply to be read")
            self._groups.append(self._state)
        elif self._groups:
            self._state = self._groups.pop()

    def _control(self, word: str, number: int | None) -> None:
        starred, self._starred = self._starred, False
        if starred or word in _UNSEEN:
            self._state = replace(self._state, seen=False)
        elif word in _SIGNS:
            self._add(_SIGNS[word])
        elif word == "u" and number is not None:
            self._add(_character(number))
            self._skip = self._state.fallback
        elif word == "uc":
            self._state = replace(self._state, fallback=max(number or 0, 0))
        elif word in ("v", "deleted"):
            self._state = replace(self._state, seen=number == 0)
        elif word == "ansicpg":
            self._codec = _codec(number)
        elif self._state.seen:
            self._structure(word, number)

    def _structure(self, word: str, number: int | None) -> None:
        out = self.out
        match word:
            case "par" | "sect":
                out.end_paragraph()
            case "page":
                out.end_paragraph()
                out.blocks.append(PAGE_END)
            case "pard":
                out.level, out.in_table = -1, False
            case "outlinelevel":
                out.level = number or 0
            case "intbl":
                out.in_table = True
            case "cell" | "nestcell":
                out.end_cell()
            case "row" | "nestrow":
                out.end_row()


def _character(number: int) -> str:
    """A UTF-16 code unit that may be written as a negative number."""
    code = number + 65_536 if number < 0 else number
    return "\ufffd" if code > 0xFFFF or _HIGH <= code < 0xE000 else chr(code)


def _codec(number: int | None) -> str:
    try:
        return codecs.lookup(f"cp{number}").name
    except LookupError:
        return "cp1252"
