"""How long a context takes, beside the look-ups that it cannot avoid.

Weft.context() runs the default recipe, which has all collectors, with a budget of 4,000 tokens: half of
the requests have a focus, a quarter have a thread. Queries are real and distinct, so that neither the
cache of contexts nor that of embeddings has seen them; twenty others are asked first. The user may see
about two thirds of the workspace.

The floor is measured in the same run, after each context, for the same request and on the same files:
  embed the query        one embedding by the same model, without a cache
  search words           one tantivy search (plain BM25 on the same parsed words, the same access lists
                         as a filter), top 20, keys read as a fast field
  search vectors         one search in the vector index with the same access lists, top 20
  read candidates        two SELECTs by key: the rows of exactly those passages and of exactly those nodes
                         that the context's candidates consist of, fetched and not looked at
  read around the focus  bare SELECTs by key: 3 ancestors, 2 + 2 siblings, 5 children, 40 edges each way
  count the text         one exact token count of the final text
Nothing else: no permissions on single rows, no breadcrumbs, no walk, no activity, no scores, no
packing, no rendering, no trace. It comes after the context, so that its pages, like those of every
second reader, are warm; ratios are therefore rather too high than too low.

Figures: p50_ms and p95_ms of context(), floor_p50_ms and floor_p95_ms, their ratios, the stages of both,
and cached_p50_us, which is the same request asked again. cpu_p50_ms and floor_cpu_p50_ms are the same in
time of the processor: where other programs keep the machine busy, only ratio_cpu_p50 means anything.

With --store postgres, the workspace is moved into PostgreSQL and measured in both stores in one run, each beside its
own floor; what the server spends is not in the times of the processor. `weftwork tune` was run, as it should be on a
store of that size. recall compares the ten nearest passages with those of an exact search where a viewer may see 5 %
and 50 % of the workspace, with the index that it makes and without.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmarks.corpus import data_folder, sample_queries
from benchmarks.floor import Floor, Work
from benchmarks.people import ME
from benchmarks.timing import Laps, percentile, say, totals
from benchmarks.workspace import NOW, WORKSPACE, Built, open_workspace, workspace
from weftwork import Context, Weft

WARM_UP = 20
BUDGET = 4_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to be measured."""

    query: str
    focus: str | None
    thread: str | None


class Bare(Protocol):
    """The look-ups and reads that a context cannot avoid, in one store."""

    def work_of(self, context: Context, focus: str | None) -> Work:
        """What the floor of a context consists of."""

    def run(self, work: Work, laps: Laps) -> None:
        """Do it, with one lap for each part."""

    def close(self) -> None:
        """Release connections."""


class Measurement:
    """Times contexts and their floors in turn."""

    def __init__(self, weft: Weft, floor: Bare) -> None:
        self._weft = weft
        self._floor = floor
        self.contexts = Laps()
        self.cached = Laps()
        self.stages = Laps()
        self.floor = Laps()

    def take(self, asked: Asked) -> None:
        """One context, its floor, and the same context from the cache."""
        context = self._context(asked, self.contexts)
        self._floor.run(self._floor.work_of(context, asked.focus), self.floor)
        again = self._context(asked, self.cached)
        if again is not context:
            raise SystemExit("a repeated request was not answered from the cache: the figures would be wrong")
        for stage, milliseconds in context.timings.items():
            self.stages.add(stage, milliseconds)
        spent = self.contexts.laps["context"][-1]
        self.stages.add("open a view, and the rest", spent - sum(context.timings.values()))

    def _context(self, asked: Asked, laps: Laps) -> Context:
        with laps("context"):
            return self._weft.context(
                asked.query, user=ME, workspace=WORKSPACE, budget=BUDGET, focus=asked.focus, thread=asked.thread
            )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--passages", type=int, default=10_000, help="size of the workspace (default: 10,000)")
    parser.add_argument("--queries", type=int, default=200, help="contexts that are measured (default: 200)")
    parser.add_argument("--fresh", action="store_true", help="build the workspace again")
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite", help="postgres: beside SQLite")
    parser.add_argument("--url", help="an empty database to measure in (default: a server of our own)")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Build or open the workspace, warm up, measure."""
    queries = sample_queries(data_folder(), args.queries + WARM_UP, args.seed)
    built = workspace(args.passages, args.seed, fresh=args.fresh)
    requests = list(_requests(queries, built, args.seed))
    store = Path(built.store)
    with open_workspace(built) as weft:
        weft.catch_up(WORKSPACE)
        figures = _figures(weft, Floor(weft, store, WORKSPACE, ME), requests)
    embedded = {**figures, "store_mb": round(_size(store) / 1e6, 1)}
    head = {"passages": built.passages, "queries": args.queries}
    return {**head, **(embedded if args.store == "sqlite" else _beside(embedded, built, requests, args.url))}


def _beside(embedded: dict[str, Any], built: Built, requests: Sequence[Asked], url: str | None) -> dict[str, Any]:
    """The same in PostgreSQL, beside the figures of the embedded store."""
    from benchmarks import postgres  # noqa: PLC0415  (needs an extra)

    queries = [asked.query for asked in requests]
    with postgres.database(url) as address:
        spent = postgres.filled(built, address)
        with Weft.open(address, clock=lambda: NOW, create=False) as weft:
            say("comparing the filtered vector search with exact search …")
            by_signs = postgres.recalls(weft, ME, built.passages, queries)
            tuning = postgres.tuned(address)
            by_graph = postgres.recalls(weft, ME, built.passages, queries)
            floor = postgres.PostgresFloor(weft, address, ME)
            sizes = floor.bytes_of()
            figures = _figures(weft, floor, requests)
    return {
        "postgres": figures,
        "sqlite": embedded,
        "postgres_to_sqlite_p50": round(figures["p50_ms"] / embedded["p50_ms"], 3),
        "recall": by_graph,
        "recall_before_tuning": by_signs,
        "tune_seconds": round(tuning, 1),
        "move_seconds": round(spent, 1),
        "bytes_per_passage": {name: round(size / built.passages) for name, size in sizes.items() if size > 1e5},
        "all_bytes_per_passage": round(sum(sizes.values()) / built.passages),
    }


def _figures(weft: Weft, floor: Bare, requests: Sequence[Asked]) -> dict[str, Any]:
    """Warm up and measure one store."""
    _measured(Measurement(weft, floor), requests[:WARM_UP])
    say(f"measuring {len(requests) - WARM_UP} contexts in {type(weft.store).__name__} …")
    measured = _measured(Measurement(weft, floor), requests[WARM_UP:])
    floor.close()
    return {
        "visible_passages": weft.stats(user=ME, workspace=WORKSPACE)["passages"],
        **_compared(measured),
        "cached_p50_us": round(percentile(measured.cached.laps["context"], 50) * 1000, 1),
        "stages": measured.stages.summary(),
        "floor_stages": measured.floor.summary(),
    }


def _requests(queries: Sequence[str], built: Built, seed: int) -> Iterator[Asked]:
    rng = random.Random(f"requests/{seed}")
    for number, query in enumerate(queries):
        focus = rng.choice(built.focuses) if number % 2 else None
        thread = rng.choice(built.threads) if number % 8 in (0, 3) else None
        yield Asked(query, focus, thread)


def _measured(measurement: Measurement, requests: Sequence[Asked]) -> Measurement:
    for asked in requests:
        measurement.take(asked)
    return measurement


def _compared(measured: Measurement) -> dict[str, float]:
    contexts, floors = measured.contexts.laps["context"], totals(measured.floor.laps)
    figures = {
        "p50_ms": percentile(contexts, 50),
        "p95_ms": percentile(contexts, 95),
        "floor_p50_ms": percentile(floors, 50),
        "floor_p95_ms": percentile(floors, 95),
        "cpu_p50_ms": percentile(measured.contexts.cpu["context"], 50),
        "floor_cpu_p50_ms": percentile(totals(measured.floor.cpu), 50),
    }
    for name in ("p50", "p95", "cpu_p50"):
        figures[f"ratio_{name}"] = figures[f"{name}_ms"] / figures[f"floor_{name}_ms"]
    return {name: round(value, 3) for name, value in figures.items()}


def _size(store: Path) -> int:
    """Bytes of the database, its log and its indexes."""
    return sum(path.stat().st_size for path in store.parent.rglob("*") if path.is_file())
