"""Text layers that do not say what a page shows, and those that can be mended."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress

from weftwork.text.tokens import get_counter

STRANGE = 0.1
"""Share of characters without a meaning above which a text is garbled: private use, replacement."""
FEWEST_WORDS, MOST_WORDS = 30, 500
"""Words that are needed to judge by their letters, and that are looked at."""
SPEAKABLE = 0.8
"""The share of words with a vowel from which on text in Latin letters is not looked at further; prose has 0.95."""
LETTERS_A_TOKEN = 1.9
"""Letters of a token below which words are of no language: prose has 3 to 5, lists of abbreviations 2 and more."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_VOWEL = re.compile(r"[aeiouyæøœı]", re.IGNORECASE)
_MOJIBAKE = re.compile(r"[ÂÃâ][\u0080-\u00bf\u20ac\u2018-\u2026\u2030\u0152-\u017e\u02c6\u02dc\u2122]+")


def is_strange(text: str) -> bool:
    """Return True for a text of which many characters have no meaning: its font maps to none."""
    strange = sum(1 for letter in text if letter == "\ufffd" or "\ue000" <= letter <= "\uf8ff")
    return strange > STRANGE * len(text)


def is_unspeakable(text: str) -> bool:
    """Return True for words of Latin letters that no language has: the font maps letters to other letters."""
    words = [word for word in _WORD.findall(text) if _LATIN.search(word)][:MOST_WORDS]
    if len(words) < FEWEST_WORDS:
        return False
    if sum(1 for word in words if _VOWEL.search(unicodedata.normalize("NFD", word))) >= SPEAKABLE * len(words):
        return False
    tokens = sum(len(get_counter().encode(f" {word}")) for word in words)
    return sum(map(len, words)) < LETTERS_A_TOKEN * tokens


def mended(text: str) -> str:
    """The text with UTF-8 that was read as Windows-1252 put right: `Ã©` is é, `â€™` an apostrophe."""
    return _MOJIBAKE.sub(_mend, text) if _MOJIBAKE.search(text) else text


def _mend(match: re.Match[str]) -> str:
    for encoding in ("cp1252", "latin-1"):
        with suppress(UnicodeError):
            return match[0].encode(encoding).decode("utf-8")
    return match[0]
