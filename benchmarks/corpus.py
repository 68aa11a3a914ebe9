"""Real text and real queries, read from `$WEFTWORK_DATA` or from `../shared/data` beside the repository."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent

COLLECTIONS = (
    "ir_cranfield",
    "ir_cisi",
    "ir_med",
    "multihop_hotpotqa100_train",
    "multihop_musique100",
    "cosqa_code_search",
)
"""Folders with a `corpus.jsonl` of short independent texts."""
VAULTS = ("kb_blue_book", "kb_logseq_docs", "kb_kepano", "kb_foam_docs")
QUERIES = (
    *(f"{name}/queries.jsonl" for name in COLLECTIONS[:-1]),
    "cosqa_code_search/queries.dev.jsonl",
    "cosqa_code_search/queries.test.jsonl",
    "anthropic_cookbook_rag/codebase_evaluation_set.jsonl",
)

SHORT = 120
"""Characters below which a paragraph is kept together with the next one, as a heading is."""
GROUPED = 8
"""Texts of a collection that make one document."""
MOST_PARAGRAPHS = 40
"""A longer document is cut into parts."""

_BLANK = re.compile(r"\n[ \t]*\n+")


@dataclass(frozen=True, slots=True)
class Document:
    """A title with paragraphs, and the data set that it comes from."""

    origin: str
    title: str
    paragraphs: tuple[str, ...]


def data_folder() -> Path:
    """Where the real text is; ends the program with instructions if it is nowhere."""
    named = os.environ.get("WEFTWORK_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not (folder / "ir_cranfield" / "corpus.jsonl").is_file():
        raise SystemExit(
            f"benchmarks need the real texts of {folder}, which are not there: "
            "set WEFTWORK_DATA to the folder that holds ir_cranfield, ir_cisi, kb_blue_book …"
        )
    return folder


def read_documents(folder: Path) -> list[Document]:
    """All documents, in an order that depends on nothing but the files."""
    found = [
        *(document for name in COLLECTIONS for document in _collection(folder, name)),
        *(document for name in VAULTS for document in _vault(folder / name / "vault", name)),
        *_essays(folder / "pg_essays"),
        *_documentation(folder / "anthropic_cookbook_rag" / "anthropic_docs.json"),
        *_code(folder / "anthropic_cookbook_rag" / "codebase_chunks.json"),
    ]
    return [part for document in found for part in _parts(document)]


def read_queries(folder: Path) -> list[str]:
    """All real queries, each once."""
    asked = [
        " ".join(str(line.get("text") or line.get("query")).split())
        for name in QUERIES
        for line in _lines(folder / name)
    ]
    documentation = json.loads((folder / "anthropic_cookbook_rag" / "docs_evaluation_dataset.json").read_text("utf-8"))
    asked += [" ".join(each["question"].split()) for each in documentation]
    return list(dict.fromkeys(query for query in asked if query))


def sample_queries(folder: Path, count: int, seed: int) -> list[str]:
    """Distinct real queries, drawn without replacement."""
    known = read_queries(folder)
    if count > len(known):
        raise SystemExit(f"{count} distinct queries were asked for, there are {len(known)}: ask for fewer")
    return random.Random(f"queries/{seed}").sample(known, count)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _collection(folder: Path, name: str) -> Iterator[Document]:
    texts = [line for line in _lines(folder / name / "corpus.jsonl") if line["text"].strip()]
    for start in range(0, len(texts), GROUPED):
        group = texts[start : start + GROUPED]
        title = group[0]["title"] or _first_words(group[0]["text"])
        yield Document(name, title[:120], tuple(_headed(each["title"], each["text"]) for each in group))


def _headed(title: str, text: str) -> str:
    return text if not title or text.startswith(title) else f"{title}. {text}"


def _vault(folder: Path, name: str) -> Iterator[Document]:
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield Document(name, path.stem.replace("___", "/").replace("_", " "), tuple(_paragraphs(text)))


def _essays(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.glob("*.txt")):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield Document("pg_essays", path.stem, tuple(_paragraphs(text)))


def _documentation(path: Path) -> Iterator[Document]:
    pages: dict[str, list[str]] = {}
    for chunk in json.loads(path.read_text("utf-8")):
        pages.setdefault(chunk["chunk_link"].partition("#")[0], []).append(chunk["text"])
    for link, texts in pages.items():
        yield Document("anthropic_docs", link.rsplit("/", 1)[-1], tuple(_paragraphs("\n\n".join(texts))))


def _code(path: Path) -> Iterator[Document]:
    for file in json.loads(path.read_text("utf-8")):
        chunks = [chunk["content"] for chunk in file["chunks"]]
        yield Document("codebase", _first_words(file["content"]), tuple(chunks))


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs of natural length: a short one, such as a heading, stays with what follows."""
    pending = ""
    for paragraph in _BLANK.split(text):
        pending = f"{pending}\n\n{paragraph}" if pending else paragraph.strip("\n")
        if len(pending) >= SHORT:
            yield pending
            pending = ""
    if pending.strip():
        yield pending


def _parts(document: Document) -> Iterable[Document]:
    paragraphs = tuple(paragraph for paragraph in document.paragraphs if paragraph.strip())
    for number, start in enumerate(range(0, len(paragraphs), MOST_PARAGRAPHS), start=1):
        title = document.title if number == 1 else f"{document.title}, part {number}"
        yield Document(document.origin, title, paragraphs[start : start + MOST_PARAGRAPHS])


def _first_words(text: str) -> str:
    return " ".join(text.split()[:8])
