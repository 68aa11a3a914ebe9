"""Reports of an evaluation: a table for people, a dict for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weftwork.evaluate.metrics import Interval
from weftwork.evaluate.run import METRICS, Evaluation, Result

HEADINGS = ("", *METRICS, "tokens", "tokens/piece", "ms")


def to_table(evaluation: Evaluation) -> str:
    """A table with a row per variant, and the confidence interval below each mean."""
    lines: list[tuple[str, ...]] = [HEADINGS]
    for result in evaluation.results:
        intervals = [result.interval(metric) for metric in METRICS]
        spent = result.tokens_per_piece
        lines.append((
            result.variant.name,
            *(f"{interval.mean:.3f}" for interval in intervals),
            f"{result.tokens:,.0f}",
            "–" if spent is None else f"{spent:,.0f}",
            f"{result.milliseconds:.1f}",
        ))  # fmt: skip
        lines.append(("", *(f"{interval.low:.2f}–{interval.high:.2f}" for interval in intervals), "", "", ""))
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    return "\n".join("  ".join(map(_aligned, line, widths, range(len(line)))).rstrip() for line in lines)


def to_dict(evaluation: Evaluation) -> dict[str, Any]:
    """The figures as JSON values, with the missing evidence by question."""
    first = evaluation.results[0]
    return {
        "questions": len(evaluation.questions),
        "unknown": list(evaluation.unknown),
        "variants": [_result(evaluation, result, first) for result in evaluation.results],
    }


def leads(result: Result, first: Result) -> dict[str, Interval]:
    """The lead of a variant over the first one, by metric."""
    return {metric: result.lead(first, metric) for metric in METRICS}


def _result(evaluation: Evaluation, result: Result, first: Result) -> dict[str, Any]:
    variant = result.variant
    return {
        "name": variant.name,
        "recipe": variant.recipe.name,
        "lens": variant.lens,
        "packer": str(getattr(variant.recipe.packer, "name", variant.recipe.packer)),
        "weights": dict(variant.recipe.profile.weights),
        "budget": variant.budget,
        "metrics": {metric: _interval(result.interval(metric)) for metric in METRICS},
        "against_first": {} if result is first else {
            metric: _interval(interval) for metric, interval in leads(result, first).items()
        },
        "tokens": result.tokens,
        "tokens_per_piece": result.tokens_per_piece,
        "milliseconds_p50": result.milliseconds,
        "missing": {
            question.id: list(outcome.missing)
            for question, outcome in zip(evaluation.questions, result.outcomes, strict=True)
            if outcome.missing
        },
    }  # fmt: skip


def _interval(interval: Interval) -> dict[str, float]:
    return {"mean": interval.mean, "low": interval.low, "high": interval.high}


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column else cell.ljust(width)


def incomplete(evaluation: Evaluation, result: Result) -> Sequence[tuple[str, str, tuple[str, ...]]]:
    """Id, query and missing evidence of the questions that a variant did not fully serve."""
    return [
        (question.id, question.query, outcome.missing)
        for question, outcome in zip(evaluation.questions, result.outcomes, strict=True)
        if outcome.missing
    ]
