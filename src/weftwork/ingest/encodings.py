"""The encoding of a text: UTF-8, UTF-16 and UTF-32 by their marks and zeros, others by their frequent letters."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass

from weftwork.ingest.events import Refused

SAMPLE = 20_000
"""Bytes by which an encoding is chosen."""
LIKELY = 0.55
"""Least share of frequent letters, relative to what ordinary text of the encoding has."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
"""Byte order marks with their encodings; that of UTF-16 is the beginning of one of UTF-32."""
_WIDE = (("utf-32-le", 4, (1, 2, 3)), ("utf-32-be", 4, (0, 1, 2)), ("utf-16-le", 2, (1,)), ("utf-16-be", 2, (0,)))
"""Encodings without a mark: the size of a unit, and which of its bytes are 0 in Latin text."""


@dataclass(frozen=True, slots=True)
class _Script:
    """Encodings of one way of writing, and the letters beyond ASCII that are frequent in it."""

    encodings: tuple[str, ...]
    frequent: frozenset[str]
    usual: float = 1.0
    """Share of the characters beyond ASCII that are frequent letters in ordinary text."""
    latin: bool = False
    """Most of its letters are ASCII."""


def _letters(*ranges: tuple[int, int]) -> frozenset[str]:
    return frozenset(chr(code) for first, last in ranges for code in range(first, last + 1))


_MIXED = re.compile(r"[a-zA-Z][^\W\d_a-zA-Z]|[^\W\d_a-zA-Z][a-zA-Z]")
"""Within a word, letters of another script do not stand beside ASCII ones."""
_QUOTES = "‘’“”„–—…«»°§©®€·•\u00a0"
_SCRIPTS = (
    _Script(("cp1252",), frozenset("äöüßÄÖÜéèêëÉÈàâÀçÇñÑáíóúÁÓÚîïôûùœæøåÅØÆãõìò¿¡½²³£¥µ" + _QUOTES), latin=True),
    _Script(("cp1250",), frozenset("ěščřžýáíéúůďťňĚŠČŘŽÝÁÍÉąęłńóśźżćŁŚŻŹĆőűöüäôľĺŕăâîşţđ" + _QUOTES), latin=True),
    _Script(("cp1251", "koi8_r", "cp866"), frozenset("оеаинтсрвлк"), 0.65),
    _Script(("cp1253",), frozenset("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώ")),
    _Script(("cp1255",), frozenset("יוהלארתבמשנ"), 0.75),
    _Script(("cp1256",), _letters((0x0621, 0x064A)) | frozenset("،؟")),
    _Script(("cp874",), _letters((0x0E01, 0x0E4E))),
    _Script(("shift_jis", "euc_jp"), _letters((0x3041, 0x3093), (0x30A1, 0x30FC)) | frozenset("、。「」"), 0.6),
    _Script(("euc_kr",), _letters((0xAC00, 0xD7A3)), 0.95),
    _Script(
        ("gb18030",),
        frozenset(
            "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
            "用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实"
        ),
        0.35,
    ),
    _Script(
        ("big5",),
        frozenset(
            "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡"
            "用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實"
        ),
        0.35,
    ),
)  # fmt: skip


def decoded(data: bytes) -> str:
    """Decode a text; raise Refused if it is none, or if its encoding is not certain."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding).removeprefix("\ufeff")
            except UnicodeDecodeError as error:
                raise Refused(f"begins like {encoding.upper()} text, but is none") from error
    if b"\0" in data[:8192]:
        return _wide(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if encoding := _guess(data):
            return data.decode(encoding)
        raise Refused(f"is not UTF-8 text (byte {error.start})") from error


def _wide(data: bytes) -> str:
    """Decode UTF-16 or UTF-32 without a mark, which mostly Latin text betrays by its zeros."""
    for encoding, size, zeros in _WIDE:
        sample = data[: 8192 // size * size]
        units = len(sample) // size
        shares = [sample[place::size].count(0) / max(units, 1) for place in range(size)]
        even = len(data) % size == 0
        if even and all(share > 0.8 if place in zeros else not share for place, share in enumerate(shares)):
            with suppress(UnicodeDecodeError):
                text = data.decode(encoding)
                if not _has_controls(text):
                    return text
    raise Refused("is not text")


def _guess(data: bytes) -> str:
    """The encoding whose frequent letters most of the text beyond ASCII is; empty if there is none.

    Text that is UTF-8 but for few bytes is damaged, not in another encoding.
    """
    beyond = sum(1 for byte in data if byte >= 0x80)
    valid = sum(len(letter.encode()) for letter in data.decode("utf-8", "ignore") if not letter.isascii())
    if valid * 2 > beyond:
        return ""
    best, chosen = LIKELY, ""
    for script in _SCRIPTS:
        for encoding in script.encodings:
            likelihood = _likelihood(data, encoding, script)
            if likelihood > best:
                best, chosen = likelihood, encoding
    return chosen


def _likelihood(data: bytes, encoding: str, script: _Script) -> float:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    if _has_controls(text):
        return 0.0
    letters = [letter for letter in text[:SAMPLE] if not letter.isascii()]
    ascii_letters = sum(1 for letter in text[:SAMPLE] if letter.isascii() and letter.isalpha())
    foreign = sum(map(str.isalpha, letters))
    mixed = len(_MIXED.findall(text[:SAMPLE]))
    if foreign * 2 > ascii_letters if script.latin else mixed * 5 > foreign:
        return 0.0
    frequent = sum(1 for letter in letters if letter in script.frequent)
    return frequent / len(letters) / script.usual if letters else 0.0


def _has_controls(text: str) -> bool:
    return any((ord(letter) < 32 and letter not in "\t\n\r\f") or 0x7F <= ord(letter) < 0xA0 for letter in text)
