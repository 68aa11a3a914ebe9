"""Values that only PostgreSQL has columns for: lexemes, bit strings, vectors and keys of limited length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from weftwork.text.analysis import analyse, whole_words

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

WHOLE = "="
"""Begins a lexeme that is a word as it is written; those without it are stems. No word contains it."""

MOST_POSITIONS, LAST_POSITION = 255, 16_383
"""What a tsvector can hold: of a word that occurs more often, or further on, the rest is not told apart."""

KEY_LENGTH = 200
"""Characters of a title or a source by which it is looked up."""

HEAD_LENGTH = 40
"""Characters of a field's value by which it is looked up: a moment has fewer."""


def lexemes(searchable: str) -> tuple[str, int]:
    """A tsvector of a passage's words, as text, and how many there are.

    Stems have their positions, for phrases and for how often they occur; words as they are written have none.
    """
    places: dict[str, list[int]] = {}
    stems = analyse(searchable)
    for place, stem in enumerate(stems, start=1):
        places.setdefault(stem, []).append(min(place, LAST_POSITION))
    parts = [f"{_quoted(stem)}:{','.join(map(str, found[:MOST_POSITIONS]))}" for stem, found in places.items()]
    parts += [_quoted(WHOLE + word) for word in dict.fromkeys(whole_words(searchable))]
    return " ".join(parts), len(stems)


def phrase(words: Sequence[str]) -> str:
    """A tsquery for words that follow one another, as text."""
    return " <-> ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def folded(text: str) -> str:
    """What titles and sources are compared by: the beginning, with ASCII letters in lower case."""
    return _lowered(text[:KEY_LENGTH])


def _lowered(text: str) -> str:
    return text.translate(_LOWER)


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def vector_text(vector: Vector) -> str:
    """A vector as pgvector reads it; one that is not finite has no direction and is kept as zero."""
    wide = np.asarray(vector, dtype=np.float32)
    if not np.isfinite(wide).all():
        wide = np.zeros_like(wide)
    return "[" + ",".join(map(repr, wide.tolist())) + "]"


def sign_bits(vector: Vector) -> str | None:
    """The signs of a vector as a bit string, None where it has no direction."""
    wide = np.asarray(vector, dtype=np.float32)
    if not np.isfinite(wide).all() or not wide.any():
        return None
    return "".join("1" if positive else "0" for positive in (wide > 0).tolist())


def read_vector(sent: bytes) -> Vector:
    """A vector from what `vector_send` gives: its length, an unused number, and its numbers."""
    found: Vector = np.frombuffer(sent, dtype=">f4", offset=4).astype(np.float32)
    return found
