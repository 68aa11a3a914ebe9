"""Conversions by LibreOffice, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from weftwork.ingest.documents.values import Unreadable

DRAWN = frozenset(
    {"docx", "docm", "dotx", "dotm", "pptx", "pptm", "odt", "odp", "rtf", "doc", "ppt"}
)  # fmt: skip
"""Formats whose pages LibreOffice can draw. A sheet may be any number of pages, so that it is none of them."""
NO_PICTURES = "install LibreOffice where documents are added, and add it again"
"""Completes a sentence about a document of these formats that has no pictures of its pages."""


def libreoffice() -> str | None:
    """The path of the program, or None if it is not installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


def installation() -> list[Path]:
    """The folder that LibreOffice is installed in, which it reads itself; empty if it is not installed."""
    program = libreoffice()
    if program is None:
        return []
    folder = Path(program).resolve().parent
    return [folder.parent if folder.name == "program" else folder]


def converted(program: str, path: Path, extension: str, folder: Path, seconds: float) -> Path:
    """The file that LibreOffice makes of a document, in a folder; raises Unreadable if it cannot."""
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [program, profile, "--headless", "--convert-to", extension, "--outdir", str(folder), str(path)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=seconds)
    except (OSError, subprocess.SubprocessError) as error:
        raise Unreadable(f"cannot be converted by LibreOffice ({type(error).__name__})") from error
    made = folder / f"{path.stem}.{extension}"
    if not made.is_file():
        raise Unreadable("cannot be converted by LibreOffice: it may be damaged or protected by a password")
    return made
