"""Sets of the relevance benchmark that are no lists of judged texts: pages of documents, spans, conversations."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import memory, research
from benchmarks.judged import Asked, Document, Judged
from benchmarks.relevance import WAYS, Collection, Measure, Values, by_vector, by_words, filled, kept
from weftwork import Weft
from weftwork.evaluate import metrics
from weftwork.evaluate.metrics import Span
from weftwork.recipe import Recipe, get_recipe
from weftwork.store.protocol import View
from weftwork.text.sentences import split_sentences
from weftwork.types import Item

SPAN_BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)
TURN_BUDGETS = (500, 1_000, 2_000, 4_000)
USER = "me"


def pages_of_documents(folder: Path) -> Collection:
    """PDFs as `weftwork add` reads them; the answers that are given as true cite their pages."""
    store = research._store(folder)
    with Weft.open(store) as weft:
        called = {page.id: _page(*research._name(page.fields)) for page in research._pages(weft)}
    questions = tuple(
        Asked(str(place), each.question, {_page(*gold): 1.0 for gold in each.gold})
        for place, each in enumerate(research._questions(folder / "ground_truth.jsonl"))
    )
    return Collection(folder.name, store, questions, called=called)


def _page(name: str, number: int) -> str:
    return f"{name}#page={number}"


@dataclass(frozen=True, slots=True)
class _Excerpts:
    """A question and the spans that answer it, counted from the start of the first text to the end of the last."""

    question: str
    spans: tuple[Span, ...]


def spans(folder: Path) -> Measure:
    """Long texts, each one node, with questions whose answers are spans of characters."""

    def measure(recipe: Recipe, most: int | None) -> Values:
        texts = {path.stem: _text(path) for path in sorted((folder / "corpora").glob("*.md"))}
        starts: dict[str, int] = {}
        for name in texts:
            starts[name] = sum(len(texts[other]) for other in starts)
        documents = tuple(Document(name, "", text) for name, text in texts.items())
        collection = kept(Judged(folder.name, documents, ()))
        values: Values = {}
        with Weft.open(collection.store) as weft:
            weft.catch_up()
            for each in _excerpts(folder / "questions_df.csv", starts)[:most]:
                _measure_spans(weft, recipe, each, starts, values)
        return values

    return measure


def _measure_spans(weft: Weft, recipe: Recipe, asked: _Excerpts, starts: Mapping[str, int], values: Values) -> None:
    with weft.store.view("main", USER) as view:
        plain = {"bm25": by_words(weft, view, asked.question), "vector": by_vector(weft, view, asked.question)}
        for budget in SPAN_BUDGETS:
            found = {way: _places(view, filled(weft, view, hits, budget), starts) for way, hits in plain.items()}
            context = weft.context(asked.question, budget=budget, recipe=recipe)
            shown = [place for item in context.items for place in _shown(item)]
            found["weftwork"] = [_moved(span, starts[node]) for node, span in shown]
            for way in WAYS:
                overlap = metrics.overlap(found[way], asked.spans)
                for name in ("recall", "precision", "iou"):
                    values.setdefault(f"token_{name}@{budget}", {}).setdefault(way, []).append(getattr(overlap, name))


def _shown(item: Item) -> list[tuple[str, Span]]:
    """The spans of a node's text that an item shows: the passage, or those of its sentences that were kept."""
    node, passage = item.candidate.node.id, item.candidate.passage
    if not item.text:
        return []
    if not item.truncated:
        return [(node, (passage.start, passage.end))]
    kept_sentences = (each for each in split_sentences(passage.text) if each.text in item.text)
    return [(node, _moved((each.start, each.end), passage.start)) for each in kept_sentences]


def _places(view: View, keys: Sequence[int], starts: Mapping[str, int]) -> list[Span]:
    return [_moved((record.passage.start, record.passage.end), starts[record.node.id]) for record in view.load(keys)]


def _moved(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by


def _text(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def _excerpts(path: Path, starts: Mapping[str, int]) -> list[_Excerpts]:
    with path.open(encoding="utf-8", newline="") as file:
        return [
            _Excerpts(
                row["question"],
                tuple(
                    _moved((gold["start_index"], gold["end_index"]), starts[row["corpus_id"]])
                    for gold in json.loads(row["references"])
                ),
            )
            for row in csv.DictReader(file)
        ]


def conversations(path: Path) -> Measure:
    """Turns of long conversations, each conversation a workspace; under "chat" stands the recipe "conversation"."""

    def measure(recipe: Recipe, most: int | None) -> Values:
        values: Values = {}
        with tempfile.TemporaryDirectory() as folder, Weft.open(Path(folder) / "turns.weft") as weft:
            for conversation in memory._read(path):
                memory._fill(weft, conversation)
                for question, evidence in conversation.questions[:most]:
                    _measure_turns(weft, recipe, conversation.name, question, evidence, values)
        return values

    return measure


def _measure_turns(
    weft: Weft, recipe: Recipe, workspace: str, question: str, evidence: frozenset[str], values: Values
) -> None:
    with weft.store.view(workspace, USER) as view:
        plain = {"bm25": by_words(weft, view, question), "vector": by_vector(weft, view, question)}
        inside = {
            (way, budget): view.nodes_of(filled(weft, view, hits, budget))
            for way, hits in plain.items()
            for budget in TURN_BUDGETS
        }
    for way, chosen in (("weftwork", recipe), ("chat", get_recipe("conversation"))):
        for budget in TURN_BUDGETS:
            context = weft.context(question, workspace=workspace, budget=budget, recipe=chosen)
            inside[way, budget] = memory.shown_whole(context)
    for (way, budget), turns in inside.items():
        values.setdefault(f"recall@{budget}_tokens", {}).setdefault(way, []).append(metrics.recall(turns, evidence))
