"""A folder of notes through a connector: files in a second, beside a bare walk that parses the same files.

Weftwork: `follow` into a new store with the static embedder (walk, hash, parse, split, count, embed, write, links,
mentions, both indexes), then again over the unchanged folder.

The floor: os.walk, reading each Markdown file, and markdown-it's `parse` of it, in the same run.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from benchmarks.corpus import data_folder
from benchmarks.timing import Laps, say
from weftwork import Weft
from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.follow import follow

VAULT = "kb_blue_book"


def measure(name: str, rounds: int) -> dict[str, Any]:
    """Add the vault through a connector, add it again, and parse it bare, in turn; the fastest round counts."""
    folder = data_folder() / VAULT / "vault"
    laps = Laps()
    files, report = 0, None
    for number in range(rounds):
        say(f"round {number + 1} of {rounds} …")
        with laps("bare"):
            files = _bare(folder)
        with tempfile.TemporaryDirectory(prefix="weftwork-bench-") as place, Weft.open(Path(place) / "v.weft") as weft:
            weft.tools.counter.count("warm")
            if weft.tools.embedder is not None:
                weft.tools.embedder.embed("warm")
            with laps("first"):
                report = follow(weft, folder, get_connector(name))
            for _ in range(3):
                with laps("second"):
                    follow(weft, folder, get_connector(name))
    assert report is not None
    best = {part: min(times) / 1000 for part, times in laps.laps.items()}
    cpu = {part: min(times) / 1000 for part, times in laps.cpu.items()}
    return {
        "connector": name,
        "files": files,
        "nodes": report.nodes,
        "links": report.links,
        "mentions": report.mentions,
        "files_per_s": round(files / best["first"], 1),
        "bare_files_per_s": round(files / best["bare"], 1),
        "ratio": round(best["first"] / best["bare"], 2),
        "ratio_cpu": round(cpu["first"] / cpu["bare"], 2),
        "second_run_times_faster": round(best["first"] / best["second"], 1),
        "seconds": {part: round(seconds, 3) for part, seconds in best.items()},
    }


def _bare(folder: Path) -> int:
    parser = MarkdownIt("commonmark").enable("table")
    paths = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".md")]
    for path in paths:
        with open(path, encoding="utf-8") as file:
            parser.parse(file.read())
    return len(paths)
