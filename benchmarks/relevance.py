"""How much of what an answer needs is in a context, beside plain BM25 and plain vectors.

Each set is a workspace: a text of the set is a node with its title, links between texts that name each other are made
as `weftwork add` makes them, and each question is asked with the default recipe as it comes.

  weftwork     nodes in the order of the items that the context includes, with a budget of 12,000 tokens
  bm25     nodes by the best of their passages in the word index (BM25 over title and text, English stemming)
  vector   nodes by the best of their passages in the vector index, with the same embeddings

nDCG@10, recall@5, recall@10 and all_gold@10 (the share of questions with all texts that are judged relevant among the
first ten) look at the order; recall@N_tokens and all_gold@N_tokens at what is inside a context of N tokens, where the
plain rankings are passages with their titles, the best first, until the next one does not fit. Sets whose judgments are
spans of text have token_recall, token_precision and token_iou at several budgets, measured in characters.

`--data DIR` takes a folder in the layout of BEIR (corpus.jsonl, queries.jsonl, qrels.tsv or qrels/test.tsv), or a
folder of such folders; without it, the sets in $WEFTWORK_DATA or ../shared/data are measured. Under "behind" stand the
metrics in which Weftwork is worse than the better of the two by more than chance explains (95 % of resampled sets of
questions).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import judged
from benchmarks.corpus import data_folder
from benchmarks.judged import Asked, Judged
from benchmarks.timing import say
from benchmarks.workspace import cache_folder
from weftwork import Edge, Node, Weft
from weftwork.evaluate import metrics
from weftwork.ingest.mentions import MENTION, WEIGHT, find_mentions
from weftwork.recipe import Recipe, get_recipe
from weftwork.store.protocol import View
from weftwork.store.sqlite.schema import MIGRATIONS
from weftwork.types import Context

BUDGET = 12_000
SMALL = 4_000
DEPTH = 100
"""Hits of each plain ranking: more than ten nodes, however many passages a node has."""
BATCH = 1_000
QUOTES = re.compile('["\u201c\u201d\u201e]')
WAYS = ("weftwork", "bm25", "vector")

Values = dict[str, dict[str, list[float]]]
"""By metric and way, a value for each question."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A store that holds a set, the questions, and how its nodes are named in the judgments."""

    name: str
    store: Path
    questions: tuple[Asked, ...]
    workspace: str = "main"
    called: Mapping[str, str] = field(default_factory=dict)
    """What the judgments call a node, where it is not its id."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, help="a folder in the layout of BEIR, or a folder of such folders")
    parser.add_argument("--sets", help="only these, separated by commas")
    parser.add_argument("--questions", type=int, help="only the first so many of each set")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """All metrics of all sets, side by side."""
    return measured(args, get_recipe("default"))


def measured(args: argparse.Namespace, recipe: Recipe) -> dict[str, Any]:
    """The figures of one recipe."""
    found: dict[str, Values] = {}
    wanted = set(args.sets.split(",")) if args.sets else None
    for name, measure in _measures(args.data):
        if wanted is None or name in wanted:
            began = time.perf_counter()
            found[name] = measure(recipe, args.questions)
            say(f"{name}: {time.perf_counter() - began:.0f} s {json.dumps(_means(found[name]))}")
    if not found:
        raise SystemExit("there is no set to measure: see --data and --sets")
    return {"sets": {name: _means(values) for name, values in found.items()}, "behind": _behind(found)}


Measure = Callable[[Recipe, int | None], Values]


def _beir(folder: Path) -> Collection:
    return kept(judged.read_beir(folder))


def _measures(data: Path | None) -> Iterator[tuple[str, Measure]]:
    if data is not None:
        for folder in judged.beir_folders(data):
            yield folder.name, _ranked(partial(_beir, folder))
        return
    # The other kinds of sets know this module's rankings.
    from benchmarks import relevance_sets  # noqa: PLC0415

    folder = data_folder()
    for each in judged.beir_folders(folder):
        yield each.name, _ranked(partial(_beir, each))
    cookbook = folder / "anthropic_cookbook_rag"
    yield "anthropic_cookbook_code", _ranked(lambda: kept(judged.read_code_chunks(cookbook)))
    yield "anthropic_cookbook_docs", _ranked(lambda: kept(judged.read_documentation(cookbook)))
    yield "azure_hr_docs", _ranked(lambda: relevance_sets.pages_of_documents(folder / "azure_hr_docs"))
    yield "chunking_evaluation", relevance_sets.spans(folder / "chunking_evaluation")
    yield "locomo_dev", relevance_sets.conversations(folder / "locomo_dev" / "locomo_dev.json")


def _ranked(opened: Callable[[], Collection]) -> Measure:
    return lambda recipe, most: measure(opened(), recipe, most)


def measure(collection: Collection, recipe: Recipe, most: int | None = None) -> Values:
    """Every metric of a set of judged nodes."""
    values: Values = {}
    with Weft.open(collection.store) as weft:
        weft.catch_up(collection.workspace)
        for asked in collection.questions[:most]:
            with weft.store.view(collection.workspace, "me") as view:
                plain = {"bm25": by_words(weft, view, asked.text), "vector": by_vector(weft, view, asked.text)}
                orders = {name: view.nodes_of(hits) for name, hits in plain.items()}
                within = {name: view.nodes_of(filled(weft, view, hits, SMALL)) for name, hits in plain.items()}
            orders["weftwork"] = nodes_in(weft.context(asked.text, budget=BUDGET, recipe=recipe))
            within["weftwork"] = nodes_in(weft.context(asked.text, budget=SMALL, recipe=recipe))
            for name in WAYS:
                order, inside = (_called(collection, each[name]) for each in (orders, within))
                for metric, value in _judged(order, inside, asked.grades).items():
                    values.setdefault(metric, {}).setdefault(name, []).append(value)
    return values


def _called(collection: Collection, nodes: Sequence[str]) -> list[str]:
    return [collection.called.get(node, node) for node in nodes]


def _judged(order: Sequence[str], inside: Sequence[str], grades: Mapping[str, float]) -> dict[str, float]:
    return {
        "nDCG@10": metrics.ndcg(order, grades, 10),
        "recall@5": metrics.recall(order, grades, 5),
        "recall@10": metrics.recall(order, grades, 10),
        "all_gold@10": metrics.all_gold(order, grades, 10),
        f"recall@{SMALL}_tokens": metrics.recall(inside, grades),
        f"all_gold@{SMALL}_tokens": metrics.all_gold(inside, grades),
    }


def nodes_in(context: Context) -> list[str]:
    """The nodes whose text is in a context, in its order."""
    shown = (excerpt for excerpt in context.excerpts if excerpt.form != "line")
    return list(dict.fromkeys(item.candidate.node.id for excerpt in shown for item in excerpt.items))


def by_words(weft: Weft, view: View, question: str) -> list[int]:
    """Keys of passages by BM25; quotes, which would require a phrase, are left out."""
    return [hit.key for hit in view.search_words(QUOTES.sub(" ", question), limit=DEPTH)]


def by_vector(weft: Weft, view: View, question: str) -> list[int]:
    """Keys of passages by cosine."""
    embedder = weft.tools.embedder
    assert embedder is not None
    vector = embedder.embed(question)
    if not vector.any():
        return []
    return [hit.key for hit in view.search_vector(vector, model=embedder.model, limit=DEPTH, threshold=-1.0)]


def filled(weft: Weft, view: View, keys: Sequence[int], budget: int) -> list[int]:
    """The first of these passages that fit into a budget with their titles."""
    taken = []
    for record in view.load(keys):
        budget -= weft.tools.counter.count(f"{record.node.title}\n{record.passage.text}\n\n")
        if budget < 0:
            break
        taken.append(record.passage.key)
    return taken


def kept(source: Judged, embedder: str = "static") -> Collection:
    """A set in a store of its own, built once for the same texts, the same schema and the same embedder."""
    state = hashlib.blake2b("".join(MIGRATIONS.values()).encode(), digest_size=6)
    for document in source.documents:
        state.update(f"{document.id}\0{document.title}\0{document.text}\0".encode())
    name = source.name if embedder == "static" else f"{source.name}-{embedder}"
    folder = cache_folder() / "relevance" / f"{name}-{state.hexdigest()}"
    store = folder / "set.weft"
    if not (folder / "built").exists():
        say(f"building {source.name}: {len(source.documents):,} texts")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with Weft.open(store, embedder=embedder) as weft:
            write(weft, source)
        (folder / "built").touch()
    return Collection(source.name, store, source.questions)


def write(weft: Weft, source: Judged) -> None:
    """Add the texts of a set, each as a node, and the links between them."""
    nodes = [Node(id=each.id, type="document", title=each.title, text=each.text) for each in source.documents]
    for start in range(0, len(nodes), BATCH):
        weft.add(nodes[start : start + BATCH])
    weft.add((), mentions(nodes))


def mentions(nodes: Sequence[Node]) -> list[Edge]:
    """Links to what a text names by its title; of several nodes with the same title, to the first."""
    titles: dict[str, str] = {}
    for node in nodes:
        titles.setdefault(node.title, node.id)
    found = find_mentions(((node.id, node.text) for node in nodes), titles)
    return [Edge(source=each.source, target=each.target, type=MENTION, weight=WEIGHT) for each in found]


def _means(values: Values) -> dict[str, dict[str, float]]:
    return {metric: {way: round(statistics.fmean(each[way]), 4) for way in each} for metric, each in values.items()}


def _behind(found: Mapping[str, Values]) -> dict[str, dict[str, str]]:
    """By set and metric, the better of the plain ways and how far it is ahead, where that is more than noise."""
    behind: dict[str, dict[str, str]] = {}
    for name, values in found.items():
        for metric, each in values.items():
            best = max(("bm25", "vector"), key=lambda way: statistics.fmean(each[way]))
            lead = metrics.paired(each["weftwork"], each[best])
            if lead.high < 0:
                behind.setdefault(name, {})[metric] = f"{best} {-lead.mean:+.4f} [{-lead.high:.4f}, {-lead.low:.4f}]"
    return behind
