"""Follow-up questions with pronouns and ellipses, beside the same questions written out.

`questions/follow_ups.jsonl` has a follow-up a line: the question that stood before it, and the question of a set that
it stands for, whose judgments are used. Recall of the texts that answer among the first ten nodes of the ranking:

  alone    the follow-up by itself
  history  the follow-up with the turn before it as `history`
  thread   the follow-up in a stored thread with that turn, by `thread=`
  before   the question before and the follow-up as one text
  written  the question as the set has it
  service  the follow-up in that thread by the thread contract's service, which searches files and no other
           conversations: the documentation alone, beside service_written
  workspace  the follow-up with its history by the workspace recipe, beside workspace_written

"shares" are those of each way in what is written out. Rows with even places (`--half fit`) were looked at when
settings were chosen.
Documentation and conversations come from $WEFTWORK_DATA or ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import judged, memory
from benchmarks.corpus import data_folder
from benchmarks.relevance import write
from benchmarks.vaults import QUESTIONS
from weftwork import Message, Weft
from weftwork.evaluate import metrics
from weftwork.faces.thread import ContextAssemblyService
from weftwork.recipe import get_recipe

FILE = "follow_ups.jsonl"
HALVES = {"fit": 0, "confirm": 1}
FIRST = 10
BUDGET = 4000


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A follow-up with what stood before it, what it stands for, and what answers it."""

    set: str
    workspace: str
    before: str
    text: str
    written: str
    gold: frozenset[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--half", choices=HALVES, help="only every other row")
    parser.add_argument("--embedder", default="static", help="an embedder, as in weftwork.toml")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Recall by set and way."""
    rows = list(read(data_folder()))
    rows = rows if args.half is None else rows[HALVES[args.half] :: 2]
    values: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder, Weft.open(Path(folder) / "set.weft", embedder=args.embedder) as weft:
        fill(weft, data_folder())
        for row in rows:
            for way, recall in asked(weft, row).items():
                for name in (row.set, "all"):
                    values.setdefault(name, {}).setdefault(way, []).append(recall)
    means = {
        name: {way: round(statistics.fmean(each), 4) for way, each in ways.items()} for name, ways in values.items()
    }
    return {"rows": len(rows), "sets": means, "shares": {name: _shares(each) for name, each in means.items()}}


def _shares(means: Mapping[str, float]) -> dict[str, float]:
    """The recall of each way as a share of that of the question written out, asked in the same way."""
    beside = {"history": "written", "thread": "written", "service": "service_written", "workspace": "workspace_written"}
    return {way: round(means[way] / means[written], 3) for way, written in beside.items() if way in means}


def asked(weft: Weft, row: FollowUp) -> dict[str, float]:
    """The recall of each way to ask."""
    history = (Message("user", row.before),)
    recall = {
        "alone": _recall(weft, row, row.text),
        "history": _recall(weft, row, row.text, history=history),
        "before": _recall(weft, row, f"{row.before} {row.text}"),
        "written": _recall(weft, row, row.written),
    }
    thread = weft.threads.create("Follow-up", workspace=row.workspace).id
    weft.threads.post(thread, row.before, workspace=row.workspace)
    recall["thread"] = _recall(weft, row, row.text, thread=thread)
    if row.set == "cookbook_docs":
        recall |= _by_service(weft, row, thread)
    for way, text, turns in (("workspace", row.text, history), ("workspace_written", row.written, ())):
        recall[way] = _recall(weft, row, text, "workspace", history=turns)
    weft.remove([thread], workspace=row.workspace)
    return recall


def _by_service(weft: Weft, row: FollowUp, thread: str) -> dict[str, float]:
    service = ContextAssemblyService(weft, workspace=row.workspace, types=("document",), max_tokens=BUDGET)
    recall = {}
    for way, text in (("service", row.text), ("service_written", row.written)):
        found = [each.node for each in service.build(thread, text, "me").context.trace if each.section != "history"]
        recall[way] = metrics.recall(list(dict.fromkeys(found)), row.gold, FIRST)
    return recall


def _recall(weft: Weft, row: FollowUp, text: str, by: str = "default", **more: Any) -> float:
    recipe = get_recipe(by)
    request = weft.request(text, recipe, budget=BUDGET, user="me", workspace=row.workspace, **more)
    found = [each for each in weft.rank(request, recipe).candidates if each.section != "history"]
    return metrics.recall(list(dict.fromkeys(each.node.id for each in found)), row.gold, FIRST)


def fill(weft: Weft, data: Path) -> None:
    """The documentation in the workspace "main", and each conversation in one of its own."""
    write(weft, judged.read_documentation(data / "anthropic_cookbook_rag"))
    for conversation in _conversations(data):
        memory._fill(weft, conversation)


def _conversations(data: Path) -> Iterator[memory.Conversation]:
    used = {row["conversation"] for row in _rows() if "conversation" in row}
    return (each for each in memory._read(data / "locomo_dev" / "locomo_dev.json") if each.name in used)


def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (QUESTIONS / FILE).read_text(encoding="utf-8").splitlines()]


def read(data: Path) -> Iterator[FollowUp]:
    """The rows with the judgments of their sets."""
    documentation = {each.id: each for each in judged.read_documentation(data / "anthropic_cookbook_rag").questions}
    samples = json.loads((data / "locomo_dev" / "locomo_dev.json").read_text(encoding="utf-8"))
    asked: dict[str, Sequence[dict[str, Any]]] = {each["sample_id"]: each["qa"] for each in samples}
    for row in _rows():
        if row["set"] == "cookbook_docs":
            question = documentation[row["question"]]
            yield FollowUp(row["set"], "main", row["before"], row["text"], question.text, frozenset(question.grades))
        else:
            pairs = asked[row["conversation"]]
            written, before = pairs[row["question"]], pairs[row["before"]]
            gold = frozenset(written["evidence"])
            yield FollowUp(row["set"], row["conversation"], before["question"], row["text"], written["question"], gold)
