"""When two names mean the same: case, composition and white space do not matter."""

from __future__ import annotations

import re
import unicodedata

_SPACE = re.compile(r"\s+")
_MARKS = re.compile(r"[^\w^]+")


def fold(name: str) -> str:
    """A name as it is compared."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", name).casefold()).strip()


def fold_anchor(name: str) -> str:
    """An anchor as it is compared: `My heading!` is the same as `my-heading`; a block's `^name` is not a heading."""
    folded = fold(name)
    return folded if folded.startswith("^") else _MARKS.sub(" ", folded).strip()
