"""Weftwork beside what one would pick instead, with the same embeddings, the same questions and the same budget.

Each peer has a virtual environment of its own in the cache of the benchmarks, made when it is missing, and is set up as
its own guide recommends for hybrid search: LlamaIndex, LangChain, Haystack, txtai. Plain BM25 (bm25s) and plain vectors
stand beside them. All have the static embeddings that ship with Weftwork. nDCG@10, recall@10 and all_gold@10 look at
the first ten texts; recall@N_tokens and all_gold@N_tokens at what a context of N tokens holds: Weftwork's own, whose
headings count, and for the others their pieces, the best first, until the next does not fit.

With --save the tables in docs/peers.md are written anew. `--peers words,bm25s` compares search by words alone.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import judged
from benchmarks.corpus import REPOSITORY, data_folder
from benchmarks.judged import Judged
from benchmarks.rivals import BY_WORDS, NAMES
from benchmarks.timing import percentile, say
from benchmarks.workspace import cache_folder
from weftwork.evaluate import metrics
from weftwork.text.tokens import get_counter

BUDGETS = (500, 1_000, 2_000, 4_000)
DEPTH = 100
PAGE = REPOSITORY / "docs" / "peers.md"
RECALLS = tuple(f"recall@{budget}_tokens" for budget in BUDGETS)
METRICS = ("nDCG@10", "recall@10", "all_gold@10", *RECALLS, *(f"all_gold@{budget}_tokens" for budget in BUDGETS))
SUMMED_UP = ("nDCG@10", *RECALLS)
COSTS = ("index_s", "query_p50_ms", "query_p95_ms", "memory_mb")

Pieces = Sequence[tuple[str, str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare its own options."""
    parser.add_argument("--peers", default=",".join(NAMES), help="only these, separated by commas")
    parser.add_argument("--sets", help="only these, separated by commas")
    parser.add_argument("--questions", type=int, default=200, help="the first so many of each set (default: 200)")
    parser.add_argument("--data", type=Path, help="a folder in the layout of BEIR, or a folder of such folders")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Every peer on every set, one after the other."""
    peers = args.peers.split(",")
    if unknown := sorted(set(peers).difference((*NAMES, BY_WORDS))):
        raise SystemExit(f"there is no peer {', '.join(unknown)}: choose from {', '.join((*NAMES, BY_WORDS))}")
    wanted = set(args.sets.split(",")) if args.sets else None
    pythons = {name: environment(name) for name in peers}
    figures: dict[str, Any] = {
        "peers": peers,
        "versions": {name: versions(name, pythons[name]) for name in peers},
        "sets": {},
    }
    for judgments in _sets(args.data):
        if wanted is None or judgments.name in wanted:
            figures["sets"][judgments.name] = _compared(judgments, pythons, args.questions)
    if not figures["sets"]:
        raise SystemExit("there is no set to measure: see --data and --sets")
    if args.save:
        PAGE.write_text(page(figures), encoding="utf-8")
    return figures


def _sets(data: Path | None) -> Iterator[Judged]:
    folder = data or data_folder()
    for each in judged.beir_folders(folder):
        yield judged.read_beir(each)
    cookbook = folder / "anthropic_cookbook_rag"
    if data is None and cookbook.is_dir():
        yield judged.read_code_chunks(cookbook)
        yield judged.read_documentation(cookbook)


def _compared(judgments: Judged, pythons: Mapping[str, str], most: int) -> dict[str, dict[str, float]]:
    """By metric and peer; what it cost stands beside."""
    found: dict[str, dict[str, float]] = {}
    questions = judgments.questions[:most]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "documents.jsonl", map(asdict, judgments.documents))
        _write(folder / "questions.jsonl", ({"id": each.id, "text": each.text} for each in questions))
        for peer, python in pythons.items():
            answered = _run(peer, python, folder)
            values = [_judged(answered, question.id, question.grades) for question in questions]
            for metric in METRICS:
                mean = statistics.fmean(value[metric] for value in values)
                found.setdefault(metric, {})[peer] = round(mean, 4)
            times = answered["query_ms"]
            costs = (answered["index_s"], percentile(times, 50), percentile(times, 95), answered["memory_mb"])
            for cost, value in zip(COSTS, costs, strict=True):
                found.setdefault(cost, {})[peer] = round(value, 2)
            say(f"{judgments.name}, {peer}: nDCG@10 {found['nDCG@10'][peer]:.3f}, {costs[1]:.1f} ms a question")
    return found


def _judged(answered: Mapping[str, Any], question: str, grades: Mapping[str, float]) -> dict[str, float]:
    pieces = answered["rankings"][question]
    ranking = [document for document, _ in pieces]
    values = {
        "nDCG@10": metrics.ndcg(ranking, grades, 10),
        "recall@10": metrics.recall(ranking, grades, 10),
        "all_gold@10": metrics.all_gold(ranking, grades, 10),
    }
    for budget in BUDGETS:
        inside = answered["contexts"].get(question, {}).get(str(budget))
        held = [document for document, _ in (filled(pieces, budget) if inside is None else inside)]
        values[f"recall@{budget}_tokens"] = metrics.recall(held, grades)
        values[f"all_gold@{budget}_tokens"] = metrics.all_gold(held, grades)
    return values


def filled(pieces: Pieces, budget: int) -> list[tuple[str, str]]:
    """The first pieces that fit into a budget, with an empty line after each."""
    counter = get_counter("o200k_base")
    taken = []
    for document, text in pieces:
        budget -= counter.count(f"{text}\n\n")
        if budget < 0:
            break
        taken.append((document, text))
    return taken


def environment(name: str) -> str:
    """The interpreter in which a peer runs; one that needs nothing runs in this one."""
    packages = importlib.import_module(f"benchmarks.rivals.{name}").PACKAGES
    if not packages:
        return sys.executable
    folder = cache_folder() / "rivals" / name
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        say(f"installing {name}")
        venv.create(folder, with_pip=True, clear=True)
        for package in (*packages, str(REPOSITORY)):
            subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
        (folder / "ready").touch()
    return str(python)


def versions(name: str, python: str) -> str:
    """What is installed of a peer."""
    packages = importlib.import_module(f"benchmarks.rivals.{name}").PACKAGES
    names = [package.partition("==")[0] for package in packages if not package.startswith("torch")]
    if not names:
        return ""
    code = f"from importlib.metadata import version; print(' '.join(f'{{n}} {{version(n)}}' for n in {names!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def _run(peer: str, python: str, folder: Path) -> dict[str, Any]:
    command = [
        python, "-m", "benchmarks.rivals.contestant", peer,
        str(folder / "documents.jsonl"), str(folder / "questions.jsonl"), str(DEPTH), ",".join(map(str, BUDGETS)),
    ]  # fmt: skip
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{peer} failed:\n{ran.stderr[-2000:]}")
    answered: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return answered


def _write(path: Path, lines: Iterable[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def page(figures: Mapping[str, Any]) -> str:
    """The figures as tables for the documentation."""
    peers, sets = figures["peers"], figures["sets"]
    parts = [
        "# Beside the others\n",
        "Written by `python -m benchmarks peers --save`; its description says how each peer is set up. The best figure",
        "of a line is in bold. All have the same static embeddings: what is done with them is compared, not models.\n",
    ]
    for metric in SUMMED_UP:
        first = [name for name, found in sets.items() if _best(metric, found[metric]) == found[metric].get("weftwork")]
        behind = ", ".join(name for name in sets if name not in first) or "none"
        parts += [f"## {metric}\n", f"Weftwork is first, or level, on {len(first)} of {len(sets)}; not on: {behind}.\n"]
        parts += _table(peers, {name: (metric, found[metric]) for name, found in sets.items()})
    for name, found in sets.items():
        parts += [f"## {name}\n", *_table(peers, {metric: (metric, found[metric]) for metric in (*METRICS, *COSTS)})]
    installed = [f"- {name}: {text}" for name, text in figures["versions"].items() if text]
    return "\n".join([*parts, "## Versions\n", *installed, ""])


def _table(peers: Sequence[str], lines: Mapping[str, tuple[str, Mapping[str, float]]]) -> list[str]:
    """A line for each name, with what each peer has of a metric."""
    rows = [f"| | {' | '.join(peers)} |", "|---|" + "---:|" * len(peers)]
    for name, (metric, values) in lines.items():
        best = _best(metric, values)
        cells = (f"**{values[peer]:.3g}**" if values[peer] == best else f"{values[peer]:.3g}" for peer in peers)
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return [*rows, ""]


def _best(metric: str, values: Mapping[str, float]) -> float:
    return max(values.values()) if metric in METRICS else min(values.values())
