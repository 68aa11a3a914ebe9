"""Run questions through variants, and compare each context with what the answer needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from weftwork.engine import Weft
from weftwork.evaluate.metrics import Interval, bootstrap, ndcg, paired
from weftwork.evaluate.questions import Question
from weftwork.evaluate.variants import Variant
from weftwork.surface import surface
from weftwork.types import Context

METRICS = ("recall", "precision", "nDCG", "complete")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The metrics of one context for one question."""

    recall: float
    """Share of the evidence that is in the context."""
    precision: float
    """Share of the items that hold evidence."""
    ndcg: float
    """nDCG of the evidence in the order of the items."""
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
    """The outcomes of one variant for all questions."""

    variant: Variant
    outcomes: tuple[Outcome, ...]

    def interval(self, metric: str) -> Interval:
        """The mean over the questions, with its confidence interval."""
        return bootstrap([outcome.value(metric) for outcome in self.outcomes])

    def lead(self, other: Result, metric: str) -> Interval:
        """The paired difference to another variant on the same questions."""
        mine, theirs = ([outcome.value(metric) for outcome in result.outcomes] for result in (self, other))
        return paired(mine, theirs)

    @property
    def tokens(self) -> float:
        """The mean tokens of a context."""
        return fmean(outcome.tokens for outcome in self.outcomes)

    @property
    def tokens_per_piece(self) -> float | None:
        """Tokens spent per piece of evidence in the contexts; None if there is none."""
        pieces = sum(outcome.pieces for outcome in self.outcomes)
        return sum(outcome.tokens for outcome in self.outcomes) / pieces if pieces else None

    @property
    def milliseconds(self) -> float:
        """The median time of a context."""
        return median(outcome.milliseconds for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The questions, and the result of each variant."""

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
    """Run every question through every variant."""
    with weft.store.view(workspace, user) as view:
        names = sorted({name for question in questions for name in question.wanted})
        existing = {node.id for node in view.nodes(names)} | {record.passage.citation for record in view.cited(names)}
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
    return Evaluation(tuple(questions), tuple(results), tuple(name for name in names if name not in existing))


def _outcome(weft: Weft, question: Question, variant: Variant, user: str, workspace: str) -> Outcome:
    began = time.perf_counter()
    with surface(""):  # nobody is handed anything
        context = weft.context(
            question.query, user=user, workspace=workspace, budget=variant.budget, recipe=variant.recipe,
            lens=variant.lens, focus=question.focus, thread=question.thread,
        )  # fmt: skip
    took = 1000 * (time.perf_counter() - began)
    return judge(context, question, took)


def judge(context: Context, question: Question, milliseconds: float = 0.0) -> Outcome:
    """Compare a context with the evidence that a question needs."""
    pieces = (*question.wanted, *question.quotes)
    holding = [_held(item.candidate.node.id, item.candidate.passage.citation, item.text, question)
               for item in context.items]  # fmt: skip
    text = _plain(context.text)
    present = set().union(*holding) | {quote for quote in question.quotes if _plain(quote) in text}
    ranking: list[str] = []
    for place, evidence in enumerate(holding):
        ranking += sorted(evidence - set(ranking)) or [f"\0{place}"]
    return Outcome(
        recall=len(present) / len(pieces),
        precision=sum(map(bool, holding)) / len(holding) if holding else 0.0,
        ndcg=ndcg(ranking, dict.fromkeys(pieces, 1.0), max(len(ranking), len(pieces))),
        complete=float(len(present) == len(pieces)),
        tokens=context.tokens,
        pieces=len(present),
        missing=tuple(piece for piece in pieces if piece not in present),
        milliseconds=milliseconds,
    )


def _held(node: str, citation: str, text: str, question: Question) -> set[str]:
    """The pieces of evidence that an item holds."""
    plain = _plain(text)
    return {name for name in question.wanted if name in (node, citation)} | {
        quote for quote in question.quotes if _plain(quote) in plain
    }


def _plain(text: str) -> str:
    """Fold case and white space."""
    return " ".join(text.casefold().split())
