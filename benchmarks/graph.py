"""How long a document of the graph takes, beside a bare walk of the same graph.

ContextAssembler.assemble() with its defaults: depth 2, 4,000 tokens, the general lens. Half of the
requests name a node by its id, half are topics that are searched for; all are distinct, so that no cache
has seen them, and twenty others come first. The user may see about two thirds of the workspace.

The floor is measured in the same run, after each document, for the same request and on the same files:
  find the starts   for a topic only: embed it, one tantivy search and one vector search, top 20 each
  walk              one recursive query in SQLite over tree and edges, both ways, from the same starts,
                    depth 2, that stops after as many nodes as the document's walk may reach
  count the text    one exact token count of the final text
Nothing else: no permissions in the walk, no order, no sampling of hubs, no text is read, and there are no
scores, no packing, no rendering, no trace.

Figures, for each kind of request: p50_ms and p95_ms of assemble(), floor_p50_ms and floor_p95_ms, their
ratios; the same in time of the processor, which other programs on the machine do not stretch; and the
stages of both.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpus import data_folder, sample_queries
from benchmarks.floor import TOP, Floor
from benchmarks.people import ME
from benchmarks.timing import Laps, percentile, say, totals
from benchmarks.workspace import WORKSPACE, Built, open_workspace, workspace
from weftwork import Weft
from weftwork.faces.graph import ContextAssembler, ContextDocument
from weftwork.text.analysis import parse

WARM_UP = 20
REACHED = 100
WALK = """WITH RECURSIVE reach (pk, depth) AS (
        SELECT n.pk, 0 FROM json_each(:starts) s CROSS JOIN nodes n ON n.workspace = :ws AND n.id = s.value
        UNION SELECT e.target, r.depth + 1 FROM reach r CROSS JOIN edges e ON e.source = r.pk WHERE r.depth < 2
        UNION SELECT e.source, r.depth + 1 FROM reach r CROSS JOIN edges e ON e.target = r.pk WHERE r.depth < 2
        UNION SELECT c.pk, r.depth + 1 FROM reach r CROSS JOIN nodes c ON c.parent = r.pk WHERE r.depth < 2
        UNION SELECT n.parent, r.depth + 1 FROM reach r CROSS JOIN nodes n ON n.pk = r.pk
            WHERE r.depth < 2 AND n.parent IS NOT NULL
        LIMIT :most
    ) SELECT pk, depth FROM reach"""


class GraphFloor(Floor):
    """The bare work of a document."""

    def count_nodes(self) -> int:
        """How many nodes the workspace has, whoever may see them."""
        return self._scalar("SELECT COUNT(*) FROM nodes WHERE workspace = ?", self._workspace)

    def run_walk(self, document: ContextDocument, topic: str | None, laps: Laps) -> None:
        """Do it, with one lap for each part."""
        starts = _starts(document)
        words = None if topic is None else parse(topic)
        with laps("find the starts"):
            if topic is not None and words is not None:
                self._vectors.search(self._embedder.embed(topic), self._scope, limit=TOP)
                self._search(words)
        with laps("walk"):
            given = {"starts": json.dumps(starts), "ws": self._workspace, "most": len(starts) + REACHED}
            self._connection.execute(WALK, given).fetchall()
        with laps("count the text"):
            self._counter.count(document.markdown)


class Measurement:
    """Times documents and their floors in turn."""

    def __init__(self, weft: Weft, floor: GraphFloor) -> None:
        self._assembler = ContextAssembler(weft)
        self._floor = floor
        self.documents = Laps()
        self.stages = Laps()
        self.floor = Laps()

    def take(self, asked: str, *, topic: bool) -> None:
        """One document and its floor."""
        with self.documents("document"):
            document = self._assembler.assemble(asked, workspace=WORKSPACE, user=ME)
        self._floor.run_walk(document, asked if topic else None, self.floor)
        for stage, milliseconds in document.context.timings.items():
            self.stages.add(stage, milliseconds)

    def figures(self) -> dict[str, Any]:
        """The percentiles, their ratios and the stages."""
        took, cpu = self.documents.laps["document"], self.documents.cpu["document"]
        floors, floor_cpu = totals(self.floor.laps), totals(self.floor.cpu)
        found = {
            "p50_ms": percentile(took, 50),
            "p95_ms": percentile(took, 95),
            "floor_p50_ms": percentile(floors, 50),
            "floor_p95_ms": percentile(floors, 95),
            "cpu_p50_ms": percentile(cpu, 50),
            "floor_cpu_p50_ms": percentile(floor_cpu, 50),
        }
        for name in ("p50", "p95", "cpu_p50"):
            found[f"ratio_{name}"] = found[f"{name}_ms"] / found[f"floor_{name}_ms"]
        rounded: dict[str, Any] = {name: round(value, 3) for name, value in found.items()}
        return {**rounded, "stages": self.stages.summary(), "floor_stages": self.floor.summary()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--passages", type=int, default=10_000, help="size of the workspace (default: 10,000)")
    parser.add_argument("--queries", type=int, default=200, help="documents that are measured (default: 200)")
    parser.add_argument("--fresh", action="store_true", help="build the workspace again")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Build or open the workspace, warm up, measure."""
    half = args.queries // 2
    topics = sample_queries(data_folder(), half + WARM_UP, args.seed)
    built = workspace(args.passages, args.seed, fresh=args.fresh)
    ids = _ids(built, half + WARM_UP, args.seed)
    with open_workspace(built) as weft:
        weft.catch_up(WORKSPACE)
        floor = GraphFloor(weft, Path(built.store), WORKSPACE, ME)
        nodes = floor.count_nodes()
        counts = weft.stats(user=ME, workspace=WORKSPACE)
        say(f"measuring {2 * half} documents over {nodes:,} nodes …")
        by_id, by_topic = (_measured(weft, floor, asked, topic=asked is topics).figures() for asked in (ids, topics))
        floor.close()
    return {
        "nodes": nodes,
        "passages": built.passages,
        "visible_nodes": counts["nodes"],
        "visible_edges": counts["edges"],
        "queries": 2 * half,
        "by_id": by_id,
        "by_topic": by_topic,
    }


def _measured(weft: Weft, floor: GraphFloor, asked: Sequence[str], *, topic: bool) -> Measurement:
    """The first few are asked to warm up, and not counted."""
    for part in (asked[:WARM_UP], asked[WARM_UP:]):
        measurement = Measurement(weft, floor)
        for each in part:
            measurement.take(each, topic=topic)
    return measurement


def _ids(built: Built, count: int, seed: int) -> list[str]:
    """Distinct nodes that the user may see, as many as there are."""
    return random.Random(f"ids/{seed}").sample(built.focuses, min(count, len(built.focuses)))


def _starts(document: ContextDocument) -> list[str]:
    """Where the walk of a document began, whether or not it is shown."""
    first = (decision for decision in document.context.trace if decision.findings[0].why == "start of the walk")
    return sorted({decision.node for decision in first})
