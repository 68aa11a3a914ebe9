"""How fast documents are read and how much of them is kept, beside plain text extraction.

pdf   The PDFs of markitdown_tests for which there is a reference, and a handbook: read as `weftwork add` reads them
      (layout, tables, a picture and a thumbnail of each page, in a process of its own).
      The floor: pypdfium2's plain text of the same pages, in this process, without pictures.
ocr   Page images of omnidocbench_demo with reference Markdown, --limit of them.
      The floor: the lines in the order in which OCR found them.

similarity      1 - (edit distance / length of the longer), on letters and figures without spaces and markup
words_in_order  share of the reference's words that stand in the text in the same order
worker          what the process costs: seconds until it has read its first page, and pages per second in this
                process, without it, of the same PDFs
shelf           with --shelf PAGES: the command adds so many pages, is interrupted, run again, and once more
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pypdfium2
from PIL import Image

from benchmarks.corpus import data_folder
from benchmarks.shelf import measure
from benchmarks.timing import say
from weftwork.ingest.documents.formats import extension_of, parse
from weftwork.ingest.documents.ocr import Ocr, ocr_is_installed
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.documents.values import Limits, Tools

HANDBOOK = Path("azure_hr_docs") / "employee_handbook.pdf"
_MARKUP = re.compile(r"!\[[^]]*\]\([^)]*\)|<[^>]*>|[|#*`>\\$-]")
_TOKEN = re.compile(r"[\u2e80-\u9fff]|[^\W_]+")

Pair = tuple[str, str]
"""A text and its reference."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=4, help="page images that go through OCR (default: 4)")
    parser.add_argument(
        "--shelf", type=int, default=0, help="pages to add by the command, such as 1000 (default: none)"
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Read the same pages with Weftwork and with the floor."""
    data = data_folder()
    if args.shelf:
        return {"shelf": measure(data, args.shelf)}
    figures = {"pdf": _pdf(data), "worker": _worker(data)}
    return figures | ({"ocr": _ocr(data, args.limit)} if ocr_is_installed() and args.limit else {})


def _pdf(data: Path) -> dict[str, Any]:
    files = data / "markitdown_tests" / "files"
    wanted = {path.stem: path.read_text() for path in sorted((files / "expected_outputs").glob("*.md"))}
    paths = {name: files / f"{name}.pdf" for name, text in wanted.items() if text.strip()}
    say(f"reading {len(paths) + 1} PDFs …")
    with Parser(ocr=False) as parser:
        list(parser.pages(next(iter(paths.values())), "pdf"))  # starts the process before the clock does
        ours, seconds = _timed(lambda: {path: _markdown(parser, path) for path in [*paths.values(), data / HANDBOOK]})
    plain, floor_seconds = _timed(lambda: {path: _plain(path) for path in [*paths.values(), data / HANDBOOK]})
    pages = sum(map(len, ours.values()))
    return {
        "pages": pages,
        "pages_per_s": round(pages / seconds, 1),
        "floor_pages_per_s": round(pages / floor_seconds, 1),
        **_compared(
            [("\n".join(ours[path]), wanted[name]) for name, path in paths.items()],
            [("\n".join(plain[path]), wanted[name]) for name, path in paths.items()],
        ),
    }


def _worker(data: Path) -> dict[str, Any]:
    path = data / HANDBOOK
    say("reading a PDF with and without a process of its own …")
    with Parser(ocr=False) as parser:
        answers = parser.pages(path, "pdf")
        _, start = _timed(lambda: (next(answers), next(answers)))
        answers.close()
    with Parser(ocr=False) as parser:
        list(parser.pages(path, "pdf"))
        pages, seconds = _timed(lambda: len(_markdown(parser, path)))
    _, bare = _timed(lambda: list(parse(path, "pdf", Tools(Limits())).pages))
    return {
        "first_page_s": round(start, 2),
        "pages_per_s": round(pages / seconds, 1),
        "in_process_pages_per_s": round(pages / bare, 1),
    }


def _ocr(data: Path, limit: int) -> dict[str, Any]:
    folder = data / "omnidocbench_demo"
    images = sorted((folder / "images").glob("*.jpg"))
    step = max(1, len(images) // limit)
    chosen = images[::step][:limit]
    wanted = [(folder / "mds" / f"{path.stem}.md").read_text(encoding="utf-8") for path in chosen]
    read = Ocr()
    read(Image.new("RGB", (64, 64), "white"))
    ours, plain, seconds, bare = [], [], 0.0, 0.0
    with Parser() as parser:
        for path in chosen:
            say(f"reading {path.name} …")
            markdown, spent = _timed(partial(_markdown, parser, path))
            ours.append("\n".join(markdown))
            seconds += spent
            lines, spent = _timed(partial(read, Image.open(path).convert("RGB")))
            plain.append("\n".join(line.text for line in lines))
            bare += spent
    return {
        "pages": len(chosen),
        "pages_per_s": round(len(chosen) / seconds, 3),
        "floor_pages_per_s": round(len(chosen) / bare, 3),
        **_compared(list(zip(ours, wanted, strict=True)), list(zip(plain, wanted, strict=True))),
    }


def _markdown(parser: Parser, path: Path) -> list[str]:
    answers = parser.pages(path, extension_of(path))
    return [answer[0].markdown for answer in answers if not isinstance(answer, int)]


def _plain(path: Path) -> list[str]:
    document = pypdfium2.PdfDocument(path)
    return [page.get_textpage().get_text_range() for page in document]


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def _compared(ours: Sequence[Pair], floor: Sequence[Pair]) -> dict[str, float]:
    return {
        "similarity": _average(map(similarity, ours)),
        "floor_similarity": _average(map(similarity, floor)),
        "words_in_order": _average(map(words_in_order, ours)),
        "floor_words_in_order": _average(map(words_in_order, floor)),
    }


def _average(values: Iterable[float]) -> float:
    return round(mean(values), 3)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_MARKUP.sub(" ", text).lower())


def similarity(pair: Pair) -> float:
    """1 for equal texts, 0 for those that share nothing."""
    one, other = (np.array([ord(letter) for letter in "".join(_tokens(text))], dtype=np.int32) for text in pair)
    if not len(one) or not len(other):
        return float(len(one) == len(other))
    places = np.arange(len(other) + 1)
    row = places.copy()
    for letter in one:
        best = np.minimum(row[1:] + 1, row[:-1] + (other != letter))
        row = np.minimum.accumulate(np.concatenate(([row[0] + 1], best)) - places) + places
    return 1 - int(row[-1]) / max(len(one), len(other))


def words_in_order(pair: Pair) -> float:
    """The longest common subsequence of words as a share of the reference's."""
    numbers: dict[str, int] = {}
    text, wanted = ([numbers.setdefault(word, len(numbers)) for word in _tokens(each)] for each in pair)
    row = np.zeros(len(wanted) + 1, dtype=np.int32)
    reference = np.array(wanted, dtype=np.int32)
    for word in text:
        row = np.maximum.accumulate(np.concatenate(([0], np.maximum(row[1:], row[:-1] + (reference == word)))))
    return int(row[-1]) / max(len(wanted), 1)
