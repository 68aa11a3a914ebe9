"""Search by words where words are hard to match: in eight languages, and misspelt, beside plain BM25.

Languages: the articles of the Universal Declaration of Human Rights, one store a language, and fourteen questions in
each (questions/languages.json). Typos: the questions of the judged sets, in which the rarest word that the set has is
misspelt by one typo, and the same questions as they are. For both, the share of questions whose answer is the first
hit, and among the first five:

  search   `Weft.search`, by words and by meaning
  words    `Weft.search` by words alone
  bm25     BM25 over the same texts, lower-case words as they are
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import judged
from benchmarks.corpus import data_folder
from benchmarks.relevance import kept
from benchmarks.timing import say
from weftwork import Node, Weft
from weftwork.text import bm25

SETS = ("ir_cranfield", "ir_med", "multihop_hotpotqa100_train", "anthropic_cookbook_docs")
WAYS = ("search", "words", "bm25")
FIRST = (1, 5)
_HEADING = re.compile(r"\w+ (\d+|premier)")
_WORD = re.compile(r"\w+")

Scores = dict[str, dict[str, list[float]]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this benchmark can be told."""
    parser.add_argument("--questions", type=int, default=100, help="only the first so many of each judged set")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of all languages, and of all sets with and without typos."""
    figures: dict[str, Any] = {"languages": {}, "typos": {}}
    for language, articles, questions in _languages():
        with tempfile.TemporaryDirectory() as folder, Weft.open(Path(folder) / "articles.weft") as weft:
            weft.add([Node(id=number, type="section", text=text) for number, text in articles.items()])
            figures["languages"][language] = _measure(weft, articles, questions)
        say(f"{language}: {json.dumps(figures['languages'][language])}")
    for source in _judged():
        texts = {document.id: f"{document.title}\n{document.text}" for document in source.documents}
        asked = [(each.text, frozenset(each.grades)) for each in source.questions[: args.questions]]
        known = Counter(word for text in texts.values() for word in set(_words(text)))
        draw = random.Random(args.seed)
        spoilt = [(misspelt(text, known, draw), gold) for text, gold in asked]
        with Weft.open(kept(source).store) as weft:
            weft.catch_up()
            measured = {"right": _measure(weft, texts, asked), "misspelt": _measure(weft, texts, spoilt)}
        figures["typos"][source.name] = measured
        say(f"{source.name}: {json.dumps(measured)}")
    return figures


def _languages() -> Iterator[tuple[str, dict[str, str], list[tuple[str, frozenset[str]]]]]:
    asked = json.loads((Path(__file__).parent / "questions" / "languages.json").read_text("utf-8"))
    for language, questions in asked["questions"].items():
        path = data_folder() / "tokenizer_multilingual" / "udhr" / f"{language}.txt"
        gold = [frozenset({str(number)}) for number in asked["articles"]]
        yield language, _articles(path.read_text("utf-8")), list(zip(questions, gold, strict=True))


def _articles(text: str) -> dict[str, str]:
    """The articles of the declaration by their numbers, without headings."""
    articles: dict[str, list[str]] = {}
    number = "0"
    for line in text.splitlines():
        if heading := _HEADING.fullmatch(line.strip()):
            number = heading[1].replace("premier", "1")
        elif line.strip():
            articles.setdefault(number, []).append(line.strip())
    return {number: "\n".join(lines) for number, lines in articles.items()}


def _judged() -> Iterator[judged.Judged]:
    for name in SETS[:-1]:
        yield judged.read_beir(data_folder() / name)
    yield judged.read_documentation(data_folder() / "anthropic_cookbook_rag")


def misspelt(question: str, known: Mapping[str, int], draw: random.Random) -> str:
    """A question whose rarest known word of five letters or more has a typo that makes it unknown."""
    words = [word for word in _WORD.findall(question) if len(word) >= 5 and word.isalpha() and known.get(word.lower())]
    if not words:
        return question
    rarest = min(words, key=lambda word: (known[word.lower()], word))
    for _ in range(100):
        typo = _typo(rarest, draw)
        if typo.lower() not in known:
            return question.replace(rarest, typo)
    return question


def _typo(word: str, draw: random.Random) -> str:
    """A word with a letter left out, doubled, replaced, or swapped with the next."""
    place = draw.randrange(1, len(word) - 1)
    before, letter, after = word[:place], word[place], word[place + 1 :]
    other = draw.choice("abcdefghijklmnopqrstuvwxyz")
    return draw.choice(
        [
            before + after,
            before + letter + letter + after,
            before + other + after,
            before + after[0] + letter + after[1:],
        ]
    )


def _measure(weft: Weft, texts: Mapping[str, str], asked: Sequence[tuple[str, frozenset[str]]]) -> dict[str, Any]:
    floor = _Floor(texts)
    scores: Scores = {f"hit@{most}": {way: [] for way in WAYS} for most in FIRST}
    for question, gold in asked:
        orders = {
            "search": [hit.node.id for hit in weft.search(question, limit=20)],
            "words": [hit.node.id for hit in weft.search(question, limit=20, mode="words")],
            "bm25": floor.ranked(question),
        }
        for most in FIRST:
            for way, order in orders.items():
                best = list(dict.fromkeys(order))[:most]
                scores[f"hit@{most}"][way].append(float(any(each in gold for each in best)))
    return {
        metric: {way: round(sum(values) / len(values), 3) for way, values in ways.items()}
        for metric, ways in scores.items()
    }


class _Floor:
    """BM25 over lower-case words as they are."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._counts = {name: Counter(_words(text)) for name, text in texts.items()}
        self._lengths = {name: counts.total() for name, counts in self._counts.items()}
        self._average = sum(self._lengths.values()) / len(texts)
        self._known = Counter(word for counts in self._counts.values() for word in counts)

    def ranked(self, question: str) -> list[str]:
        """The texts with any word of the question, best first."""
        scores: dict[str, float] = {}
        for word in _words(question):
            weight = math.log(1 + (len(self._counts) - self._known[word] + 0.5) / (self._known[word] + 0.5))
            for name, counts in self._counts.items():
                if counts[word]:
                    worth = weight * bm25.impact(counts[word], self._lengths[name], self._average)
                    scores[name] = scores.get(name, 0.0) + worth
        return sorted(scores, key=lambda name: -scores[name])[:20]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
