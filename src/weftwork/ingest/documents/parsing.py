"""Parsing documents in another process, which is killed when it hangs."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from weftwork.ingest.documents.ocr import ocr_is_installed
from weftwork.ingest.documents.sandbox import GIVEN, OWN, environment
from weftwork.ingest.documents.values import Limits, Page, Unreadable

LONGEST_ANSWER = 64_000_000
"""Bytes of one line or one picture: what the process may make this one hold."""


class Parser:
    """A worker process for all documents, started at the first one."""

    def __init__(self, limits: Limits | None = None, *, ocr: bool = True) -> None:
        self.limits = limits or Limits()
        self.reads_pictures = ocr and ocr_is_installed()
        self.later = False
        """Pictures are read another time."""
        self._process: subprocess.Popen[bytes] | None = None
        self._room: TemporaryDirectory[str] | None = None
        self._end: Callable[[], object] = lambda: None

    def __enter__(self) -> Parser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def text_first(self) -> Iterator[None]:
        """Leave pictures for another time within a block."""
        reads, self.reads_pictures, self.later = self.reads_pictures, False, self.reads_pictures
        try:
            yield
        finally:
            self.reads_pictures, self.later = reads, False

    def close(self) -> None:
        """Kill the process."""
        self._process = None
        self._end()

    def pages(self, path: Path, extension: str) -> Generator[int | tuple[Page, int], None, None]:
        """Yield the number of pages, then each page with the number of characters that were cut off.

        Raises Unreadable as soon as that is clear, and whenever the parser takes too long or dies.
        """
        finished = False
        deadline = time.monotonic() + self.limits.document_seconds
        try:
            number = 0
            for answer in self._answers(path, extension, deadline):
                match answer["kind"]:
                    case "opened":
                        yield int(answer["pages"])
                    case "page":
                        number += 1
                        image, thumbnail = answer["blobs"]
                        yield _page(answer, image, thumbnail), int(answer["cut"])
                    case "done":
                        finished = True
                        return
                    case _:
                        finished = True
                        raise Unreadable(str(answer["why"]))
        finally:
            if not finished:  # the rest of the answers is not for the next document
                self.close()
            elif self._room is not None:
                _empty(Path(self._room.name) / GIVEN)

    def _answers(self, path: Path, extension: str, deadline: float) -> Iterator[dict[str, Any]]:
        """The answers for a document; where OCR takes too long, it goes on after that picture in a new process."""
        told = seen = pictures = 0
        in_ocr = False
        self._ask(path, extension, pictures)
        while True:
            awaited = f"page {told}" if told > 1 else "the first page"
            try:
                answer = self._answer(awaited, deadline, self.limits.ocr_seconds if in_ocr else self.limits.seconds)
            except _Late:
                if not in_ocr or time.monotonic() >= deadline:
                    raise
                self.close()
                self._ask(path, extension, pictures)
                in_ocr, seen = False, 0
                continue
            in_ocr = answer["kind"] == "ocr"
            pictures += in_ocr
            seen += not in_ocr
            if not in_ocr and seen > told:  # those before were told before the process was ended
                told = seen
                yield answer

    def _ask(self, path: Path, extension: str, skip: int) -> None:
        process = self._started()
        assert self._room is not None
        job = {
            "path": os.fsencode(_hand_over(path, Path(self._room.name) / GIVEN)).hex(),
            "extension": extension,
            "limits": asdict(self.limits),
            "ocr": "now" if self.reads_pictures else "later" if self.later else "no",
            "skip": skip,
        }
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError as error:
            raise Unreadable("cannot be read: the parser does not start") from error

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # -P: what lies in the folder that someone happens to be in is not imported.
            self._room = TemporaryDirectory(prefix="weftwork-", ignore_cleanup_errors=True)
            room = Path(self._room.name)
            for name in (GIVEN, OWN):
                (room / name).mkdir(mode=0o700)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "weftwork.ingest.documents.worker", str(room)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(room / OWN),
                cwd=room / OWN,
            )
            # A bundle may be read after its source was, so that nobody is left to close this.
            self._end = weakref.finalize(self, _end, self._process, self._room)
        return self._process

    def _answer(self, awaited: str, deadline: float = math.inf, seconds: float | None = None) -> dict[str, Any]:
        """The next answer; a timer kills the process if it is late, with this page or with the whole document."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        left, seconds = deadline - time.monotonic(), self.limits.seconds if seconds is None else seconds
        if left <= 0:
            end()
        timer = threading.Timer(max(0.0, min(seconds, left)), end)
        timer.daemon = True
        timer.start()
        try:
            line = process.stdout.readline(LONGEST_ANSWER)
            answer: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
            sizes = answer.get("blobs", [])
            blobs = [process.stdout.read(size) for size in sizes if size <= LONGEST_ANSWER]
        finally:
            timer.cancel()
        if answer and [len(blob) for blob in blobs] == sizes and left > 0:
            return answer | {"blobs": blobs}
        if late.is_set():
            limit = seconds if left > seconds else self.limits.document_seconds
            raise _Late(f"takes too long: {awaited} was not there after {limit:g} s")
        raise Unreadable(f"makes the parser fail at {awaited} ({_death(process)})")


class _Late(Unreadable):
    """The process did not answer in time."""


def _hand_over(path: Path, folder: Path) -> Path:
    """The path of the document in the folder that the process may read."""
    given = folder / f"document{path.suffix}"
    given.unlink(missing_ok=True)
    try:
        os.link(path.resolve(), given)
    except OSError:  # on another disk, or not ours to link
        try:
            shutil.copyfile(path, given)
        except OSError as error:
            raise Unreadable(f"cannot be read ({error.strerror})") from error
    return given


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink(missing_ok=True)


def _end(process: subprocess.Popen[bytes], room: TemporaryDirectory[str]) -> None:
    process.kill()
    process.wait()
    room.cleanup()
    for pipe in (process.stdin, process.stdout):
        with suppress(BrokenPipeError):
            if pipe is not None:
                pipe.close()


def _death(process: subprocess.Popen[bytes]) -> str:
    process.kill()
    code = process.wait()
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _page(answer: dict[str, Any], image: bytes, thumbnail: bytes) -> Page:
    return Page(
        markdown=str(answer["markdown"]),
        text_source=answer["text_source"],
        pictures=int(answer["pictures"]),
        unread=bool(answer["unread"]),
        name=str(answer["name"]),
        unit=str(answer["unit"]),
        image=image,
        thumbnail=thumbnail,
    )
