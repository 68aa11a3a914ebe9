"""Refusing zip bombs."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile, ZipFile

from weftwork.ingest.documents.values import Limits, Unreadable

MOST_MEMBERS = 20_000
_ENCRYPTED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Magic bytes of an encrypted Office file, and of Office formats before 2007."""


def open_archive(path: Path, limits: Limits) -> ZipFile:
    """Open an archive if its directory says that it is small enough.

    Python's zipfile never unpacks more of a member than the directory says.
    """
    try:
        archive = ZipFile(path)
    except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
        with path.open("rb") as file:
            if file.read(len(_ENCRYPTED)) == _ENCRYPTED:
                raise Unreadable("is protected by a password, or of a format before 2007") from error
        raise Unreadable(f"is damaged ({error})") from error
    members = archive.infolist()
    size = sum(member.file_size for member in members)
    if size > limits.unpacked_bytes or len(members) > MOST_MEMBERS:
        archive.close()
        raise Unreadable(
            f"would be {size // 1_000_000:,} MB in {len(members):,} files when unpacked, "
            f"more than {limits.unpacked_bytes // 1_000_000:,} MB or {MOST_MEMBERS:,} files"
        )
    if any(member.flag_bits & 1 for member in members):
        archive.close()
        raise Unreadable("is protected by a password")
    return archive
