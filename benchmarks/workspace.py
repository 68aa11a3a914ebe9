"""A workspace of N passages, built once and kept: `.cache/bench`, or `$WEFTWORK_BENCH_CACHE`.

Folders hold pages, pages hold blocks; pages refer to pages; a third of the folders are closed to the
user who is measured. That user has activity, threads with messages, and memories.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.corpus import REPOSITORY, data_folder, read_documents, sample_queries
from benchmarks.people import GROUPS, ME, OTHERS
from benchmarks.plan import Planner, Portion
from benchmarks.timing import say
from benchmarks.vary import endless
from weftwork import Weft
from weftwork.store.sqlite.schema import MIGRATIONS

SCHEMA = 1
"""Raised when the same parameters give another workspace."""
NOW = datetime(2026, 3, 16, 9, 0, tzinfo=UTC)
"""The moment at which the workspace is read: what is recent in it stays recent."""
WORKSPACE = "bench"
BATCH = 1_000
"""Nodes written in one transaction while a workspace is built."""
EDITS, VIEWS, USED = 30, 60, 200
THREADS = 6


@dataclass(frozen=True, slots=True)
class Built:
    """A workspace that is ready to be measured."""

    store: str
    passages: int
    build_seconds: float
    focuses: tuple[str, ...]
    """Some pages and blocks that the measured user may see."""
    threads: tuple[str, ...]


def open_workspace(built: Built) -> Weft:
    """Open a built workspace at the moment for which it was built."""
    return Weft.open(built.store, clock=lambda: NOW, create=False)


def workspace(passages: int, seed: int, *, fresh: bool = False) -> Built:
    """The workspace with these parameters, from the cache or built now."""
    migrations = hashlib.blake2b("".join(MIGRATIONS.values()).encode(), digest_size=4).hexdigest()
    folder = cache_folder() / f"{passages}-seed{seed}-v{SCHEMA}-{migrations}"
    manifest = folder / "built.json"
    if fresh or not manifest.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        built = _build(folder / "bench.weft", passages, seed)
        manifest.write_text(json.dumps(asdict(built)), encoding="utf-8")
    values = json.loads(manifest.read_text(encoding="utf-8"))
    return Built(**{**values, "focuses": tuple(values["focuses"]), "threads": tuple(values["threads"])})


def cache_folder() -> Path:
    """Where built workspaces are kept."""
    named = os.environ.get("WEFTWORK_BENCH_CACHE")
    return Path(named) if named else REPOSITORY / ".cache" / "bench"


def _build(path: Path, passages: int, seed: int) -> Built:
    started = time.perf_counter()
    folder = data_folder()
    say(f"building a workspace of {passages:,} passages in {path.parent} …")
    planner = Planner(endless(read_documents(folder), seed), random.Random(f"workspace/{seed}"), NOW)
    said = sample_queries(folder, 400, seed + 1)
    with Weft.open(path, clock=lambda: NOW) as weft:
        weft.create_workspace(WORKSPACE, owner=ME)
        for name, groups in {ME: GROUPS[ME], **OTHERS}.items():
            weft.add_user(name, groups=groups, workspace=WORKSPACE)
        talk = planner.talk(said, THREADS, messages=min(30, passages // 50), memories=min(100, passages // 20))
        _write(weft, talk, passages, started)
        _write(weft, planner.pages(passages), passages, started, done=planner.passages)
        _live(weft, planner, random.Random(f"activity/{seed}"))
        say("  bringing the indexes up to date …")
        weft.catch_up(WORKSPACE)
        stored = weft.stats(user=ME, workspace=WORKSPACE)["passages"]
    spent = time.perf_counter() - started
    say(f"  built in {spent:.0f} s: {planner.passages:,} passages, of which {ME} may see {stored:,}")
    focuses = random.Random(f"focus/{seed}").sample(planner.visible, min(2_000, len(planner.visible)))
    return Built(str(path), planner.passages, round(spent, 1), tuple(focuses), tuple(planner.threads))


def _write(weft: Weft, portions: Iterator[Portion], wanted: int, started: float, done: int = 0) -> None:
    pending, step = Portion(), max(wanted // 10, 1)
    for portion in portions:
        pending += portion
        if len(pending.nodes) >= BATCH:
            weft.add(pending.nodes, pending.edges, workspace=WORKSPACE)
            if (done + pending.passages) // step > done // step:
                say(f"  {done + pending.passages:>9,} passages, {time.perf_counter() - started:.0f} s")
            done, pending = done + pending.passages, Portion()
    weft.add(pending.nodes, pending.edges, workspace=WORKSPACE)


def _live(weft: Weft, planner: Planner, rng: random.Random) -> None:
    """What the user did lately, and what served before."""
    seen = planner.visible
    with weft.atomic(WORKSPACE) as batch:
        for node in rng.sample(seen, min(EDITS, len(seen))):
            batch.record(ME, node, "edit", NOW - timedelta(minutes=rng.randrange(1, 72 * 60)))
        for node in rng.sample(seen, min(VIEWS, len(seen))):
            batch.record(ME, node, "view", NOW - timedelta(minutes=rng.randrange(1, 72 * 60)))
        used = rng.sample(seen, min(USED, len(seen)))
        batch.count_use(ME, used)
        for node in used[: USED // 4]:
            batch.give_feedback(ME, node, rng.random() < 0.7, NOW)
