"""Parsing documents in another process, which is killed when it hangs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from weftwork.ingest.documents.ocr import ocr_is_installed
from weftwork.ingest.documents.values import Limits, Page, Unreadable

LONGEST_ANSWER = 64_000_000
"""Bytes of one line or one picture: what the process may make this one hold."""


class Parser:
    """A worker process for all documents, started at the first one."""

    def __init__(self, limits: Limits | None = None, *, ocr: bool = True) -> None:
        self.limits = limits or Limits()
        self.reads_pictures = ocr and ocr_is_installed()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], object] = lambda: None

    def __enter__(self) -> Parser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process."""
        self._process = None
        self._end()

    def pages(self, path: Path, extension: str) -> Generator[int | tuple[Page, int], None, None]:
        """Yield the number of pages, then each page with the number of characters that were cut off.

        Raises Unreadable as soon as that is clear, and whenever the parser takes too long or dies.
        """
        finished = False
        try:
            self._ask(path, extension)
            number = 0
            while True:
                answer = self._answer(f"page {number + 1}" if number else "the first page")
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

    def _ask(self, path: Path, extension: str) -> None:
        job = {
            "path": os.fsencode(path.resolve()).hex(),
            "extension": extension,
            "limits": asdict(self.limits),
            "ocr": self.reads_pictures,
        }
        process = self._started()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError as error:
            raise Unreadable("cannot be read: the parser does not start") from error

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # -P: what lies in the folder that someone happens to be in is not imported.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "weftwork.ingest.documents.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            # A bundle may be read after its source was, so that nobody is left to close this.
            self._end = weakref.finalize(self, _end, self._process)
        return self._process

    def _answer(self, awaited: str) -> dict[str, Any]:
        """The next answer; a timer kills the process if it is late."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self.limits.seconds, end)
        timer.daemon = True
        timer.start()
        try:
            line = process.stdout.readline(LONGEST_ANSWER)
            answer: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
            sizes = answer.get("blobs", [])
            blobs = [process.stdout.read(size) for size in sizes if size <= LONGEST_ANSWER]
        finally:
            timer.cancel()
        if answer and [len(blob) for blob in blobs] == sizes:
            return answer | {"blobs": blobs}
        if late.is_set():
            raise Unreadable(f"takes too long: {awaited} was not there after {self.limits.seconds:g} s")
        raise Unreadable(f"makes the parser fail at {awaited} ({_death(process)})")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
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
        name=str(answer["name"]),
        image=image,
        thumbnail=thumbnail,
    )
