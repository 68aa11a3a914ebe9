"""Acronyms that a text defines, as in "Johnson & Johnson (JnJ)"."""

from __future__ import annotations

import re

_DEFINED = re.compile(r"\(\s*([A-Za-z][\w&.-]{1,9})\s*\)")
_SHAPE = re.compile(r"\b(?=[\w&]{2,10}\b)[A-Za-z]*[A-Z][A-Za-z&]*[A-Z0-9][\w&]*")
_WORD = re.compile(r"\S+")


def acronyms_in(text: str) -> list[str]:
    """The words of a text that look like acronyms: with two capitals, or a capital and a digit."""
    return list(dict.fromkeys(_SHAPE.findall(text)))


def definitions(text: str) -> dict[str, str]:
    """The acronyms that a text defines, with their long forms.

    By Schwartz and Hearst, A simple algorithm for identifying abbreviation definitions in biomedical text, 2003: the
    letters of the short form stand in this order in the words before it, the first of them at the start of a word.
    """
    found: dict[str, str] = {}
    for match in _DEFINED.finditer(text):
        short = match[1]
        if sum(letter.isupper() for letter in short) < 2:
            continue
        most = min(len(short) + 5, 2 * len(short))
        line = text[: match.start()].rpartition("\n")[2]
        words = [word.start() for word in _WORD.finditer(line)][-most:]
        long = _long_form(short, line[words[0] :].rstrip()) if words else None
        if long is not None:
            found.setdefault(short, long)
    return found


def _long_form(short: str, text: str) -> str | None:
    """The shortest end of a text that has the letters of a short form."""
    place = len(text) - 1
    letters = [letter for letter in short.lower() if letter.isalnum()]
    for number in range(len(letters) - 1, -1, -1):
        while place >= 0 and not _fits(text, place, letters[number], first=number == 0):
            place -= 1
        if place < 0:
            return None
        place -= 1
    long = text[place + 1 :]
    return long if len(long.split()) > 1 and short.lower() not in long.lower().split() else None


def _fits(text: str, place: int, letter: str, *, first: bool) -> bool:
    return text[place].lower() == letter and not (first and place and text[place - 1].isalnum())
