"""Adding a thousand pages by the command: interrupted, resumed, and added again."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pypdfium2

from benchmarks.timing import say
from weftwork import Weft


def measure(data: Path, pages: int) -> dict[str, Any]:
    """Seconds and the largest process of each step; documents are copies of real ones under other names."""
    with tempfile.TemporaryDirectory() as name:
        shelf, store = Path(name) / "shelf", Path(name) / "shelf.weft"
        shelf.mkdir()
        there = _fill(shelf, sorted((data / "azure_hr_docs").glob("*.pdf")), pages)
        _command("init", store)
        say(f"adding {there} pages, interrupted half-way …")
        kept = _interrupted(shelf, store, there // 2)
        started = time.monotonic()
        resumed = _command("add", shelf, "--json", "--store", store)
        seconds = time.monotonic() - started
        started = time.monotonic()
        again = _command("add", shelf, "--json", "--store", store)
        return {
            "pages": there,
            "kept_when_interrupted": kept,
            "changed_when_resumed": json.loads(resumed)["changed"],
            "seconds_to_finish": round(seconds, 1),
            "changed_again": json.loads(again)["changed"],
            "seconds_again": round(time.monotonic() - started, 2),
            "largest_process_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        }


def _fill(shelf: Path, sources: list[Path], pages: int) -> int:
    there = copy = 0
    while there < pages:
        for source in sources:
            shutil.copy(source, shelf / f"{copy:03}-{source.name}")
            with pypdfium2.PdfDocument(source) as document:
                there += len(document)
        copy += 1
    return there


def _interrupted(shelf: Path, store: Path, enough: int) -> int:
    """How many pages are kept of a run that was stopped once so many were there."""
    with _start("add", shelf, "--store", store) as process, Weft.open(store) as weft:
        while process.poll() is None and weft.stats().get("nodes.document_page", 0) < enough:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.communicate()
        return weft.stats().get("nodes.document_page", 0)


def _start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "weftwork.cli", *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


def _command(*arguments: object) -> str:
    with _start(*arguments) as process:
        out, err = process.communicate()
    if process.returncode:
        raise SystemExit(err)
    return out
