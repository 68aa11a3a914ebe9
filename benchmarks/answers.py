"""How much of what answers a question is in the answer that `weftwork ask` quotes without a model.

The questions are those of the vaults (`benchmarks.vaults`), asked as the command asks them.

  recall    the share of the gold phrases that stand in the answer
  any       the share of the questions with at least one of them in it
  sources   the share of the phrases that stand in the sources: no answer made of these can have more
  right     the share of the quotes that come from a note that answers
  words     in the answer, on average
"""

from __future__ import annotations

import argparse
import re
import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks.context_sets import USER, open_set, vault_set
from benchmarks.corpus import data_folder
from benchmarks.measures import Phrase, words
from benchmarks.timing import say
from benchmarks.vaults import VAULTS, Question, read_questions
from weftwork import Weft
from weftwork.faces.research import ResearchAnswer, answer_from, research

NOTES = ("kb_blue_book", "kb_foam_docs", "kb_kepano", "kb_logseq_docs")
MEASURES = ("recall", "any", "sources", "right", "words")
_CITED = re.compile(r"\[(\d+)\]$", re.MULTILINE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", help=f"some of {','.join(NOTES)}")
    parser.add_argument("--half", choices=("fit", "check"), help="only the questions of this half")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The measures by vault, and of all questions together."""
    figures: dict[str, Any] = {}
    rows: list[tuple[float, ...]] = []
    for name in args.sets.split(",") if args.sets else NOTES:
        if name not in NOTES:
            raise SystemExit(f"there is no set {name!r}: use some of {','.join(NOTES)}")
        measured = list(_measured(name, args.half))
        say(f"{name}: {len(measured)} questions")
        figures[name] = _means(measured)
        rows += measured
    return {**figures, "all": _means(rows)}


def _means(rows: list[tuple[float, ...]]) -> dict[str, float]:
    means = (round(statistics.fmean(column), 3) for column in zip(*rows, strict=True))
    return {"questions": len(rows), **dict(zip(MEASURES, means, strict=True))}


def _measured(name: str, half: str | None) -> Iterator[tuple[float, ...]]:
    notes = vault_set(name, data_folder() / VAULTS[name], read_questions(name))
    with open_set(notes.store) as weft:
        for question in notes.questions:
            if half in (None, question.half):
                yield _row(question, _answer(weft, question))


def _answer(weft: Weft, question: Question) -> ResearchAnswer:
    found = research(weft, question.text, user=USER, workspace=question.workspace)
    return answer_from(question.text, found, None, weft.tools.embedder)


def _row(question: Question, answer: ResearchAnswer) -> tuple[float, ...]:
    gold = [phrase for phrase in question.gold if isinstance(phrase, Phrase)]
    said = words(_CITED.sub("", answer.answer))
    read = "\n".join(words(source.markdown_content) for source in answer.sources)
    found = [f" {words(phrase.text)} " in f" {said} " for phrase in gold]
    readable = [words(phrase.text) in read for phrase in gold]
    quoted = [answer.sources[int(number) - 1].filename for number in _CITED.findall(answer.answer)]
    right = [any(phrase.file.endswith(name) for phrase in gold) for name in quoted if name]
    return (
        statistics.fmean(found),
        any(found),
        statistics.fmean(readable),
        statistics.fmean(right) if right else 0.0,
        len(said.split()),
    )
