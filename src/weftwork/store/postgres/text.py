"""Text as PostgreSQL can hold it: it has no NUL, so that one is written as two other characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types.numeric import Int8Dumper

if TYPE_CHECKING:
    from psycopg.abc import AdaptContext

MARK = "\x1a"
"""Begins what stands for another character; SUBSTITUTE, which no text has any use for."""


def escaped(text: str) -> str:
    """The text without NUL; one that has neither is returned as it is."""
    if "\0" not in text and MARK not in text:
        return text
    return text.replace(MARK, f"{MARK}1").replace("\0", f"{MARK}0")


def unescaped(text: str) -> str:
    """What `escaped` was given."""
    return text if MARK not in text else text.replace(f"{MARK}0", "\0").replace(f"{MARK}1", MARK)


class _Dumper(Dumper):
    """Any text, sent as text."""

    oid = 25

    def dump(self, obj: str) -> bytes:
        return escaped(obj).encode()


class _Loader(Loader):
    format = Format.TEXT

    def load(self, data: Buffer) -> str:
        return unescaped(bytes(data).decode())


def register(context: AdaptContext) -> None:
    """Have a connection read and write any text, and all whole numbers alike."""
    context.adapters.register_dumper(str, _Dumper)
    # As one type, whatever its size: a statement is prepared once, and not again for each size.
    context.adapters.register_dumper(int, Int8Dumper)
    context.adapters.register_loader("text", _Loader)
