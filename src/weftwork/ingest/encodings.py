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
    _Script(
        ("cp932", "euc_jp"),
        _letters((0x3041, 0x3093), (0x30A1, 0x30FC))
        | frozenset(
            "、。「」"
            "日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選立開手米力学問高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法"
            "不来作性的要用制治度務強気小七成期公持野協取都和統以機平総加山思家話世受区領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報済書府活原先共得解名交資予川向際査勝面委告軍文反元重近千考判認画海"
            "参売利組知案道信策集在件団別物側任引使求所次水半品昨論計死官増係感特情投示変打男基私各始島直両朝革価式確村提運終挙果西勢減台広容必応演電歳住争談能無再位置企真流格有疑口過局少放税検藤町常校料沢裁状工建"
            "語球営空職証土与急止送援供可役構木割聴身費付施切由説転食比難防補車優夫研収断井何南石足違消境神番規術護展態導鮮備宅害配副算視条幹独警宮究育席輸訪楽起万着乗店述残想線率病農州武声質念待試族象銀域助労例衛"
            "然早張映限親額監環験追審商葉義伝働形景落欧担好退準賞訴辺造英被株頭技低毎医復仕去姿味負閣韓渡失移差衆個門写評課末守若脳極種美岡影命含福蔵量望松非撃佐核観察整段横融型白深字答夜製票況音申様財港識注呼渉達"
            "鈴伊郎太阪淳屋橋"
        ),
        0.6,
    ),
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
    return data.decode(encoding_of(data)).removeprefix("\ufeff")


def encoding_of(data: bytes) -> str:
    """The encoding of a text; raise Refused if it is none, or if its encoding is not certain."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                data.decode(encoding)
            except UnicodeDecodeError as error:
                raise Refused(f"begins like {encoding.upper()} text, but is none") from error
            return encoding
    if b"\0" in data[:8192]:
        return _wide(data)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if encoding := _guess(data):
            return encoding
        raise Refused(f"is not UTF-8 text (byte {error.start})") from error
    return "utf-8"


def _wide(data: bytes) -> str:
    """UTF-16 or UTF-32 without a mark, which mostly Latin text betrays by its zeros."""
    for encoding, size, zeros in _WIDE:
        sample = data[: 8192 // size * size]
        units = len(sample) // size
        shares = [sample[place::size].count(0) / max(units, 1) for place in range(size)]
        even = len(data) % size == 0
        if even and all(share > 0.8 if place in zeros else not share for place, share in enumerate(shares)):
            with suppress(UnicodeDecodeError):
                text = data.decode(encoding)
                if not _has_controls(text):
                    return encoding
    raise Refused("is not text")


def _guess(data: bytes) -> str:
    """The encoding whose frequent letters most of the text beyond ASCII is; empty if there is none."""
    if is_mostly_utf8(data):
        return ""
    best, chosen = LIKELY, ""
    for script in _SCRIPTS:
        for encoding in script.encodings:
            likelihood = _likelihood(data, encoding, script)
            if likelihood > best:
                best, chosen = likelihood, encoding
    return chosen


def is_mostly_utf8(data: bytes) -> bool:
    """Return True for UTF-8 but for few bytes: that is damaged, not in another encoding."""
    beyond = sum(1 for byte in data if byte >= 0x80)
    valid = sum(len(letter.encode()) for letter in data.decode("utf-8", "ignore") if not letter.isascii())
    return valid * 2 > beyond


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
