"""The account of a context in plain text, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from weftwork.render.quote import inline
from weftwork.types import Context, Decision, Ended, Fate

_FATES: tuple[Fate, ...] = ("included", "truncated", "line", "dropped")
_ENDED: Mapping[Ended, str] = {
    "budget": "the budget is used up",
    "evidence": "nothing else was found for it",
    "workspace": "all that you may see is in it",
}
_INDENT = " " * 11


def explain(context: Context) -> str:
    """A report of the tokens spent, and of each candidate's fate with the reason."""
    lines = [*_summary(context), "", "Sections", *_sections(context), "", "Candidates"]
    for decision in context.trace:
        lines.extend(_decision(decision))
    if not context.trace:
        lines.append("  none")
    return "\n".join(lines) + "\n"


def _summary(context: Context) -> Iterator[str]:
    yield f"Query      {inline(context.query)}"
    yield f"Viewer     {inline(context.user)} in {inline(context.workspace)}"
    yield f"Tokens     {context.tokens} of {context.budget}"
    yield f"Ended      {_ENDED[context.ended]}"
    fates = Counter(decision.fate for decision in context.trace)
    counts = ", ".join(f"{fates[fate]} {fate}" for fate in _FATES if fates[fate])
    yield f"Candidates {len(context.trace)}{': ' if counts else ''}{counts}"
    yield from (f"Warning    {inline(warning)}" for warning in context.warnings)


def _sections(context: Context) -> Iterator[str]:
    width = max((len(inline(section.name, 20)) for section in context.sections), default=0)
    for section in context.sections:
        budget = "" if section.budget is None else f" of {section.budget}"
        items = f"{len(section.excerpts)} excerpt{'' if len(section.excerpts) == 1 else 's'}"
        yield f"  {inline(section.name, 20):<{width}}  {section.tokens}{budget} tokens, {items}"
    if context.overflow:
        tokens = sum(excerpt.tokens for excerpt in context.overflow)
        yield f"  {len(context.overflow)} more by title only, {tokens} tokens"
    if not context.sections and not context.overflow:
        yield "  none"


def _decision(decision: Decision) -> Iterator[str]:
    name = f"{inline(decision.title, 60) or 'Untitled'} ({inline(decision.type, 20)})"
    yield f"{decision.fate:<10} {decision.score:.2f}  [{inline(decision.citation, 40)}] {name}"
    near = "" if decision.missing_tokens is None else f"; about {decision.missing_tokens} tokens short"
    section = inline(decision.section, 20)
    yield f"{_INDENT}{decision.tokens} tokens, {section}: {inline(decision.reason)}{near}"
    if decision.signals:
        values = {name: "-" if value is None else f"{value:.2f}" for name, value in decision.signals.items()}
        yield f"{_INDENT}signals  {' '.join(f'{inline(name, 30)}={values[name]}' for name in sorted(values))}"
    if decision.findings:
        found_by = [
            f"{inline(finding.collector, 30)} at rank {finding.rank} ({finding.score:.2f})"
            + (f": {inline(finding.why, 80)}" if finding.why else "")
            for finding in decision.findings
        ]
        yield f"{_INDENT}found by {'; '.join(found_by)}"
