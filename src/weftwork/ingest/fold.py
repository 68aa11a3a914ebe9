"""Folding of names: case, Unicode composition and white space do not matter."""

from __future__ import annotations

import re
import unicodedata

_SPACE = re.compile(r"\s+")
_MARKS = re.compile(r"[^\w^]+")


def fold(name: str) -> str:
    """Fold a name for comparison."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", name).casefold()).strip()


def fold_anchor(name: str) -> str:
    """Fold an anchor: `My heading!` equals `my-heading`; a block's `^name` stays."""
    folded = fold(name)
    return folded if folded.startswith("^") else _MARKS.sub(" ", folded).strip()
