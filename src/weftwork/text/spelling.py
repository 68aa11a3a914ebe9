"""Known words that a misspelt one may stand for."""

from __future__ import annotations

from collections.abc import Iterable

from weftwork.text.trigrams import similarity

SHORTEST, LONG = 4, 8
"""Length above which a word is corrected, and from which it may have two typos."""
MOST_CORRECTIONS = 3


def is_correctable(word: str) -> bool:
    """True of a word that may be misspelt: long enough, and no number or code, which are right or wrong as a whole."""
    return len(word) > SHORTEST and word.isalpha()


def most_typos(word: str) -> int:
    """The typos that a word of this length may have."""
    return 2 if len(word) >= LONG else 1


def corrections(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known words nearest to a misspelt one: by typos, then by shared trigrams."""
    distances = {other: distance(word, other, most_typos(word)) for other in set(known) if other.isalpha()}
    fewest = min((typos for typos in distances.values() if typos is not None), default=None)
    nearest = [other for other, typos in distances.items() if typos is not None and typos == fewest]
    return tuple(sorted(nearest, key=lambda other: (-similarity(word, other), other))[:MOST_CORRECTIONS])


def distance(a: str, b: str, most: int) -> int | None:
    """The Damerau-Levenshtein distance of two words (letters swapped count once); None above `most`."""
    if abs(len(a) - len(b)) > most:
        return None
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        row = [i]
        for j, other in enumerate(b, start=1):
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        if min(row) > most:
            return None
        before, last = last, row
    return last[-1] if last[-1] <= most else None
