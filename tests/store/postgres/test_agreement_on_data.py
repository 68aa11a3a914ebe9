"""The same request gives the same items from both stores, on real texts with real questions.

Two stages find what a context is made of, and what is demanded of each is what it can promise:

Vectors are compared exactly in both stores: the same passages, in the same order, with the same scores.

Words are scored with the same formula from the same counts, so a passage that both find has the same score in both. Which
passages are scored differs: PostgreSQL adds up exact impacts, the embedded index steps of them, which are near the exact
ones. So at any place PostgreSQL's passage is worth as much as that of the file or a little more. Where many passages are
worth nearly the same (turns of a conversation that have only a name in common with the question), the tails differ.

Everything after that is the same code. So where both find the same words, the contexts must be the same byte for byte, with
the same score for every candidate; where they do not, most items must be.
"""

import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import psycopg
import pytest

from benchmarks import judged, memory
from benchmarks.relevance import mentions
from weft import Node, Weft
from weft.collect import USUAL_TOKENS, Inquiry, depth_for
from weft.ingest.sync import sync
from weft.query import read_query
from weft.request import Request
from weft.types import Budget

DATA = Path(os.environ.get("WEFT_DATA") or Path(__file__).parents[4] / "shared" / "data")
NOW = datetime(2026, 11, 1, tzinfo=UTC)
TEXTS, QUESTIONS, BUDGET = 300, 8, 4000
STEP = 0.05
"""By how much of its score a passage may be worth less than the one that stands in its place in PostgreSQL."""
IN_COMMON = 0.9
"""The least share of all included items of a set that both stores include."""


@pytest.fixture(scope="module")
def pair(server, tmp_path_factory):
    """A file and a database."""
    folder = tmp_path_factory.mktemp("agreement")
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute("CREATE DATABASE agreement_on_data")
    url = server.url("agreement_on_data", weft_partitions=2, weft_files=folder)
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
    """Notes with links, followed as `weft sync` does it."""
    titles = sorted(each.stem for each in path.rglob("*.md"))

    def fill(weft, workspace):
        weft.create_workspace(workspace)
        sync(weft, path, workspace=workspace)

    return fill, [f"What is {title} for?" for title in titles[:: len(titles) // QUESTIONS][:QUESTIONS]]


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
        pytest.skip(f"{name} is not there: set WEFT_DATA to the folder of the public data")
    fill, questions = SETS[name](DATA / name)
    workspace = name.partition("/")[0]
    for weft in pair:
        fill(weft, workspace)
    included, common = 0, 0
    for question in questions:
        (words, vectors), (words_there, vectors_there) = (hits(weft, workspace, question) for weft in pair)
        assert vectors_there == vectors, question
        check_words(words, words_there)
        here, there = (weft.context(question, workspace=workspace, budget=BUDGET) for weft in pair)
        if words == words_there:
            assert there.text == here.text, question
            assert decisions(there) == decisions(here), question
        included += len(here.items)
        common += len(items(here) & items(there))
    assert included > 0
    assert common >= IN_COMMON * included


def hits(weft, workspace, question):
    """What the pipeline finds by words and by vectors, as deep as it looks: (node, place in it) with the score."""
    with weft.store.view(workspace, "me") as view:
        request = Request(query=question, workspace=workspace, budget=Budget(BUDGET))
        inquiry = Inquiry(
            view, request, read_query(question, NOW), NOW, weft.tools.embedder, depth_for(BUDGET, USUAL_TOKENS)
        )
        inquiry.start(weft.tools.pool)
        inquiry.deepen(weft.tools.pool)
        return tuple(map(partial(named, view), (inquiry.word_hits, inquiry.vector_hits)))


def named(view, found):
    records = view.load([hit.key for hit in found])
    return [(place(each), hit.score) for each, hit in zip(records, found, strict=True)]


def check_words(words, words_there):
    scores, scores_there = dict(words), dict(words_there)
    assert all(scores[each] == scores_there[each] for each in scores.keys() & scores_there.keys())
    assert len(words) == len(words_there)
    for (_, score), (_, score_there) in zip(words, words_there, strict=True):
        assert score <= score_there <= score * (1 + STEP)


def place(found):
    return found.node.id, found.passage.start


def items(context):
    return {place(item.candidate) for item in context.items}


def decisions(context):
    return [(each.node, each.fate, each.score) for each in context.trace]
