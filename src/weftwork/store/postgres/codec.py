"""Column values that only PostgreSQL has: tsvectors, bit strings, pgvector's vectors, look-up keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from weftwork.text.analysis import indexed, marked, whole_words

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

WHOLE = "="
"""Prefix of a lexeme that is an unstemmed word; lexemes without it are stems. No word contains it."""

MOST_POSITIONS, LAST_POSITION = 255, 16_383
"""Limits of a tsvector: positions of one lexeme, and the highest position."""

KEY_LENGTH = 200
"""Length of the look-up key of a title or a source, in characters."""

HEAD_LENGTH = 40
"""Length of the look-up key of a field's value, in characters; longer than any timestamp."""


def lexemes(searchable: str) -> tuple[str, int]:
    """A tsvector of a passage's words, as text, and the number of words.

    Stems have positions, for phrases and frequencies; unstemmed words have none.
    """
    places: dict[str, list[int]] = {}
    stems, language = indexed(searchable)
    for place, stem in enumerate(marked(stems, language), start=1):
        places.setdefault(stem, []).append(min(place, LAST_POSITION))
    parts = [f"{_quoted(stem)}:{','.join(map(str, positions[:MOST_POSITIONS]))}" for stem, positions in places.items()]
    parts += [_quoted(WHOLE + word) for word in dict.fromkeys(whole_words(searchable))]
    return " ".join(parts), len(stems)


def phrase(*forms: Sequence[str]) -> str:
    """A tsquery for words that follow one another, in any of their forms, as text."""
    return " | ".join(f"({' <-> '.join(map(_quoted, words))})" for words in forms)


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def folded(text: str) -> str:
    """The look-up key of a title or a source: its beginning, with ASCII letters in lower case."""
    return text[:KEY_LENGTH].translate(_LOWER)


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def vector_text(vector: Vector) -> str:
    """A vector in pgvector's text format; one that is not finite is stored as zero."""
    wide = np.asarray(vector, dtype=np.float32)
    if not np.isfinite(wide).all():
        wide = np.zeros_like(wide)
    return "[" + ",".join(map(repr, wide.tolist())) + "]"


def sign_bits(vector: Vector) -> str | None:
    """The signs of a vector as a bit string, None for a zero or non-finite vector."""
    wide = np.asarray(vector, dtype=np.float32)
    if not np.isfinite(wide).all() or not wide.any():
        return None
    return "".join("1" if positive else "0" for positive in (wide > 0).tolist())


def read_vector(sent: bytes) -> Vector:
    """A vector from pgvector's binary format: dimensions, an unused field, and the numbers."""
    vector: Vector = np.frombuffer(sent, dtype=">f4", offset=4).astype(np.float32)
    return vector
