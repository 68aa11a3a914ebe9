"""Which pages are found for questions about real PDFs, and whether an answer cites the right ones.

The HR documents of azure_hr_docs are added as `weftwork add` does, and each question of its ground truth is asked. Gold
are the pages that the true answer cites. Recall at k is the share of the gold pages among the first k.

  text, visual, hybrid   the search modes of the recipe "research" as it comes; no download, no key
  bm25                   the same pages by BM25 over their text (tantivy, English stemming)

  charts                 ten questions about a report whose answers stand in charts, in a workspace of its own, by the
                         same four: what is drawn but not written can be found by its surroundings only

"hybrid_minus" tells for each depth by how much the recall of hybrid is above that of the other two, with the bounds of
a paired interval of 95 %.

citation_precision is the share of gold pages among those that the extractive answer cites, for the hybrid search; under
"precision" for each mode. Under "held_out" stands the mean recall of weights of the hybrid search that were chosen anew
on half of the questions ("fitted"), and on the other half ("confirmed"), beside that of words alone, and the tenth, the
median and the ninetieth percentile of each weight that was chosen. Under "times" stands the research contract's table
of limits: what the median took, which part of the limit that is, and how many times the bare cost of the same work (the
"floor") in the same run. Documents come from $WEFTWORK_DATA or ../shared/data; they are read once and kept in
.cache/bench (or $WEFTWORK_BENCH_CACHE).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tantivy

from benchmarks.corpus import data_folder
from benchmarks.heldout import hold_out
from benchmarks.timing import Laps, percentile, say
from benchmarks.workspace import cache_folder
from weftwork import Weft
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE
from weftwork.faces.research import ContextBuilder, WeftSearch, ask
from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.follow import follow
from weftwork.ingest.report import Options
from weftwork.store.sqlite.connection import Connections
from weftwork.types import PAGE, Filters, Node

CHARTS = "ground_truth_multimodal.jsonl"
DEPTHS = (1, 3, 5, 10)
FEWEST = 20
"""Questions below which halves of them say nothing."""
MODES = ("text", "visual", "hybrid")
LIMITS = {"context of ten sources": 1_000.0, "one source": 100.0, "100 duplicates": 10.0, "10,000 characters": 5.0}
"""Milliseconds, from the performance requirements of the contract."""

_GOLD = re.compile(r"\[([^\[\]#]+\.pdf)#page=(\d+)")
_TEXT = "SELECT n.fields, p.text FROM nodes n JOIN passages p ON p.node = n.pk WHERE n.id = ? ORDER BY p.ordinal"

Pages = frozenset[tuple[str, int]]
Order = Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the pages that answer it."""

    question: str
    gold: Pages


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=int, help="only the first so many")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Recall and precision of each mode beside BM25, and the times beside their limits."""
    folder = data_folder() / "azure_hr_docs"
    questions = _questions(folder / "ground_truth.jsonl")[: args.questions]
    with Weft.open(_store(folder)) as weft:
        pages = _pages(weft)
        say(f"{len(pages)} pages, {len(questions)} questions")
        figures = {"pages": len(pages), "questions": len(questions)} | _quality(weft, pages, questions)
        if len(questions) >= FEWEST:
            asked, gold = [each.question for each in questions], [each.gold for each in questions]
            figures["held_out"] = hold_out(weft, asked, gold, DEPTHS, args.seed)
        if (folder / CHARTS).exists():
            figures["charts"] = _charts(weft, folder)
        figures["times"] = _times(weft, pages, questions, random.Random(args.seed))
        return figures


def _charts(weft: Weft, folder: Path) -> dict[str, Any]:
    """The questions whose answers stand in charts."""
    if "charts" not in weft.store.workspaces():
        weft.create_workspace("charts")
    _read(weft, folder / "Multimodal_Examples", "charts")
    pages, questions = _pages(weft, "charts"), _questions(folder / CHARTS)
    found = _quality(weft, pages, questions, "charts")
    return {"pages": len(pages), "questions": len(questions)} | found


def _quality(
    weft: Weft, pages: Sequence[Node], questions: Sequence[Asked], workspace: str = DEFAULT_WORKSPACE
) -> dict[str, Any]:
    search = WeftSearch(weft, workspace=workspace)
    orders = {mode: [_named(search.find(each.question, max(DEPTHS), mode)) for each in questions] for mode in MODES}
    found: dict[str, Any] = {mode: _recall(orders[mode], questions) for mode in MODES}
    found["hybrid_minus"] = {mode: _paired(orders["hybrid"], orders[mode], questions) for mode in ("text", "visual")}
    plain = _plain_bm25(pages)
    found["bm25"] = _recall([plain(each.question) for each in questions], questions)
    builder = ContextBuilder.for_weft(weft, workspace=workspace)
    precision = {mode: asyncio.run(_precision(builder, weft, questions, mode)) for mode in MODES}
    return {**found, "citation_precision": precision["hybrid"], "precision": precision}


def _paired(ours: Sequence[Order], theirs: Sequence[Order], questions: Sequence[Asked]) -> dict[str, list[float]]:
    """By depth the difference of recall, and the bounds that 95 % of a thousand resamplings of questions lie within."""
    draw = random.Random(0)
    found = {}
    for depth in DEPTHS:
        pairs = zip(ours, theirs, questions, strict=True)
        apart = [_share(one, each, depth) - _share(other, each, depth) for one, other, each in pairs]
        means = sorted(statistics.fmean(draw.choices(apart, k=len(apart))) for _ in range(1000))
        found[f"recall@{depth}"] = [round(value, 3) for value in (statistics.fmean(apart), means[25], means[974])]
    return found


def _share(order: Order, asked: Asked, depth: int) -> float:
    return len(set(order[:depth]) & asked.gold) / len(asked.gold)


def _recall(orders: Sequence[Sequence[tuple[str, int]]], questions: Sequence[Asked]) -> dict[str, float]:
    def at(depth: int) -> float:
        shares = [_share(order, each, depth) for order, each in zip(orders, questions, strict=True)]
        return round(statistics.fmean(shares), 4)

    return {f"recall@{depth}": at(depth) for depth in DEPTHS}


async def _precision(builder: ContextBuilder, weft: Weft, questions: Sequence[Asked], mode: str) -> float:
    """Share of gold pages among the cited, question by question; an answer that cites nothing counts as wrong."""
    shares = []
    for each in questions:
        answer = await ask(
            builder,
            each.question,
            embedder=weft.tools.embedder,
            include_text=mode != "visual",
            include_visual=mode != "text",
        )
        cited = {(answer.sources[number - 1].filename, answer.sources[number - 1].page) for number in answer.cited}
        shares.append(len(cited & each.gold) / len(cited) if cited else 0.0)
    return round(statistics.fmean(shares), 4)


def _times(weft: Weft, pages: Sequence[Node], questions: Sequence[Asked], draw: random.Random) -> dict[str, Any]:
    """The contract's table; questions are new ones, so that no cache has seen them."""
    laps, floor = Laps(), Laps()
    builder = ContextBuilder.for_weft(weft)
    text = "\n\n".join(page.text for page in pages)[:10_000]
    results = [{"doc_id": f"d{n % 40}", "page": n % 3 + 1, "score": draw.random()} for n in range(100)]
    bare = _Bare(weft, pages)
    for each in questions:
        words = each.question.split()
        draw.shuffle(words)
        with laps("context of ten sources"):
            research = asyncio.run(builder.build_context(" ".join(words)))
        with floor("context of ten sources"):
            bare.context(" ".join(words), [f"{source.doc_id}#page={source.page}" for source in research.sources])
        source = research.sources[0]
        with laps("one source"):
            asyncio.run(builder.get_source_metadata(source.doc_id, source.page))
        with floor("one source"):
            bare.page(f"{source.doc_id}#page={source.page}")
        with laps("100 duplicates"):
            builder.deduplicate_results(results)
        with floor("100 duplicates"):
            sorted({(each["doc_id"], each["page"]): float(str(each["score"])) for each in results}.values())
        with laps("10,000 characters"):
            builder.estimate_tokens(text)
        with floor("10,000 characters"):
            weft.tools.counter.count(text)
    return {
        name: {
            **_row(laps.laps[name], floor.laps[name], limit),
            "cpu_p50_ms": round(percentile(laps.cpu[name], 50), 3),
            "ratio_cpu": round(percentile(laps.cpu[name], 50) / percentile(floor.cpu[name], 50), 2),
        }
        for name, limit in LIMITS.items()
    }


def _row(times: Sequence[float], floor: Sequence[float], limit: float) -> dict[str, float]:
    took, bare = percentile(times, 50), percentile(floor, 50)
    return {
        "p50_ms": round(took, 3),
        "p95_ms": round(percentile(times, 95), 3),
        "limit_ms": limit,
        "share_of_limit": round(took / limit, 4),
        "floor_p50_ms": round(bare, 3),
        "ratio": round(took / bare, 2),
    }


class _Bare:
    """What no implementation can do without: a search by words, the rows of the pages, and counting their text."""

    def __init__(self, weft: Weft, pages: Sequence[Node]) -> None:
        self._weft = weft
        self._search = _plain_bm25(pages)
        self._connections = Connections(weft.store.path)  # type: ignore[attr-defined]

    def context(self, question: str, names: Sequence[str]) -> None:
        self._search(question)
        embedder = self._weft.tools.embedder
        assert embedder is not None
        embedder.embed(question)
        self._weft.tools.counter.count("\n\n".join(self.page(name) for name in names))

    def page(self, name: str) -> str:
        with self._connections.read() as connection:
            rows = connection.execute(_TEXT, (name,)).fetchall()
        json.loads(rows[0][0])
        return "".join(row[1] for row in rows)


def _plain_bm25(pages: Sequence[Node]) -> Callable[[str], list[tuple[str, int]]]:
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("place", stored=True, tokenizer_name="raw")
    schema.add_text_field("text", tokenizer_name="en_stem")
    index = tantivy.Index(schema.build())
    writer = index.writer(num_threads=1)
    for place, page in enumerate(pages):
        writer.add_document(tantivy.Document(place=str(place), text=page.text))
    writer.commit()
    index.reload()

    def search(question: str) -> list[tuple[str, int]]:
        query = index.parse_query(re.sub(r"\W+", " ", question), ["text"])
        searcher = index.searcher()
        hits = searcher.search(query, max(DEPTHS)).hits
        return [_name(pages[int(searcher.doc(address)["place"][0])].fields) for _, address in hits]

    return search


def _named(results: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    return [(result["filename"], result["page"]) for result in results]


def _name(fields: Mapping[str, Any]) -> tuple[str, int]:
    return str(fields["filename"]), int(fields["page"])


def _store(folder: Path) -> Path:
    """The documents in a store of their own; what is there already is not read again."""
    path = cache_folder() / "research.weft"
    path.parent.mkdir(parents=True, exist_ok=True)
    with Weft.open(path) as weft:
        _read(weft, folder, DEFAULT_WORKSPACE)
    return path


def _read(weft: Weft, folder: Path, workspace: str) -> None:
    for document in sorted(folder.glob("*.pdf")):
        say(f"reading {document.name}")
        report = follow(weft, document, get_connector("files"), Options(workspace=workspace, mentions=False))
        for skipped in report.skipped:
            raise SystemExit(f"{skipped.what} {skipped.why}")


def _pages(weft: Weft, workspace: str = DEFAULT_WORKSPACE) -> list[Node]:
    with weft.store.view(workspace, DEFAULT_USER) as view:
        infos = view.select(Filters(types=frozenset({PAGE})), limit=10_000, sort="title")
        return view.nodes([info.id for info in infos])


def _questions(path: Path) -> list[Asked]:
    if not path.exists():
        raise SystemExit(f"{path} is not there: set WEFTWORK_DATA to the folder that has azure_hr_docs")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    asked = [
        Asked(row["question"], frozenset((name, int(page)) for name, page in _GOLD.findall(row["truth"])))
        for row in rows
    ]
    return [each for each in asked if each.gold]
