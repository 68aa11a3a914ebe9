"""Citation ids that stay the same in every context, and the list of what a context cites."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b

from weft.types import Citation, Item

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LENGTH = 10


def citation_id(type: str, node_id: str, text: str, occurrence: int = 0) -> str:
    """The id of a passage, `fil-3k9x0a1b2c`; `occurrence` tells equal passages of a node apart."""
    prefix = re.sub("[^a-z]", "", type.lower())[:3].ljust(3, "x")
    named = "\0".join((node_id, str(occurrence), text)).encode("utf-8", "surrogatepass")
    number = int.from_bytes(blake2b(named, digest_size=8).digest(), "big")
    return f"{prefix}-{_base36(number)}"


def citations_of(items: Iterable[Item]) -> tuple[Citation, ...]:
    """What the items cite, in their order, each id once."""
    found: dict[str, Citation] = {}
    for item in items:
        found.setdefault(item.candidate.passage.citation, _citation(item))
    return tuple(found.values())


def _base36(number: int) -> str:
    digits = []
    for _ in range(_LENGTH):
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


def _citation(item: Item) -> Citation:
    candidate = item.candidate
    node, passage = candidate.node, candidate.passage
    return Citation(
        id=passage.citation,
        node=node.id,
        type=node.type,
        title=node.title,
        source=node.source,
        start=passage.start,
        end=passage.end,
        score=candidate.score,
    )
