"""Asking questions in several ways, and comparing what each context holds with what the answer needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from weftwork.engine import Weft
from weftwork.evaluate.metrics import Interval, bootstrap, ndcg, paired
from weftwork.evaluate.questions import Question
from weftwork.evaluate.variants import Variant
from weftwork.types import Context

METRICS = ("recall", "precision", "nDCG", "complete")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one context served one question."""

    recall: float
    """Which share of the evidence is in the context."""
    precision: float
    """Which share of the items holds evidence."""
    ndcg: float
    """How early the evidence comes, as a share of the best possible order."""
    complete: float
    """1 if no evidence is missing."""
    tokens: int
    pieces: int
    missing: tuple[str, ...]
    milliseconds: float

    def value(self, metric: str) -> float:
        """A metric by its name."""
        return float(getattr(self, metric.lower()))


@dataclass(frozen=True, slots=True)
class Result:
    """How one way of assembling served all questions."""

    variant: Variant
    outcomes: tuple[Outcome, ...]

    def interval(self, metric: str) -> Interval:
        """The mean over the questions, and what it may be for others of the same kind."""
        return bootstrap([outcome.value(metric) for outcome in self.outcomes])

    def lead(self, other: Result, metric: str) -> Interval:
        """By how much it is better than another for the same questions."""
        mine, theirs = ([outcome.value(metric) for outcome in each.outcomes] for each in (self, other))
        return paired(mine, theirs)

    @property
    def tokens(self) -> float:
        """Tokens of a context, on average."""
        return fmean(outcome.tokens for outcome in self.outcomes)

    @property
    def tokens_per_piece(self) -> float | None:
        """Tokens that were spent for each piece of evidence that was found; None if none was."""
        found = sum(outcome.pieces for outcome in self.outcomes)
        return sum(outcome.tokens for outcome in self.outcomes) / found if found else None

    @property
    def milliseconds(self) -> float:
        """The median time of a context."""
        return median(outcome.milliseconds for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was asked, and what came of it in each way."""

    questions: tuple[Question, ...]
    results: tuple[Result, ...]
    unknown: tuple[str, ...]
    """Wanted ids that do not exist, or that this user may not see."""


def evaluate(
    weft: Weft,
    questions: Sequence[Question],
    variants: Sequence[Variant],
    *,
    user: str,
    workspace: str,
    progress: Callable[[int], None] = lambda _: None,
) -> Evaluation:
    """Ask every question in every way."""
    with weft.store.view(workspace, user) as view:
        names = sorted({name for question in questions for name in question.wanted})
        known = {node.id for node in view.nodes(names)} | {record.passage.citation for record in view.cited(names)}
    weft.catch_up(workspace)
    variants = [
        replace(each, budget=weft.default_budget(each.recipe)) if each.budget is None else each for each in variants
    ]
    results = []
    for variant in variants:
        outcomes = []
        for question in questions:
            outcomes.append(_outcome(weft, question, variant, user, workspace))
            progress(1)
        results.append(Result(variant, tuple(outcomes)))
    return Evaluation(tuple(questions), tuple(results), tuple(name for name in names if name not in known))


def _outcome(weft: Weft, question: Question, variant: Variant, user: str, workspace: str) -> Outcome:
    began = time.perf_counter()
    context = weft.context(
        question.query, user=user, workspace=workspace, budget=variant.budget, recipe=variant.recipe, lens=variant.lens,
        focus=question.focus, thread=question.thread,
    )  # fmt: skip
    took = 1000 * (time.perf_counter() - began)
    return judge(context, question, took)


def judge(context: Context, question: Question, milliseconds: float = 0.0) -> Outcome:
    """Compare a context with what a question needs."""
    pieces = (*question.wanted, *question.quotes)
    holding = [_held(item.candidate.node.id, item.candidate.passage.citation, item.text, question)
               for item in context.items]  # fmt: skip
    text = _plain(context.text)
    found = set().union(*holding) | {quote for quote in question.quotes if _plain(quote) in text}
    ranking: list[str] = []
    for place, held in enumerate(holding):
        ranking += sorted(held - set(ranking)) or [f"\0{place}"]
    return Outcome(
        recall=len(found) / len(pieces),
        precision=sum(map(bool, holding)) / len(holding) if holding else 0.0,
        ndcg=ndcg(ranking, dict.fromkeys(pieces, 1.0), max(len(ranking), len(pieces))),
        complete=float(len(found) == len(pieces)),
        tokens=context.tokens,
        pieces=len(found),
        missing=tuple(piece for piece in pieces if piece not in found),
        milliseconds=milliseconds,
    )


def _held(node: str, citation: str, text: str, question: Question) -> set[str]:
    """Which pieces of evidence an item holds."""
    plain = _plain(text)
    return {name for name in question.wanted if name in (node, citation)} | {
        quote for quote in question.quotes if _plain(quote) in plain
    }


def _plain(text: str) -> str:
    """Text without what line breaks and case make of it."""
    return " ".join(text.casefold().split())
