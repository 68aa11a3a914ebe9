"""Odd files of other projects: each is added or reported, and none crashes or hangs."""

import os
from pathlib import Path

import pytest

from weftwork.ingest.documents.formats import READERS, extension_of
from weftwork.ingest.documents.libreoffice import libreoffice
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.documents.values import Limits, Unreadable

DATA = Path(os.environ.get("WEFTWORK_DATA") or Path(__file__).parents[4] / "shared" / "data")
FOLDERS = [DATA / "pypdf_sample_files", DATA / "markitdown_tests"]
FILES = sorted(path for folder in FOLDERS for path in folder.rglob("*") if extension_of(path) in READERS)
REFUSED = {
    "libreoffice-writer-password.pdf": "is protected by a password",
    "unreadablemetadata.pdf": "is no PDF that can be read",
}

pytestmark = pytest.mark.skipif(not FILES, reason=f"the files of {DATA} are not there: set WEFTWORK_DATA")


@pytest.fixture(scope="module")
def parser():
    with Parser(Limits(seconds=120), ocr=False) as opened:
        yield opened


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_file_is_read_or_refused(parser, path):
    answers = parser.pages(path, extension_of(path))
    if READERS[extension_of(path)] == READERS["doc"] and not libreoffice():
        with pytest.raises(Unreadable, match="which LibreOffice reads: install it"):
            list(answers)
        return
    if path.name in REFUSED:
        with pytest.raises(Unreadable, match=REFUSED[path.name]):
            list(answers)
        return
    count, *found = answers
    assert len(found) == count > 0


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("test.docx", ["# Abstract", "314b0a30-5b04-470b-b9f7-eed2c2bec74a", "d666f1f7-46cb-42bd-9a39-9a39cf2a509f"]),
        ("test.pptx", ["2cdda5c8-e50e-4db4-b5f0-9722a649f455", "1b92870d-e3b5-4e65-8153-919f4ff45592"]),
        ("test.xlsx", ["6ff4173b-42a5-4784-9b19-f49caff4d93d", "affc7dad-52dc-4b98-9b5d-51e65d8a8ad0"]),
        ("test_blog.html", ["Large language models (LLMs) are powerful tools"]),
        ("test.epub", ["# Chapter 1: Test Content", "> This is a blockquote for testing."]),
        ("test.pdf", ["# 1 Introduction", "While there is contemporaneous exploration of multi-agent approaches"]),
        ("SPARSE-2024-INV-1234_borderless_table.pdf", ["| SKU-9201 |  | 780 | 778 |  | OK |"]),
        (
            "REPAIR-2022-INV-001_multipage.pdf",
            ["| Body Labor | 2 | 150 | 300 |", "| GRAND TOTAL |  |  | 5,738 |", "## ZAVA AUTO REPAIR"],
        ),
    ],
)
def test_what_the_files_of_markitdown_say_is_found(parser, name, wanted):
    path = DATA / "markitdown_tests" / "files" / name
    _, *found = parser.pages(path, extension_of(path))
    said = "\n".join(page.markdown for page, _ in found)
    assert [each for each in wanted if each not in said] == []
