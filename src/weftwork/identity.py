"""Ids that come from what a thing is: the same in every process, and never random."""

from __future__ import annotations

import re
from hashlib import blake2b

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LENGTH = 10
"""Digits of a citation id: a workspace of a million passages has a collision with odds of 1 in 7,000."""


def text_hash(text: str) -> str:
    """The 128-bit hash that stands for a text in every cache."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def citation_id(type: str, node_id: str, text: str, occurrence: int = 0) -> str:
    """The id of a passage, `fil-3k9x0a1b2c`; `occurrence` tells equal passages of a node apart."""
    prefix = re.sub("[^a-z]", "", type.lower())[:3].ljust(3, "x")
    named = "\0".join((node_id, str(occurrence), text)).encode("utf-8", "surrogatepass")
    number = int.from_bytes(blake2b(named, digest_size=8).digest(), "big")
    return f"{prefix}-{_base36(number)}"


def _base36(number: int) -> str:
    digits = []
    for _ in range(_LENGTH):
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
