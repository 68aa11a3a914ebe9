"""Whether the text of a page says what the page shows: small checks of single facts, beside plain text extraction.

Each check is about one page of one file (questions/parsing.jsonl for public files and made_pdfs.py for those that are
made here), as in olmOCR-Bench (https://arxiv.org/abs/2502.18443):

present   a stretch of text is there, whole words and all
order     one stretch stands before another
absent    running heads, page numbers, hidden text and other noise are not there
table     a cell is in a table, with the right cell to its left and the right heading above it

Text is compared in lower case, without spaces and markup; a scan may differ in one letter of ten. The floor is pdfium's
plain text of the same page, and for scans the lines in the order in which OCR found them. Plain text has no tables.
`--limit` page images of omnidocbench_demo go through OCR; their checks are taken from the reference texts: the first
words of paragraphs, and their order.
"""

from __future__ import annotations

import argparse
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pypdfium2
from PIL import Image

from benchmarks.corpus import data_folder
from benchmarks.made_pdfs import made
from benchmarks.timing import say
from weftwork.ingest.documents.formats import extension_of
from weftwork.ingest.documents.ocr import Ocr, ocr_is_installed
from weftwork.ingest.documents.parsing import Parser

CHECKS = Path(__file__).parent / "questions" / "parsing.jsonl"
KINDS = ("present", "order", "absent", "table")
SLACK = 0.1
"""The share of letters in which a scan may differ."""
STEP = 6
"""Words of a paragraph of a reference that are looked for."""
_MARKUP = re.compile(r"!\[[^]]*\]\([^)]*\)|<[^>]*>")
_LETTER = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Check:
    """A fact about a page."""

    file: str
    group: str
    kind: str
    page: int = 1
    text: str = ""
    after: str = ""
    """Of `order`: the stretch that comes later."""
    left: str = ""
    above: str = ""
    scan: bool = False


@dataclass(slots=True)
class Score:
    """Checks that hold."""

    held: int = 0
    of: int = 0
    failed: list[str] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=4, help="page images that go through OCR (default: 4)")
    parser.add_argument("--failed", action="store_true", help="name the checks that fail")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Ask each check of our text and of the floor's."""
    data = data_folder()
    with TemporaryDirectory() as folder, Parser() as parser:
        checks = read_checks() + [Check(**each) for each in made(Path(folder))]
        places = {check.file: _place(check.file, data, Path(folder)) for check in checks}
        checks += _image_checks(data, args.limit, places) if ocr_is_installed() else []
        ours: dict[str, list[str]] = {}
        plain: dict[str, list[str]] = {}
        for file, path in places.items():
            say(f"reading {path.name} …")
            ours[file] = [
                answer[0].markdown for answer in parser.pages(path, extension_of(path)) if isinstance(answer, tuple)
            ]
            plain[file] = _plain(path)
    scores = {"ours": _scores(checks, ours), "floor": _scores(checks, plain)}
    figures: dict[str, Any] = {}
    for group in sorted({check.group for check in checks}):
        figures[group] = {
            name: {kind: _share(groups[group, kind]) for kind in KINDS if (group, kind) in groups}
            for name, groups in scores.items()
        }
    figures["all"] = {name: {kind: _share(_sum(groups, kind)) for kind in KINDS} for name, groups in scores.items()}
    if args.failed:
        for score in scores["ours"].values():
            for line in score.failed:
                say(f"fails: {line}")
    return figures


def table(figures: Mapping[str, Any]) -> str:
    """A line for each class of files: ours beside the floor."""
    lines = [f"{'':22}" + "".join(f"{kind:>18}" for kind in KINDS)]
    for group, both in figures.items():
        cells = [f"{both['ours'].get(kind, '')!s:>9} ({both['floor'].get(kind, '')!s})" for kind in KINDS]
        lines.append(f"{group:22}" + "".join(f"{cell:>18}" for cell in cells))
    return "\n".join(lines)


def read_checks() -> list[Check]:
    """The checks of public files."""
    with CHECKS.open(encoding="utf-8") as lines:
        return [Check(**json.loads(line)) for line in lines if line.strip()]


def holds(check: Check, text: str) -> bool:
    """Return True if a page says what a check wants."""
    if check.kind == "table":
        return any(_has_cell(rows, check) for rows in _tables(text))
    slack = SLACK if check.scan else 0.0
    letters = _letters(text)
    first = find(_letters(check.text), letters, slack)
    if check.kind == "absent":
        return first is None
    if check.kind == "present" or first is None:
        return first is not None
    second = find(_letters(check.after), letters, slack)
    return second is not None and first < second


def find(wanted: str, text: str, slack: float) -> int | None:
    """The end of the best place of a stretch in a text, with at most so many wrong letters; None if there is none."""
    if not slack:
        place = text.find(wanted)
        return None if place < 0 else place + len(wanted)
    letters = np.array([ord(letter) for letter in text], dtype=np.int32)
    places = np.arange(len(letters) + 1)
    row = np.zeros(len(letters) + 1, dtype=np.int64)
    for letter in wanted:
        best = np.minimum(row[1:] + 1, row[:-1] + (letters != ord(letter)))
        row = np.minimum.accumulate(np.concatenate(([row[0] + 1], best)) - places) + places
    end = int(np.argmin(row))
    return end if row[end] <= slack * len(wanted) else None


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKC", _MARKUP.sub(" ", text.replace("\ufffe", "-").replace("\u00ad", "-"))).lower()
    return "".join(letter for letter in plain if _LETTER.match(letter) or letter in "-%€")


def _tables(text: str) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            cells = [_letters(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            if not all(set(cell) <= {"-"} and cell for cell in cells):
                rows.append(cells)
        elif rows:
            yield rows
            rows = []


def _has_cell(rows: Sequence[Sequence[str]], check: Check) -> bool:
    wanted, left, above = map(_letters, (check.text, check.left, check.above))
    for row in rows:
        for column, cell in enumerate(row):
            if cell == wanted and (not left or (column and row[column - 1] == left)):
                heading = rows[0][column] if column < len(rows[0]) else ""
                if not above or heading == above:
                    return True
    return False


def _place(file: str, data: Path, folder: Path) -> Path:
    return folder / file.removeprefix("made/") if file.startswith("made/") else data / file


def _plain(path: Path) -> list[str]:
    """The floor: pdfium's text, or the lines of OCR as they are found."""
    if extension_of(path) == "pdf":
        return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(path)]
    return ["\n".join(line.text for line in Ocr()(Image.open(path).convert("RGB")))]


def _image_checks(data: Path, limit: int, places: dict[str, Path]) -> list[Check]:
    """Checks of page images by their reference texts; the images are added to the files."""
    folder = data / "omnidocbench_demo"
    images = sorted((folder / "images").glob("*.jpg"))
    checks = []
    for path in images[:: max(1, len(images) // limit)][:limit] if limit else ():
        file = f"omnidocbench_demo/images/{path.name}"
        places[file] = path
        starts = list(_starts((folder / "mds" / f"{path.stem}.md").read_text(encoding="utf-8")))
        checks += [Check(file, "page images", "present", text=start, scan=True) for start in starts]
        checks += [
            Check(file, "page images", "order", text=one, after=other, scan=True) for one, other in pairwise(starts)
        ]
    return checks


def _starts(markdown: str) -> Iterator[str]:
    """The first words of the paragraphs of a reference."""
    for block in re.split(r"\n\s*\n", markdown):
        plain = _MARKUP.sub(" ", block).strip("#*>- \n")
        words = plain.split()
        if block.lstrip().startswith(("|", "<")) or "\\" in plain or "$" in plain:
            continue
        if len(words) >= 2 * STEP:
            yield " ".join(words[:STEP])
        elif len(words) < STEP and len(plain) > 40:  # a script without spaces
            yield plain[:16]


def _scores(checks: Sequence[Check], texts: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], Score]:
    scores: dict[tuple[str, str], Score] = defaultdict(Score)
    for check in checks:
        pages = texts[check.file]
        score = scores[check.group, check.kind]
        score.of += 1
        if check.page <= len(pages) and holds(check, pages[check.page - 1]):
            score.held += 1
        else:
            score.failed.append(
                f"{check.kind} {check.file} p. {check.page}: {check.text!r} {check.after or check.left!r}"
            )
    return scores


def _sum(scores: Mapping[tuple[str, str], Score], kind: str) -> Score:
    chosen = [score for (_, each), score in scores.items() if each == kind]
    return Score(sum(score.held for score in chosen), sum(score.of for score in chosen))


def _share(score: Score) -> str:
    return f"{score.held}/{score.of}"
