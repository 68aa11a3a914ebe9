"""Git repositories: the files of a commit, and a note with who changed them when."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from weftwork.errors import InvalidInput, RemoteError
from weftwork.ingest.remotes.protocol import Address, Mirror, file_name, note

REPOSITORY = ".repository"
"""The bare repository of a mirror, hidden from connectors."""
HISTORY = "History.md"
SECONDS = 600.0
LARGEST = 20_000_000
LATEST = 300
"""Commits that the history tells of."""
MOST_FILES = 20
"""Files that are named of a commit."""
_FIELD, _RECORD = "\x1f", "\x1e"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit and the files that it changed."""

    author: str
    at: datetime
    subject: str
    files: tuple[str, ...]


class Git:
    """A repository: `git+https://host/path`, with `?branch=…` for another one than the default."""

    connector = ""

    def __init__(self, address: Address) -> None:
        self._address = address

    def pull(self, mirror: Mirror) -> bool | None:
        """Fetch the commit, and copy the files that differ from those of the last one."""
        if shutil.which("git") is None:
            raise InvalidInput("git is not installed: install it to read repositories")
        folder = mirror.folder / REPOSITORY
        if not folder.is_dir():
            self._git(["init", "--quiet", "--bare", str(folder)], mirror.folder)
        branch = self._address.options.get("branch") or "HEAD"
        url = self._address.url.removeprefix("file://")
        self._git(["fetch", "--quiet", "--no-tags", "--prune", "--", url, f"+{branch}:refs/weftwork/head"], folder)
        commit = self._git(["rev-parse", "refs/weftwork/head"], folder).decode().strip()
        if mirror.state.get("commit") != commit:
            self._copy(mirror, folder, commit)
            mirror.state["commit"] = commit
        mirror.save()
        return None if self._address.key or not self._address.url.startswith("https://") else True

    def _copy(self, mirror: Mirror, folder: Path, commit: str) -> None:
        blobs = dict(self._blobs(folder, commit))
        commits = list(self._log(folder, commit))
        history = _history(commits, {path: name for name, (_, path) in blobs.items()})
        name = HISTORY if HISTORY not in blobs else f"Git {HISTORY}"
        listed = {name: version for name, (version, _) in blobs.items()} | {name: commit}
        mirror.agree(
            listed, lambda file: history if file == name else self._git(["cat-file", "blob", blobs[file][0]], folder)
        )
        changed = {path: commit.at for commit in reversed(commits) for path in commit.files}
        for file, (_, path) in blobs.items():
            if path in changed:
                moment = changed[path].timestamp()
                os.utime(mirror.folder / file, (moment, moment))

    def _blobs(self, folder: Path, commit: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """Hash and path of each file, by its name in the mirror."""
        for line in self._git(["ls-tree", "-r", "-l", "-z", commit], folder).decode("utf-8", "replace").split("\0"):
            facts, _, path = line.partition("\t")
            mode, _, name, size = facts.split() if path else ("", "", "", "")
            if mode in ("100644", "100755") and size.isdigit() and int(size) <= LARGEST:
                yield file_name(path), (name, path)

    def _log(self, folder: Path, commit: str) -> Iterator[Commit]:
        layout = f"--format={_RECORD}%an{_FIELD}%aI{_FIELD}%s"
        log = self._git(["log", f"--max-count={LATEST}", "--name-only", layout, commit, "--"], folder)
        for record in log.decode("utf-8", "replace").split(_RECORD)[1:]:
            head, *paths = record.splitlines()
            author, moment, subject = head.split(_FIELD, 2)
            yield Commit(author, datetime.fromisoformat(moment), subject, tuple(filter(None, paths)))

    def _git(self, arguments: list[str], folder: Path) -> bytes:
        """Run git without prompts and hooks, and without protocols that run programs."""
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": os.environ.get("HOME", ""),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C",
            **self._secret(),
        }
        try:
            done = subprocess.run(
                ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", *arguments],
                cwd=folder, env=environment, check=False, capture_output=True, timeout=SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise RemoteError(f"git takes more than {SECONDS:g} s: try again later") from error
        if done.returncode:
            why = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise RemoteError(
                f"git cannot read the repository ({why[-1] if why else done.returncode}): check address and key"
            )
        return done.stdout

    def _secret(self) -> Mapping[str, str]:
        """The variables with the password, which is neither stored nor shown among processes."""
        if not self._address.key:
            return {}
        pair = base64.b64encode(f"{self._address.user or 'x-access-token'}:{self._address.key}".encode()).decode()
        return {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{self._address.url}.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {pair}",
        }


def _history(commits: list[Commit], names: Mapping[str, str]) -> bytes:
    """A note with the latest commits, a section for each month."""
    blocks: list[str] = []
    month = ""
    for commit in commits:
        if (current := f"{commit.at:%Y-%m}") != month:
            month = current
            blocks.append(f"## {month}\n")
        links = [f"[{path}](<{quote(names[path], safe='/ ')}>)" for path in commit.files if path in names][:MOST_FILES]
        changed = f" ({', '.join(links)})" if links else ""
        blocks.append(f"- {commit.at:%Y-%m-%d}, {commit.author}: {commit.subject}{changed}")
    return note("History", {}, "\n".join(blocks))
