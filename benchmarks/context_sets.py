"""The sets of the benchmark of contexts: workspaces with their texts, and questions with their evidence.

Each set is built once for the same texts and the same code of ingest, text and store, in .cache/bench/contexts or
$WEFTWORK_BENCH_CACHE/contexts; the latest few versions of a set are kept.
"""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

import weftwork
from benchmarks import judged, memory, relevance, research
from benchmarks.documents import _markdown
from benchmarks.floors import Piece, cut
from benchmarks.judged import Judged
from benchmarks.measures import Document, Sources, Stretch
from benchmarks.timing import say
from benchmarks.vaults import VAULTS, Question, missing_gold, pieces_of, read_questions, read_vault
from benchmarks.workspace import cache_folder
from weftwork import Weft
from weftwork.ingest.connectors.registry import recognise
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.follow import follow

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
"""The moment at which everything is written and asked, so that nothing ages between two runs."""
BUILDING = ("ingest", "text", "store", "write", "embed")
"""Folders of the package whose code decides what a store holds."""
KEPT = 3
USER = "me"


@dataclass(frozen=True, slots=True)
class Room:
    """The texts of one workspace, and the pieces of them that plain searches rank."""

    documents: Mapping[str, str]
    sources: Sources
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class ContextSet:
    """A built store with questions about it."""

    name: str
    store: Path
    questions: tuple[Question, ...]
    rooms: Mapping[str, Room]
    """By workspace."""
    vault: Path | None = None
    """Where the files are, if it is a vault."""

    def document_of(self, node: str) -> str:
        """The document that a node or a text belongs to: their names begin with that of it."""
        return node.partition(":" if self.name == "locomo_dev" else "#")[0]


def open_set(store: Path) -> Weft:
    """A store of a set at the moment at which it was built."""
    return Weft.open(store, clock=lambda: NOW)


def built(name: str, texts: Iterable[str], fill: Callable[[Weft], None], *, fresh: bool = False) -> Path:
    """The store of a set, from the cache or filled now."""
    state = hashlib.blake2b(_code_version(), digest_size=6)
    for text in texts:
        state.update(text.encode() + b"\0")
    folder = cache_folder() / "contexts" / name / state.hexdigest()
    if fresh or not (folder / "built").exists():
        say(f"building {name} …")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with open_set(folder / "set.weft") as weft:
            fill(weft)
        (folder / "built").touch()
        others = sorted(folder.parent.iterdir(), key=lambda each: each.stat().st_mtime)
        for old in others[:-KEPT]:
            shutil.rmtree(old)
    return folder / "set.weft"


@cache
def _code_version() -> bytes:
    package = Path(weftwork.__file__).parent
    state = hashlib.blake2b(digest_size=16)
    for file in sorted(file for part in BUILDING for file in (package / part).rglob("*.py")):
        state.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes())
    return state.digest()


def vault_set(name: str, path: Path, questions: tuple[Question, ...], *, fresh: bool = False) -> ContextSet:
    """A vault, added as `weftwork add` does."""
    documents = read_vault(path)
    for wrong in missing_gold(questions, documents):
        say(f"  {wrong}")

    def fill(weft: Weft) -> None:
        report = follow(weft, path, recognise(path))
        say(f"  {report.nodes:,} nodes, {len(report.skipped)} skipped")

    store = built(name, (text for pair in documents.items() for text in pair), fill, fresh=fresh)
    room = Room(documents, Sources(documents), tuple(pieces_of(documents)))
    return ContextSet(name, store, questions, {"main": room}, vault=path)


def _vault(name: str, data: Path, fresh: bool) -> ContextSet:
    return vault_set(name, data / VAULTS[name], read_questions(name), fresh=fresh)


def _judged(read: Callable[[Path], Judged], folder: str, name: str, data: Path, fresh: bool) -> ContextSet:
    """Texts that are judged as a whole."""
    source = read(data / folder)
    texts = (f"{each.id}\0{each.title}\0{each.text}" for each in source.documents)
    store = built(name, texts, partial(_write, source=source), fresh=fresh)
    documents = {each.id: each.text or each.title for each in source.documents}
    pieces = tuple(piece for each in source.documents for piece in cut(each.title, each.text or each.title))
    questions = tuple(
        Question(each.id, each.text, tuple(Document(text) for text in sorted(each.grades))) for each in source.questions
    )
    return ContextSet(name, store, questions, {"main": Room(documents, Sources(documents), pieces)})


def _write(weft: Weft, source: Judged) -> None:
    relevance.write(weft, source)


def _conversations(name: str, data: Path, fresh: bool) -> ContextSet:
    """Turns of long conversations, each conversation a workspace, each session a thread."""
    conversations = list(memory._read(data / name / "locomo_dev.json"))

    def fill(weft: Weft) -> None:
        for each in conversations:
            memory._fill(weft, each)

    store = built(name, (turn.text for each in conversations for turn in each.turns), fill, fresh=fresh)
    rooms = {}
    for each in conversations:
        documents = {turn.id: turn.text for turn in each.turns}
        rooms[each.name] = Room(documents, Sources(documents), tuple(Piece("", turn.text) for turn in each.turns))
    questions = tuple(
        Question(f"{each.name}-{place}", text, tuple(map(Document, sorted(evidence))), workspace=each.name)
        for each in conversations
        for place, (text, evidence) in enumerate(each.questions)
    )
    return ContextSet(name, store, questions, rooms)


def _pages(name: str, data: Path, fresh: bool) -> ContextSet:
    """PDFs as `weftwork add` reads them; the answers that are given as true cite their pages."""
    files = sorted((data / name).glob("*.pdf"))
    store = built(
        name,
        (f"{file.name} {file.stat().st_size}" for file in files),
        lambda weft: research._read(weft, data / name, "main"),
        fresh=fresh,
    )
    documents = _page_texts(files, store.parent / "pages.json")
    pieces = tuple(piece for page, text in documents.items() for piece in cut(page.partition("#")[0], text))
    asked = research._questions(data / name / "ground_truth.jsonl")
    questions = tuple(
        Question(str(place), each.question, tuple(Document(f"{file}#page={page}") for file, page in sorted(each.gold)))
        for place, each in enumerate(asked)
    )
    return ContextSet(name, store, questions, {"main": Room(documents, Sources(documents), pieces)})


def _page_texts(files: Iterable[Path], kept: Path) -> dict[str, str]:
    if not kept.exists():
        with Parser(ocr=False) as parser:
            found = {
                f"{file.name}#page={number}": text
                for file in files
                for number, text in enumerate(_markdown(parser, file), start=1)
            }
        kept.write_text(json.dumps(found), encoding="utf-8")
    pages: dict[str, str] = json.loads(kept.read_text(encoding="utf-8"))
    return pages


def _spans(name: str, data: Path, fresh: bool) -> ContextSet:
    """Long texts, each one node, with questions whose answers are spans of characters."""
    files = sorted((data / name / "corpora").glob("*.md"))
    documents = {file.stem: file.read_bytes().decode("utf-8") for file in files}
    source = Judged(name, tuple(judged.Document(each, "", text) for each, text in documents.items()), ())
    store = built(name, documents.values(), partial(_write, source=source), fresh=fresh)
    sources = Sources(documents)
    with (data / name / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        questions = tuple(_excerpts(place, row, documents, sources) for place, row in enumerate(csv.DictReader(file)))
    pieces = tuple(piece for each, text in documents.items() for piece in cut(each, text))
    return ContextSet(name, store, questions, {"main": Room(documents, sources, pieces)})


def _excerpts(place: int, row: Mapping[str, str], documents: Mapping[str, str], sources: Sources) -> Question:
    corpus = row["corpus_id"]
    spans = [(gold["start_index"], gold["end_index"]) for gold in json.loads(row["references"])]
    text = documents[corpus]
    found = (sources.span_in(corpus, text[:start], text[start:end]) for start, end in spans)
    return Question(str(place), row["question"], tuple(map(Stretch, found)))


COOKBOOK = "anthropic_cookbook_rag"
SETS: Mapping[str, Callable[[str, Path, bool], ContextSet]] = {
    **dict.fromkeys(VAULTS, _vault),
    "locomo_dev": _conversations,
    "azure_hr_docs": _pages,
    "anthropic_cookbook_docs": partial(_judged, judged.read_documentation, COOKBOOK),
    "anthropic_cookbook_code": partial(_judged, judged.read_code_chunks, COOKBOOK),
    "chunking_evaluation": _spans,
    **{
        name: partial(_judged, judged.read_beir, name)
        for name in (
            "cosqa_code_search",
            "ir_cranfield",
            "ir_cisi",
            "ir_med",
            "multihop_hotpotqa100_train",
            "multihop_musique100",
        )
    },
}
FOLDERS = {"anthropic_cookbook_docs": COOKBOOK, "anthropic_cookbook_code": COOKBOOK}
"""Where the data of a set is, if not under its name."""
