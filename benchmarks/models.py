"""What each embedding model gives, by itself, fused with words, and with a reranker, and what it costs.

For each set and model, nDCG@10 of the nodes:

  words    by BM25 alone
  vectors  by cosine alone
  fused    in the order of the default recipe's items, 12,000 tokens, as `benchmarks relevance` asks
  reranked the same with the reranker
  lead     fused before the better of words and vectors, with its interval

The trust of each model's card was fitted on the questions with even places (`--half fit`); `--half confirm`
are the others. "costs" has the CPU time of a question and of a passage, measured here, and the megabytes of the
card. Install models with  weftwork models install . Without --sets, the sets of $WEFTWORK_DATA or ../shared/data that
are lists of judged texts; of code search, every fourth text and those that answer.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmarks import judged
from benchmarks.corpus import data_folder
from benchmarks.judged import Asked, Judged
from benchmarks.relevance import BUDGET, DEPTH, QUOTES, kept, nodes_in
from benchmarks.timing import say
from weftwork import Weft
from weftwork.embed.cached import query_vector
from weftwork.embed.card import known_cards
from weftwork.evaluate import metrics
from weftwork.recipe import get_recipe
from weftwork.score.cross_encoder import get_reranker
from weftwork.store.protocol import View

MODELS = "static,all-MiniLM-L6-v2,bge-small-en-v1.5,granite-embedding-30m-english"
EVERY = 4
"""Of the texts of code search, those that are kept beside those that answer: all of them take an hour to embed."""
TIMED = 20
HALVES = {"fit": 0, "confirm": 1}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", default=MODELS, help="names of installed models, separated by commas")
    parser.add_argument("--reranker", help="an installed reranker; the figures with it are added")
    parser.add_argument("--sets", help="only these, separated by commas")
    parser.add_argument("--questions", type=int, help="only the first so many of each half")
    parser.add_argument("--half", choices=HALVES, default="confirm", help="the half of the questions")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Figures by set and model, and the costs of each model."""
    wanted = set(args.sets.split(",")) if args.sets else None
    models, figures = args.models.split(","), {}
    for source in sets():
        if wanted is None or source.name in wanted:
            asked = source.questions[HALVES[args.half] :: 2][: args.questions]
            figures[source.name] = {model: _measured(source, asked, model, args.reranker) for model in models}
            say(f"{source.name}: {figures[source.name]}")
    return {"half": args.half, "sets": figures, "costs": {model: _cost(model) for model in models}}


def sets() -> Iterator[Judged]:
    """The sets of judged texts."""
    folder = data_folder()
    for each in judged.beir_folders(folder):
        source = judged.read_beir(each)
        yield _fewer(source) if len(source.documents) > 5_000 else source
    cookbook = folder / "anthropic_cookbook_rag"
    yield judged.read_documentation(cookbook)
    yield judged.read_code_chunks(cookbook)


def _fewer(source: Judged) -> Judged:
    questions = source.questions[:150]
    gold = {name for asked in questions for name in asked.grades}
    texts = [each for place, each in enumerate(source.documents) if place % EVERY == 0 or each.id in gold]
    return replace(source, documents=tuple(texts), questions=questions)


def _measured(source: Judged, questions: Sequence[Asked], model: str, reranker: str | None) -> dict[str, float | str]:
    collection, recipe = kept(source, model), get_recipe("default")
    values: dict[str, list[float]] = {}
    with Weft.open(collection.store, embedder=model) as weft:
        weft.catch_up()
        recipes = {"fused": recipe}
        if reranker:
            recipes["reranked"] = replace(recipe, reranker=get_reranker(reranker))
        for asked in questions:
            with weft.store.view("main", "me") as view:
                orders = _plain(weft, view, asked.text)
            for way, chosen in recipes.items():
                orders[way] = nodes_in(weft.context(asked.text, budget=BUDGET, recipe=chosen))
            for way, order in orders.items():
                values.setdefault(way, []).append(metrics.ndcg(order, asked.grades, 10))
    means = {way: round(statistics.fmean(each), 4) for way, each in values.items()}
    lead = metrics.paired(values["fused"], values[max(("words", "vectors"), key=means.__getitem__)])
    return {**means, "lead": f"{lead.mean:+.4f} [{lead.low:+.4f}, {lead.high:+.4f}]"}


def _plain(weft: Weft, view: View, question: str) -> dict[str, list[str]]:
    embedder = weft.tools.embedder
    assert embedder is not None
    vector = query_vector(embedder, question)
    by_vector = view.search_vector(vector, model=embedder.model, limit=DEPTH, threshold=-1.0) if vector.any() else []
    by_words = view.search_words(QUOTES.sub(" ", question), limit=DEPTH)
    return {
        name: view.nodes_of([hit.key for hit in hits]) for name, hits in (("words", by_words), ("vectors", by_vector))
    }


def _cost(model: str) -> dict[str, float]:
    """The CPU time of a question of ten words and of a passage of two hundred, in milliseconds, and the megabytes."""
    from weftwork.embed import get_embedder  # noqa: PLC0415

    embedder = get_embedder(model)
    assert embedder is not None
    words = "the quick brown fox jumps over a lazy dog and runs through old fields near some river".split()
    query, passage = " ".join(words[:10]), " ".join((words * 12)[:200])
    query_vector(embedder, query)
    return {
        "query_ms": _milliseconds(lambda: query_vector(embedder, query)),
        "passage_ms": _milliseconds(lambda: embedder.embed_batch([passage])),
        "megabytes": known_cards()[model].megabytes if model in known_cards() else 0,
    }


def _milliseconds(run: Any) -> float:
    times = []
    for _ in range(TIMED):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return round(1000 * statistics.median(times), 2)
