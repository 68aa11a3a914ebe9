"""Where a text comes from, and the trust that its reader may have in it."""

from __future__ import annotations

from typing import Literal

Origin = Literal["written", "chat", "connector", "upload", "tool", "web"]
"""Ways by which a text comes in: by hand or by a program, in a conversation, from files, as a document, as the result
of a tool, from the web."""
ORIGINS: tuple[Origin, ...] = ("written", "chat", "connector", "upload", "tool", "web")
Trust = Literal["own", "workspace", "imported", "external"]
TRUSTS: tuple[Trust, ...] = ("own", "workspace", "imported", "external")
"""From the most to the least: written by the reader, by others in the workspace, read from files, from elsewhere."""

_IMPORTED: tuple[Origin, ...] = ("connector", "upload")
_EXTERNAL: tuple[Origin, ...] = ("tool", "web")


def trust_of(origin: Origin, writer: str | None, reader: str) -> Trust:
    """The trust that a reader may have in a text, by the way it came and by who wrote it."""
    if origin in _EXTERNAL:
        return "external"
    if origin in _IMPORTED:
        return "imported"
    return "own" if writer == reader else "workspace"


def origins_below(trust: Trust) -> list[Origin]:
    """The origins whose texts deserve less trust than this, whoever wrote them."""
    return [] if trust == "external" else list(_EXTERNAL) if trust == "imported" else [*_IMPORTED, *_EXTERNAL]
