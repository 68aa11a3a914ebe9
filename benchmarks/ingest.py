"""How many passages are written in a second, beside the bare cost of the same writes.

Weftwork: Weft.add() in batches of 200 nodes (check, split, count tokens, embed, write), then catch_up(),
which brings both indexes up to date; into a new store, once with the static embedder and once without.

The floor, in the same run and for the same rows:
  embed    the provider's embed_batch on the same texts in the same batches
  insert   executemany of the same rows into the same tables (with their indexes and triggers) in the
           same batches, one transaction each, with the same pragmas; ready-made tuples
  index    tantivy: the same texts with their key, node, access list and time added by one thread to an
           index with English stemming, one commit, merges awaited
Not in the floor: splitting, token counts, hashes, access lists, and the vector index.

passages_per_s and floor_passages_per_s count passages over the sum of these times; ratio is how many
times as long as its floor Weftwork takes. The three figures without embedding leave `embed`, and the rows
of vectors, out on both sides. Each part is measured in several rounds, of which the fastest counts.
ratio_cpu is the ratio of the times of the processor: the one to trust on a busy machine.

With --connector, files of a real vault are added through that connector, beside a bare walk and parse.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import connector
from benchmarks.bare import Tables, embed, index
from benchmarks.corpus import data_folder, read_documents
from benchmarks.people import GROUPS, ME, OTHERS
from benchmarks.plan import Planner, Portion
from benchmarks.timing import Laps, say
from benchmarks.vary import endless
from benchmarks.workspace import NOW, WORKSPACE
from weftwork import Weft
from weftwork.embed import get_embedder
from weftwork.embed.protocol import EmbeddingProvider
from weftwork.ingest.load import BATCH

FLOOR = ("embed", "insert", "index")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--passages", type=int, default=5_000, help="passages that are written (default: 5,000)")
    parser.add_argument("--connector", metavar="NAME", help="add a folder of notes through a connector instead")
    parser.add_argument("--rounds", type=int, default=3, help="how often each part is measured (default: 3)")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Write the same portions through Weftwork and bare, in turn; or add notes through a connector."""
    if args.connector:
        return connector.measure(args.connector, args.rounds)
    say(f"preparing {args.passages:,} passages …")
    portions, passages = _portions(args.passages, args.seed)
    provider = get_embedder("static")
    assert provider is not None
    provider.embed("load the model before the clock starts")
    laps = Laps()
    for number in range(args.rounds):
        say(f"round {number + 1} of {args.rounds} …")
        _round(portions, provider, laps)
    best = {name: min(times) / 1000 for name, times in laps.laps.items()}
    cpu = {name: min(times) / 1000 for name, times in laps.cpu.items()}
    floor = sum(best[part] for part in FLOOR)
    floor_without = best["insert without vectors"] + best["index"]
    return {
        "passages": passages,
        "passages_per_s": round(passages / best["weftwork"], 1),
        "floor_passages_per_s": round(passages / floor, 1),
        "ratio": round(best["weftwork"] / floor, 3),
        "ratio_cpu": round(cpu["weftwork"] / sum(cpu[part] for part in FLOOR), 3),
        "passages_per_s_without_embedding": round(passages / best["weftwork without embedding"], 1),
        "floor_without_embedding": round(passages / floor_without, 1),
        "ratio_without_embedding": round(best["weftwork without embedding"] / floor_without, 3),
        "seconds": {name: round(seconds, 3) for name, seconds in best.items()},
    }


def _portions(passages: int, seed: int) -> tuple[list[Portion], int]:
    """Pages of a workspace in batches of the size that `weftwork add` writes."""
    documents = endless(read_documents(data_folder()), seed)
    planner = Planner(documents, random.Random(f"ingest/{seed}"), NOW)
    found, pending = [], Portion()
    for portion in planner.pages(passages):
        pending += portion
        if len(pending.nodes) >= BATCH:
            found.append(pending)
            pending = Portion()
    return [*found, pending], planner.passages


def _round(portions: Sequence[Portion], provider: EmbeddingProvider, laps: Laps) -> None:
    with tempfile.TemporaryDirectory(prefix="weftwork-bench-") as name:
        folder = Path(name)
        _through_weft(folder / "with.weft", portions, "static", lambda: laps("weftwork"))
        tables = Tables.read(folder / "with.weft", WORKSPACE)
        with laps("embed"):
            embed(provider, tables.texts)
        with laps("insert"):
            tables.insert(folder / "bare.weft", vectors=True)
        with laps("index"):
            index(folder / "bare-words", tables.documents)
        _through_weft(folder / "without.weft", portions, None, lambda: laps("weftwork without embedding"))
        with laps("insert without vectors"):
            tables.insert(folder / "bare-without.weft", vectors=False)


def _through_weft(path: Path, portions: Sequence[Portion], embedder: str | None, clock: Callable[[], Any]) -> None:
    with Weft.open(path, embedder=embedder, clock=lambda: NOW) as weft:
        weft.create_workspace(WORKSPACE, owner=ME)
        for user, groups in {ME: GROUPS[ME], **OTHERS}.items():
            weft.add_user(user, groups=groups, workspace=WORKSPACE)
        # The first use loads the vocabulary and the model, which is no part of writing.
        weft.tools.counter.count("warm")
        if weft.tools.embedder is not None:
            weft.tools.embedder.embed("warm")
        with clock():
            for portion in portions:
                weft.add(portion.nodes, portion.edges, workspace=WORKSPACE)
            weft.catch_up(WORKSPACE)
