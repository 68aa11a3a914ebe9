"""Ids derived from content: the same in every process, and never random."""

from __future__ import annotations

import re
from hashlib import blake2b

_LETTERS = "abcdefghjkmnpqrstuvwxyz"
"""Letters that do not look like digits."""
_DIGITS = 12
SHORT, LONGER = 7, 10
"""Characters of a citation id that are shown, and of one whose shorter form two visible passages share.

Vocabularies have a token for each three digits: `[k482913]` is four tokens, whichever it is.
"""
CITATION = re.compile(rf"[{_LETTERS}]\d{{6}}(?:\d{{3}}){{0,2}}")
"""A citation id, short, longer or whole."""


def text_hash(text: str) -> str:
    """The 128-bit hash that stands for a text in every cache."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def citation_id(node_id: str, text: str, occurrence: int = 0) -> str:
    """The whole id of a passage, `k482913507264`; `occurrence` tells equal passages of a node apart.

    A reader sees as much of its beginning as is unique among what they may see, as with commits in git.
    """
    named = "\0".join((node_id, str(occurrence), text)).encode("utf-8", "surrogatepass")
    number = int.from_bytes(blake2b(named, digest_size=8).digest(), "big")
    letter, digits = number % len(_LETTERS), number // len(_LETTERS) % 10**_DIGITS
    return f"{_LETTERS[letter]}{digits:0{_DIGITS}}"


def node_id(kind: str, owner: str, content: str) -> str:
    """An id for a node that has none, `mem-3k9x0a1b2c`, from its kind, owner and content."""
    prefix = re.sub("[^a-z]", "", kind.lower())[:3].ljust(3, "x")
    named = "\0".join((owner, "0", content)).encode("utf-8", "surrogatepass")
    number = int.from_bytes(blake2b(named, digest_size=8).digest(), "big")
    digits = []
    for _ in range(10):
        number, digit = divmod(number, 36)
        digits.append("0123456789abcdefghijklmnopqrstuvwxyz"[digit])
    return f"{prefix}-{''.join(reversed(digits))}"
