"""Content-based names for blocks that have no id."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

MADE = "~"
"""Stands in every name that was made of content: such a block may keep its id when it is edited in its place."""


class BlockNames:
    """Names within one source: the same for the same content, wherever it stands."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def name(self, kind: str, content: str) -> str:
        """A name for a block of a kind; a repeated content gets a numbered one."""
        digest = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        name = f"{kind}{MADE}{digest}"
        self._seen[name] += 1
        return name if self._seen[name] == 1 else f"{name}.{self._seen[name]}"
