"""The same request gives the same context from both stores, on real texts with real questions.

What is demanded is the strictest: the same text, byte for byte, and the same decision for every candidate, with the
same score. Both stores shortlist by the same steps of impact, compare the same vectors and score with the same
functions. Two shortlists may differ where a viewer sees more than these sets have: above 2,000 passages that of titles
that look like a word which occurs nowhere, above 20,000 that of vectors; docs/postgres.md says how.
"""

import os
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from benchmarks import judged, memory
from benchmarks.relevance import mentions
from tests.depth import some

from weftwork import Node, Weft
from weftwork.ingest.sync import sync

DATA = Path(os.environ.get("WEFTWORK_DATA") or Path(__file__).parents[4] / "shared" / "data")
NOW = datetime(2026, 11, 1, tzinfo=UTC)
TEXTS, QUESTIONS, BUDGET = 300, some(8, part=2), 4000


@pytest.fixture(scope="module")
def pair(server, tmp_path_factory):
    """A file and a database."""
    folder = tmp_path_factory.mktemp("agreement")
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute("CREATE DATABASE agreement_on_data")
    url = server.url("agreement_on_data", weftwork_files=folder)
    with Weft.open(folder / "data.weft", clock=lambda: NOW) as file, Weft.open(url, clock=lambda: NOW) as database:
        yield file, database


def judged_texts(path):
    """The texts that answer the first questions, and others."""
    found = judged.read_beir(path)
    asked = found.questions[:QUESTIONS]
    gold = {name for question in asked for name in question.grades}
    others = [each for each in found.documents if each.id not in gold][: max(0, TEXTS - len(gold))]
    texts = [*(each for each in found.documents if each.id in gold), *others]
    nodes = [Node(id=each.id, type="document", title=each.title, text=each.text) for each in texts]

    def fill(weft, workspace):
        weft.create_workspace(workspace)
        weft.add(nodes, mentions(nodes), workspace=workspace)

    return fill, [each.text for each in asked]


def conversation(path):
    """The turns of the first conversation."""
    first = next(memory._read(path / "locomo_dev.json"))

    def fill(weft, workspace):
        weft.create_workspace(workspace)
        turns = [
            Node(id=turn.id, type="message", text=turn.text, position=place, created_at=turn.at, updated_at=turn.at)
            for place, turn in enumerate(first.turns)
        ]
        weft.add(turns, workspace=workspace)

    return fill, [question for question, _ in first.questions[:QUESTIONS]]


def vault(path):
    """Notes with links, followed as `weftwork sync` does it."""
    titles = sorted(each.stem for each in path.rglob("*.md"))

    def fill(weft, workspace):
        weft.create_workspace(workspace)
        sync(weft, path, workspace=workspace)

    return fill, [f"How do I use {title}?" for title in titles[:: len(titles) // QUESTIONS][:QUESTIONS]]


SETS = {
    "ir_cranfield": judged_texts,
    "multihop_musique100": judged_texts,
    "cosqa_code_search": judged_texts,
    "locomo_dev": conversation,
    "kb_kepano/vault": vault,
}


@pytest.mark.parametrize("name", SETS)
def test_contexts_of_real_texts_agree(pair, name):
    if not (DATA / name).is_dir():
        pytest.skip(f"{name} is not there: set WEFTWORK_DATA to the folder of the public data")
    fill, questions = SETS[name](DATA / name)
    workspace = name.partition("/")[0]
    for weft in pair:
        fill(weft, workspace)
    for question in questions:
        here, there = (weft.context(question, workspace=workspace, budget=BUDGET) for weft in pair)
        assert here.items, question
        assert there.text == here.text, question
        assert [(each.node, each.fate, each.score) for each in there.trace] == [
            (each.node, each.fate, each.score) for each in here.trace
        ]
