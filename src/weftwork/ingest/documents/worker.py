"""The process that parses: paths of documents in, pages out.

It shuts itself in first: it has no network, and reads no file but those in the folder that it was given.
A job is one line of JSON on standard input. An answer is one line of JSON on standard output, followed by as many
bytes of pictures as it says; the last answer to a job says `done` or `error`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from weftwork.ingest.documents.formats import parse
from weftwork.ingest.documents.libreoffice import installation
from weftwork.ingest.documents.ocr import Ocr
from weftwork.ingest.documents.sandbox import GIVEN, OWN, confine
from weftwork.ingest.documents.values import Limits, Page, Tools, Unreadable

if TYPE_CHECKING:
    from PIL.Image import Image

    from weftwork.ingest.documents.layout.boxes import Run

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def main() -> None:
    """Answer jobs until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that feeds this one
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the answers
    room = Path(sys.argv[1])
    confine([room / GIVEN, *installation()], [room / OWN])
    ocr = Ocr()
    for line in sys.stdin.buffer:
        job = json.loads(line)
        limits = Limits(**job["limits"])
        _limit_memory(limits.memory_bytes)
        announced = _Announced(ocr, job["skip"], lambda: _send(out, {"kind": "ocr"}, ()))
        tools = Tools(limits, announced if job["ocr"] == "now" else None, job["ocr"] == "later")
        for answer, blobs in _answers(job, tools):
            _send(out, answer, blobs)


class _Announced:
    """OCR that says when it begins, and leaves out the first pictures: they were read before, or took too long."""

    def __init__(self, ocr: Ocr, skip: int, announce: Callable[[], None]) -> None:
        self._ocr = ocr
        self._skip = skip
        self._announce = announce

    def __call__(self, picture: Image) -> list[Run] | None:
        if self._skip:
            self._skip -= 1
            return None
        self._announce()
        return self._ocr(picture)


def _answers(job: dict[str, Any], tools: Tools) -> Iterator[tuple[dict[str, Any], tuple[bytes, ...]]]:
    try:
        parsed = parse(Path(os.fsdecode(bytes.fromhex(job["path"]))), job["extension"], tools)
        yield {"kind": "opened", "pages": parsed.count}, ()
        for page in parsed.pages:
            yield _page(page, tools.limits.characters), (page.image, page.thumbnail)
        yield {"kind": "done"}, ()
    except Unreadable as error:
        yield {"kind": "error", "why": str(error)}, ()
    except MemoryError:
        yield {"kind": "error", "why": f"needs more than {tools.limits.memory_bytes // 1_000_000:,} MB to be read"}, ()
    except Exception as error:
        # The outermost handler of this process: whatever a parser stumbles over is said of the document.
        yield {"kind": "error", "why": f"cannot be read ({type(error).__name__}: {error})"[:500]}, ()


def _page(page: Page, most: int) -> dict[str, Any]:
    text = _CONTROL.sub("", page.markdown)
    return {
        "kind": "page",
        "markdown": text[:most],
        "cut": max(0, len(text) - most),
        "text_source": page.text_source,
        "pictures": page.pictures,
        "unread": page.unread,
        "name": page.name,
        "unit": page.unit,
    }


def _send(out: BinaryIO, answer: dict[str, Any], blobs: tuple[bytes, ...]) -> None:
    try:
        out.write(json.dumps(answer | {"blobs": [len(blob) for blob in blobs]}).encode() + b"\n")
        for blob in blobs:
            out.write(blob)
        out.flush()
    except BrokenPipeError:  # nobody listens any more
        os._exit(0)


def _limit_memory(most: int) -> None:
    """Limit the address space; where that is impossible, the time limit has to do."""
    try:
        import resource  # noqa: PLC0415 - not everywhere
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
