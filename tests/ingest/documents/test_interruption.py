"""Adding documents while the command is interrupted or killed, and to the end when it is run again."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from tests.command import settings, succeed

from weftwork import Weft

from .making import PROSE, lines, pdf, text

DOCUMENTS, PAGES = 8, 6


def opened(store):
    return Weft.open(store, embedder="hashing")


def start(*arguments, **more):
    """A process that runs the command."""
    given: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": settings()}
    return subprocess.Popen([sys.executable, "-m", "weftwork.cli", *map(str, arguments)], text=True, **given, **more)


@pytest.fixture
def papers(tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(DOCUMENTS):
        made = [[text(72, 60, f"Paper {number} page {page}", 16), *lines(72, 90, PROSE)] for page in range(PAGES)]
        (folder / f"{number:02}.pdf").write_bytes(pdf(*made))
    return folder


def whole(weft):
    """Documents in the store; each has all of its pages, and their pictures."""
    folder = weft.store.path.with_name(weft.store.path.name + ".files")
    names = [f"document:papers/{number:02}.pdf" for number in range(DOCUMENTS)]
    existing = weft.store.unchecked_nodes("main", names)
    with weft.store.view("main", "me") as view:
        for name in existing:
            pages = view.nodes(sorted(weft.store.unchecked_children("main", name)))
            assert [page.position for page in sorted(pages, key=lambda page: page.position)] == [*range(1, PAGES + 1)]
            assert all((folder.parent / page.fields["image_path"]).is_file() for page in pages)
    assert weft.stats().get("nodes.document_page", 0) == PAGES * len(existing)
    return len(existing)


def _interruptible():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_documents_are_whole_or_absent_and_the_rest_is_added_by_the_next_run(papers, tmp_path, end):
    store = tmp_path / "store.weft"
    succeed("init", store)
    with (
        start("add", papers, "--store", store, preexec_fn=_interruptible) as process,
        opened(store) as weft,
    ):
        while process.poll() is None and weft.stats().get("nodes.document", 0) < 2:
            time.sleep(0.01)
        process.send_signal(end)
        _, err = process.communicate()
        assert process.returncode == (130 if end == signal.SIGINT else -end), err
        kept = whole(weft)
        assert 2 <= kept < DOCUMENTS
    payload = json.loads(succeed("add", papers, "--json", "--store", store))
    assert (payload["nodes"], payload["skipped"]) == ((DOCUMENTS - kept) * (PAGES + 1), [])
    with opened(store) as weft:
        assert whole(weft) == DOCUMENTS
        version = weft.store.version("main")
    again = json.loads(succeed("add", papers, "--json", "--store", store))
    assert (again["changed"], again["unchanged"]) == (0, 1 + DOCUMENTS)
    with opened(store) as weft:
        assert weft.store.version("main") == version
    files = [name for _, folders, _ in os.walk(f"{store}.files") for name in folders]
    assert not any(name.startswith(".") for name in files), "what was arriving when it was killed is still there"
