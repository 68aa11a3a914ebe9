"""The protocol of live sources.

A remote copies what stands on a server into a folder of ours, its **mirror**: only what changed there, and what is gone
there goes here. The mirror is then added like any other folder, so that ids, links, deletions and access lists are the
same as for files. A mirror that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import yaml

from weftwork.ingest.events import Skipped

STATE = ".weftwork.json"
"""The file of a mirror with what is known of the server; hidden, so that it is not added."""
LONGEST_NAME = 120
SAVED_EVERY = 50


@dataclass(frozen=True, slots=True)
class Address:
    """The place of a live source, and what opens it."""

    kind: str
    """Such as `feed` or `imap`."""
    url: str
    """Without user and password."""
    user: str = ""
    key: str = ""
    """A password or a token; never stored."""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The address as people write it, without secrets."""
        return f"{self.kind}+{self.url}" if "://" in self.url else f"{self.kind}:{self.url}"


@dataclass(slots=True)
class Mirror:
    """A folder with the copies of what stands on a server."""

    folder: Path
    state: dict[str, Any] = field(default_factory=dict)
    """What a remote wants to know next time."""
    versions: dict[str, str] = field(default_factory=dict)
    """The version on the server of each file."""
    origins: dict[str, str] = field(default_factory=dict)
    """Addresses of single files, where they have one that people can open."""
    fetched: int = 0
    removed: int = 0
    skipped: list[Skipped] = field(default_factory=list)

    @classmethod
    def open(cls, folder: Path) -> Mirror:
        """The mirror in a folder, which is made if it is missing; nobody else may look into it."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            saved = json.loads((folder / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls(folder)
        return cls(folder, saved["state"], saved["versions"], saved["origins"])

    def save(self) -> None:
        """Write down what is known, in one step."""
        saved = {"state": self.state, "versions": self.versions, "origins": self.origins}
        draft = self.folder / f"{STATE}.new"
        draft.write_text(json.dumps(saved, ensure_ascii=False, sort_keys=True), encoding="utf-8")
        draft.replace(self.folder / STATE)

    def agree(self, listed: Mapping[str, str], fetch: Callable[[str], bytes | None]) -> None:
        """Make the files those that the server lists by name and version; `fetch` gives the content of one, or None."""
        for name in [name for name in self.versions if name not in listed]:
            self.remove(name)
        stale = [name for name, version in listed.items() if not version or self.versions.get(name) != version]
        for number, name in enumerate(stale, start=1):
            content = fetch(name)
            if content is None:
                self.remove(name)
            else:
                self.write(name, listed[name], content)
            if number % SAVED_EVERY == 0:
                self.save()
        self.save()

    def write(self, name: str, version: str, content: bytes) -> None:
        """Keep a file; one with the same content is left alone."""
        path = self.folder / name
        self.versions[name] = version
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name[:100]}.new")
        draft.write_bytes(content)
        draft.replace(path)
        self.fetched += 1

    def remove(self, name: str) -> None:
        """Remove a file, and the folders that it leaves empty."""
        self.origins.pop(name, None)
        if self.versions.pop(name, None) is None:
            return
        path = self.folder / name
        path.unlink(missing_ok=True)
        self.removed += 1
        for above in path.parents:
            if above == self.folder or any(above.iterdir()):
                break
            above.rmdir()


class Remote(Protocol):
    """A reader of one kind of servers."""

    connector: str
    """The connector for the mirror; empty for the one that recognises it."""

    def pull(self, mirror: Mirror) -> bool | None:
        """Bring a mirror up to date; return whether everybody may read the source, None if that is not known.

        Raises RemoteError or AccessDenied if the server does not answer; what was copied before stays.
        """


def file_name(path: str) -> str:
    """A path on a server as one below a mirror: no hidden parts, nothing above it, no name too long for a disk."""
    parts = [_part(part) for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return "/".join(parts) or "_"


def _part(part: str) -> str:
    safe = "".join("_" if letter in ':*?"<>|' or not letter.isprintable() else letter for letter in part)
    safe = f"_{safe}" if safe.startswith(".") else safe
    if len(os.fsencode(safe)) <= LONGEST_NAME:
        return safe
    stem, dot, suffix = safe.rpartition(".")
    stem, suffix = (stem, dot + suffix) if dot and len(suffix) < 10 else (safe, "")
    return f"{stem[:60]}~{blake2b(part.encode(), digest_size=6).hexdigest()}{suffix}"


def note(title: str, fields: Mapping[str, Any], body: str) -> bytes:
    """A Markdown note with front matter."""
    present = {name: value for name, value in fields.items() if value not in (None, "", [], ())}
    front = yaml.safe_dump(present, allow_unicode=True, sort_keys=False, width=1_000_000) if present else ""
    heading = " ".join(title.split())
    return (f"---\n{front}---\n" if front else "").encode() + f"# {heading}\n\n{body.strip()}\n".encode()
