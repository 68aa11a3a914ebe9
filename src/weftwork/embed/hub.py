"""The model hub over HTTP: list a repository at a commit, and download its files with their checksums."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha1, sha256
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from weftwork.errors import InvalidInput, RemoteError

ADDRESS = "https://huggingface.co"
VARIABLE = "HF_ENDPOINT"
"""The variable that names another hub, as other tools read it."""
TIMEOUT = 30.0
BLOCK = 1 << 20

Progress = Callable[[str, int, int], None]
"""Told the name of a file, the bytes of it that are there, and its size."""

_REFERENCE = re.compile(r"(?P<repository>[\w.-]+/(?P<name>[\w.-]+))(?:@(?P<revision>[\w./-]+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Reference:
    """A repository and a revision of it: a commit, or a branch or tag that is resolved to one."""

    repository: str
    name: str
    revision: str

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Read `owner/name@revision`; without a revision, the main branch."""
        match = _REFERENCE.fullmatch(text)
        if match is None or ".." in text:
            raise InvalidInput(f"{text!r} is no model of the hub: write OWNER/NAME or OWNER/NAME@REVISION")
        return cls(match["repository"], match["name"], match["revision"] or "main")


@dataclass(frozen=True, slots=True)
class HubFile:
    """The size of a file and its checksum: SHA-256 of a large file's content, else the SHA-1 of its Git blob."""

    size: int
    sha256: str = ""
    blob: str = ""

    def matches(self, path: Path) -> bool:
        """True if a file is this one."""
        digest = sha256() if self.sha256 else sha1(f"blob {self.size}\0".encode(), usedforsecurity=False)
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
        return digest.hexdigest() == (self.sha256 or self.blob)


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a repository at one commit."""

    repository: str
    commit: str
    files: Mapping[str, HubFile]


@dataclass(frozen=True, slots=True)
class Hub:
    """A server that speaks the hub's protocol."""

    address: str = ADDRESS
    timeout: float = TIMEOUT

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Hub:
        """The hub that HF_ENDPOINT names, else the public one."""
        return cls((environment.get(VARIABLE) or ADDRESS).rstrip("/"))

    def listing(self, reference: Reference) -> Listing:
        """The files of a revision; a revision that is a commit must be that commit."""
        where = (
            f"{self.address}/api/models/{reference.repository}/revision/{quote(reference.revision, safe='')}?blobs=true"
        )
        with self._open(where) as response:
            answer = _read(response, where)
        try:
            commit = answer["sha"]
            files = {each["rfilename"]: _file(each) for each in answer["siblings"]}
        except (KeyError, TypeError, ValueError) as error:
            raise RemoteError(f"{where} did not answer with the files of a model") from error
        if not _COMMIT.fullmatch(str(commit)):
            raise RemoteError(f"{where} names no commit")
        if _COMMIT.fullmatch(reference.revision) and commit != reference.revision:
            raise RemoteError(f"{where} answered with the commit {commit}")
        return Listing(reference.repository, commit, files)

    def download(self, listing: Listing, name: str, target: Path, tell: Progress | None = None) -> None:
        """Bring a file here; one that is there already stays, and half of one is completed."""
        wanted = listing.files[name]
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_file() and target.stat().st_size == wanted.size and wanted.matches(target):
            return
        part = target.with_name(f"{target.name}.part")
        where = f"{self.address}/{listing.repository}/resolve/{listing.commit}/{quote(name)}"
        size = part.stat().st_size if part.is_file() else 0
        if size > wanted.size:
            part.unlink()
            size = 0
        if size < wanted.size:
            self._fetch(where, part, wanted.size, lambda done: tell and tell(name, done, wanted.size))
        if not wanted.matches(part):
            part.unlink()
            raise RemoteError(f"{where} is not what its checksum says: what arrived was removed, try again")
        os.replace(part, target)

    def _fetch(self, where: str, part: Path, size: int, tell: Callable[[int], object]) -> None:
        done = part.stat().st_size if part.is_file() else 0
        with self._open(where, {"Range": f"bytes={done}-"} if done else {}) as response:
            if done and response.status != 206:  # the server does not resume
                done = 0
            with part.open("ab" if done else "wb") as file:
                while block := self._block(response, where):
                    done += len(block)
                    if done > size:
                        raise RemoteError(f"{where} is longer than the {size:,} bytes that were announced")
                    file.write(block)
                    tell(done)
        if done < size:
            raise RemoteError(f"{where} ended after {done:,} of {size:,} bytes: run the command again to go on")

    def _block(self, response: HTTPResponse, where: str) -> bytes:
        try:
            return response.read(BLOCK)
        except (OSError, HTTPException) as error:
            raise RemoteError(f"{where} broke off ({error}): run the command again to go on") from error

    def _open(self, where: str, headers: Mapping[str, str] | None = None) -> AbstractContextManager[HTTPResponse]:
        if not where.startswith(("https://", "http://")):
            raise InvalidInput(f"{self.address!r} is no address of a hub: set {VARIABLE} to one with https://")
        try:
            answer: HTTPResponse = urlopen(Request(where, headers=dict(headers or {})), timeout=self.timeout)
        except HTTPError as error:
            error.close()
            reason = "there is no such model or revision" if error.code in (401, 403, 404) else error.reason
            raise RemoteError(f"{where} answered {error.code}: {reason}") from error
        except (OSError, HTTPException) as error:
            raise RemoteError(f"{where} cannot be reached ({getattr(error, 'reason', error)})") from error
        return answer


def _read(response: HTTPResponse, where: str) -> Any:
    try:
        return json.loads(response.read())
    except (OSError, HTTPException, ValueError) as error:
        raise RemoteError(f"{where} did not answer with JSON ({error})") from error


def _file(entry: Mapping[str, Any]) -> HubFile:
    large = entry.get("lfs")
    if large:
        return HubFile(int(large["size"]), sha256=str(large["sha256"]))
    return HubFile(int(entry["size"]), blob=str(entry["blobId"]))
