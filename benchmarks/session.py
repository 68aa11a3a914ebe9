"""The workspace contract's targets: exact estimates, the caches over a session, and the time to build a context.

A session of requests, drawn with a fixed seed, is put to a ContextBuilder over a copy of a built workspace. Of 100
requests, 25 ask a question that was not asked before (real ones, of the data's query sets), 35 are one of eight stock
actions ("Summarize this page" and the like), 20 repeat an earlier question of the session at another place, and 20 are
the same request once more. The mix is an assumption, not a measurement, and it decides the hit rates: beside them
stands the highest that it allows, where each distinct query is embedded once. After each change of place the view of
it is recorded, and every tenth request is followed by an edit: both are writes, and any write empties the cache of
whole contexts.

What counts as a hit, each in percent of all requests:
  semantic_cache_hit_rate   no embedding was computed: the context was remembered, or the query's vector was, or none
                            was needed, since a command that points at the focus ("Explain this") searches for nothing
  query_embedding_hits      the query's vector was remembered; the search itself ran
  whole_context_hits        the context was remembered, because nothing was written since; nothing ran
  highest_hit_rate          what the first of these would be if every query were embedded, and none twice

estimate_error_percent is the largest difference between estimate_tokens() and a count of the text by a counter that
was loaded anew. p50_ms and p95_ms are the time of build(), the way to the worker thread and back included, for each
distinct request of the session asked of an engine that remembers no context; floor_p50_ms and floor_p95_ms are the
look-ups that it cannot avoid, as `latency` defines them, for the same request in the same run. session_p50_ms and
session_p95_ms are of the session itself, with its hits, and with the indexes caught up after each write.

--precision measures the contract's fourth target instead, the share of items that are relevant, as
`benchmarks/precision.py` says.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks import precision
from benchmarks.corpus import data_folder, sample_queries
from benchmarks.floor import Floor
from benchmarks.people import ME
from benchmarks.timing import Laps, percentile, say, totals
from benchmarks.workspace import NOW, WORKSPACE, Built, open_workspace, workspace
from weftwork import Context, Weft
from weftwork.embed import get_embedder
from weftwork.embed.protocol import EmbeddingProvider, Matrix, Vector
from weftwork.faces.workspace import ContextBuilder, ContextPayload, ContextRequest, Focus, User
from weftwork.text.tokens import get_counter

STOCK = (
    "Summarize this page",
    "What tasks are overdue?",
    "Break this task into subtasks",
    "What changed here lately?",
    "Find pages related to this",
    "Draft a status update",
    "List the open questions",
    "Explain this in plain words",
)
MIX = {"new": 25, "stock": 35, "again elsewhere": 20, "repeat": 20}
EDIT_EVERY = 10
WARM_UP = 10


class Counting:
    """A provider that counts the texts that it computes."""

    def __init__(self, provider: EmbeddingProvider) -> None:
        self._provider = provider
        self.model, self.dimensions = provider.model, provider.dimensions
        self.computed = 0

    def embed(self, text: str) -> Vector:
        """One text."""
        self.computed += 1
        return self._provider.embed(text)

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        """Several texts."""
        self.computed += len(texts)
        return self._provider.embed_batch(texts)


@dataclass
class Tally:
    """What a session came to."""

    requests: int = 0
    whole: int = 0
    computed: int = 0
    writes: int = 0
    worst_error: float = 0.0
    laps: Laps = field(default_factory=Laps)
    seen: dict[int, Context] = field(default_factory=dict)
    queries: set[str] = field(default_factory=set)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--passages", type=int, default=10_000, help="size of the workspace (default: 10,000)")
    parser.add_argument("--requests", type=int, default=200, help="length of the session (default: 200)")
    parser.add_argument("--fresh", action="store_true", help="build the workspace again")
    parser.add_argument("--precision", action="store_true", help="measure the share of relevant items instead")
    parser.add_argument(
        "--unjudged", action="store_true", help="show items to be judged, and those that are not relevant"
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Replay the session, then time each of its requests beside its floor; or measure the precision."""
    if args.unjudged:
        return {"unjudged": list(precision.unjudged(args.seed)), "irrelevant": list(precision.irrelevant())}
    if args.precision:
        return precision.measure()
    built = workspace(args.passages, args.seed, fresh=args.fresh)
    asked = list(_session(sample_queries(data_folder(), args.requests, args.seed), built, args.requests, args.seed))
    with tempfile.TemporaryDirectory(prefix="weftwork-session-") as folder:
        shutil.copytree(Path(built.store).parent, folder, dirs_exist_ok=True)
        copy = replace(built, store=str(Path(folder) / Path(built.store).name))
        say(f"replaying {args.requests} requests over {built.passages:,} passages …")
        tally = asyncio.run(_replay(copy, asked))
        say("timing each distinct request beside its floor …")
        contexts, floor = asyncio.run(_timed(copy, list(dict.fromkeys(asked))))
    return {"passages": built.passages, **_hits(tally), **_times(tally, contexts, floor)}


def _session(queries: Sequence[str], built: Built, length: int, seed: int) -> Iterator[ContextRequest]:
    rng = random.Random(f"session/{seed}")
    asked: list[str] = []
    new, place = iter(queries), rng.choice(built.focuses)
    last: ContextRequest | None = None
    for _ in range(length):
        kind = rng.choices(list(MIX), weights=list(MIX.values()))[0]
        if kind == "repeat" and last is not None:
            yield last
            continue
        if kind == "again elsewhere" or rng.random() < 0.3:
            place = rng.choice(built.focuses)
        if kind == "stock":
            query = rng.choice(STOCK)
        else:
            query = rng.choice(asked) if kind == "again elsewhere" and asked else next(new)
            asked.append(query)
        last = _request(query, place, kind)
        yield last


def _request(query: str, place: str, kind: str) -> ContextRequest:
    """Stock actions work on the place; questions are asked in a chat beside it."""
    return ContextRequest(
        query=query,
        user=User(ME, WORKSPACE),
        type="assist" if kind == "stock" else "chat",
        focus=Focus(page_id=place) if query.endswith("page") else Focus(block_id=place),
    )


async def _replay(built: Built, asked: Sequence[ContextRequest]) -> Tally:
    provider = get_embedder("static")
    assert provider is not None
    counting = Counting(provider)
    tally = Tally()
    exact = get_counter("o200k_base")
    with Weft.open(built.store, embedder=counting, clock=lambda: NOW, create=False) as weft:
        weft.catch_up(WORKSPACE)
        builder = ContextBuilder(weft)
        place = ""
        for number, request in enumerate(asked, start=1):
            before = counting.computed
            with tally.laps("build"):
                payload = await builder.build(request)
            tally.computed += counting.computed - before
            _note(tally, payload, builder, exact.count(payload.serialized))
            here = next(iter(request.places.values()))
            if here != place or number % EDIT_EVERY == 0:
                place = here
                _write(weft, here, number, edit=number % EDIT_EVERY == 0)
                tally.writes += 1
    return tally


def _note(tally: Tally, payload: ContextPayload, builder: ContextBuilder, exact: int) -> None:
    assert payload.context is not None
    tally.requests += 1
    tally.queries.add(payload.request.query)
    tally.whole += id(payload.context) in tally.seen
    # Kept, so that no other object takes over its identity.
    tally.seen[id(payload.context)] = payload.context
    tally.worst_error = max(tally.worst_error, 100 * abs(builder.estimate_tokens(payload) - exact) / exact)


def _write(weft: Weft, place: str, number: int, *, edit: bool) -> None:
    """The view of a place, and now and then a changed text."""
    at = NOW - timedelta(hours=1) + timedelta(seconds=number)
    if edit:
        node = weft.node(place, user=ME, workspace=WORKSPACE)
        weft.add([replace(node, text=f"{node.text} Edited in step {number}.", updated_at=at)], workspace=WORKSPACE)
    with weft.atomic(WORKSPACE) as batch:
        batch.record(ME, place, "edit" if edit else "view", at)


async def _timed(built: Built, asked: Sequence[ContextRequest]) -> tuple[Laps, Laps]:
    contexts, laps = Laps(), Laps()
    with open_workspace(built) as weft:
        weft.catch_up(WORKSPACE)
        floor = Floor(weft, Path(built.store), WORKSPACE, ME)
        builder = ContextBuilder(weft)
        for request in asked[:WARM_UP]:
            await builder.build(replace(request, query=f"{request.query} please"))
        for request in asked:
            with contexts("context"):
                payload = await builder.build(request)
            assert payload.context is not None
            floor.run(floor.work_of(payload.context, next(iter(request.places.values()))), laps)
        floor.close()
    return contexts, laps


def _hits(tally: Tally) -> dict[str, Any]:
    def share(count: int) -> float:
        return round(100 * count / tally.requests, 1)

    return {
        "requests": tally.requests,
        "writes": tally.writes,
        "estimate_error_percent": tally.worst_error,
        "semantic_cache_hit_rate": share(tally.requests - tally.computed),
        "query_embedding_hits": share(tally.requests - tally.computed - tally.whole),
        "whole_context_hits": share(tally.whole),
        "highest_hit_rate": share(tally.requests - len(tally.queries)),
    }


def _times(tally: Tally, contexts: Laps, floor: Laps) -> dict[str, float]:
    session, built, bare = tally.laps.laps["build"], contexts.laps["context"], totals(floor.laps)
    figures = {
        "p50_ms": percentile(built, 50),
        "p95_ms": percentile(built, 95),
        "floor_p50_ms": percentile(bare, 50),
        "floor_p95_ms": percentile(bare, 95),
        "session_p50_ms": percentile(session, 50),
        "session_p95_ms": percentile(session, 95),
        "cpu_p50_ms": percentile(contexts.cpu["context"], 50),
        "floor_cpu_p50_ms": percentile(totals(floor.cpu), 50),
    }
    for name in ("p50", "p95", "cpu_p50"):
        figures[f"ratio_{name}"] = figures[f"{name}_ms"] / figures[f"floor_{name}_ms"]
    return {name: round(value, 3) for name, value in figures.items()}
