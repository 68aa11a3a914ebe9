"""Texts, questions and judgments of which texts answer them, read from files.

The layout of BEIR is a folder with `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and
`qrels.tsv` or `qrels/test.tsv` (question, text, grade; with or without a heading). Other layouts of the sets that are
used here have a function each.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JUDGMENTS = ("qrels.tsv", "qrels/test.tsv")
QUESTIONS = ("queries.jsonl", "queries.test.jsonl")


@dataclass(frozen=True, slots=True)
class Document:
    """A text that may answer a question."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and how well each of some texts answers it; only grades above 0 are kept."""

    id: str
    text: str
    grades: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Judged:
    """Texts with questions about them."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Asked, ...]


def is_beir(folder: Path) -> bool:
    """Whether a folder has the files of the layout."""
    return (folder / "corpus.jsonl").is_file() and _first(folder, JUDGMENTS) is not None


def beir_folders(folder: Path) -> list[Path]:
    """The folder itself, or those in it that have the layout."""
    if is_beir(folder):
        return [folder]
    return sorted(each for each in folder.iterdir() if each.is_dir() and is_beir(each)) if folder.is_dir() else []


def read_beir(folder: Path) -> Judged:
    """A set in the layout of BEIR; questions without a positive judgment are left out."""
    judgments, asked = _first(folder, JUDGMENTS), _first(folder, QUESTIONS)
    if judgments is None or asked is None:
        raise SystemExit(f"{folder} needs corpus.jsonl, queries.jsonl, and qrels.tsv or qrels/test.tsv")
    documents = tuple(
        Document(str(line["_id"]), str(line.get("title") or ""), str(line.get("text") or ""))
        for line in _lines(folder / "corpus.jsonl")
    )
    known = {document.id for document in documents}
    grades: dict[str, dict[str, float]] = {}
    for question, document, grade in _judgments(judgments):
        if grade > 0 and document in known:
            grades.setdefault(question, {})[document] = grade
    questions = tuple(
        Asked(str(line["_id"]), str(line["text"]), grades[str(line["_id"])])
        for line in _lines(asked)
        if str(line["_id"]) in grades
    )
    return Judged(folder.name, documents, questions)


def read_code_chunks(folder: Path) -> Judged:
    """Pieces of source files, each a text of its own."""
    files = json.loads((folder / "codebase_chunks.json").read_text(encoding="utf-8"))
    documents = tuple(
        Document(f"{file['original_uuid']}:{chunk['original_index']}", "", chunk["content"])
        for file in files
        for chunk in file["chunks"]
    )
    questions = tuple(
        Asked(str(place), line["query"], {f"{name}:{index}": 1.0 for name, index in line["golden_chunk_uuids"]})
        for place, line in enumerate(_lines(folder / "codebase_evaluation_set.jsonl"))
    )
    return Judged("cookbook_code", documents, questions)


def read_documentation(folder: Path) -> Judged:
    """Sections of documentation with their headings."""
    sections = json.loads((folder / "anthropic_docs.json").read_text(encoding="utf-8"))
    documents = tuple(Document(each["chunk_link"], each["chunk_heading"], each["text"]) for each in sections)
    known = {document.id for document in documents}
    asked = json.loads((folder / "docs_evaluation_dataset.json").read_text(encoding="utf-8"))
    found = (
        Asked(each["id"], each["question"], {name: 1.0 for name in each["correct_chunks"] if name in known})
        for each in asked
    )
    return Judged("cookbook_docs", documents, tuple(each for each in found if each.grades))


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _judgments(path: Path) -> Iterator[tuple[str, str, float]]:
    """Rows of three columns, or TREC's four with an unused second one."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file, delimiter="\t"):
            if len(row) in (3, 4) and _is_number(row[-1]):
                yield row[0], row[-2], float(row[-1])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
