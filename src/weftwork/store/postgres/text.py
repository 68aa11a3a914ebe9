"""Escaping of NUL, which PostgreSQL cannot store in text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types.numeric import Int8Dumper

if TYPE_CHECKING:
    from psycopg.abc import AdaptContext

MARK = "\x1a"
"""The escape character: SUBSTITUTE, which texts do not use."""


def escaped(text: str) -> str:
    """The text with NUL and the escape character escaped."""
    if "\0" not in text and MARK not in text:
        return text
    return text.replace(MARK, f"{MARK}1").replace("\0", f"{MARK}0")


def unescaped(text: str) -> str:
    """The inverse of `escaped`."""
    return text if MARK not in text else text.replace(f"{MARK}0", "\0").replace(f"{MARK}1", MARK)


class _Dumper(Dumper):
    """Dumper that sends strings with the type text."""

    oid = 25

    def dump(self, obj: str) -> bytes:
        return escaped(obj).encode()


class _Loader(Loader):
    format = Format.TEXT

    def load(self, data: Buffer) -> str:
        return unescaped(bytes(data).decode())


def register(context: AdaptContext) -> None:
    """Register escaping, and one type for all integers, with a connection."""
    context.adapters.register_dumper(str, _Dumper)
    # One type for all sizes, so that a statement is prepared only once.
    context.adapters.register_dumper(int, Int8Dumper)
    context.adapters.register_loader("text", _Loader)
