"""The HTML report of an evaluation: one self-contained page with plots, without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from weftwork.evaluate.metrics import Interval
from weftwork.evaluate.report import incomplete, leads
from weftwork.evaluate.run import METRICS, Evaluation, Result

WIDTH, ROW, LABEL, PLOT = 760, 26, 300, 400
SHOWN = 50
"""Questions that are listed for each variant."""

STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --faint: #68707f; --line: #d9dde4; --bar: #3a6ea5; --ground: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --faint: #9aa3b2; --line: #363d49; --bar: #7fb0e6; --ground: #14181f; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; } small, .faint { color: var(--faint); }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .bar { fill: var(--bar); opacity: .75; } svg .whisker { stroke: var(--ink); stroke-width: 1.5; }
svg .axis { stroke: var(--line); } summary { cursor: pointer; }
"""


def to_html(evaluation: Evaluation, title: str) -> str:
    """The whole page."""
    body = "\n".join(_body(evaluation, title))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _body(evaluation: Evaluation, title: str) -> Iterator[str]:
    yield f"<h1>{escape(title)}</h1>"
    yield f"<p>{len(evaluation.questions):,} questions. Whiskers and small figures: 95 % of resampled questions.</p>"
    if evaluation.unknown:
        names = ", ".join(escape(name) for name in evaluation.unknown[:SHOWN])
        yield f"<p><strong>{len(evaluation.unknown)} wanted ids do not exist here:</strong> {names}</p>"
    yield from _table(evaluation)
    for metric in METRICS:
        yield f"<h2>{escape(metric)}</h2>"
        yield _bars([(result.variant.name, result.interval(metric)) for result in evaluation.results], metric)
    yield "<h2>What is missing</h2>"
    for result in evaluation.results:
        yield from _missing(evaluation, result)


def _table(evaluation: Evaluation) -> Iterator[str]:
    heads = "".join(
        f"<th scope=col>{escape(heading)}</th>" for heading in ("", *METRICS, "tokens", "tokens per piece", "ms")
    )
    yield f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>"
    first = evaluation.results[0]
    for result in evaluation.results:
        cells = [f"<th scope=row>{escape(result.variant.name)}</th>"]
        better = leads(result, first) if result is not first else {}
        for metric in METRICS:
            cells.append(f"<td>{_figure(result.interval(metric), better.get(metric))}</td>")
        spent = result.tokens_per_piece
        cells.append(f"<td>{result.tokens:,.0f}</td><td>{'–' if spent is None else f'{spent:,.0f}'}</td>")
        cells.append(f"<td>{result.milliseconds:.1f}</td>")
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody>\n</table>"
    if len(evaluation.results) > 1:
        yield "<p class=faint>▲ and ▼: better or worse than the first way by more than chance explains.</p>"


def _figure(interval: Interval, lead: Interval | None) -> str:
    mark = "" if lead is None else " ▲" if lead.low > 0 else " ▼" if lead.high < 0 else ""
    return f"{interval.mean:.3f}{mark}<br><small>{interval.low:.2f}–{interval.high:.2f}</small>"


def _bars(rows: Sequence[tuple[str, Interval]], metric: str) -> str:
    """A bar chart from 0 to 1 with a row and its whisker for each variant."""
    height = ROW * len(rows) + 22
    described = "; ".join(f"{name} {interval.mean:.3f}" for name, interval in rows)
    label = escape(f"{metric}: {described}", quote=True)
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">']
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = LABEL + PLOT * share
        parts.append(f'<line class="axis" x1="{x:g}" x2="{x:g}" y1="0" y2="{height - 18}"/>')
        parts.append(f'<text x="{x:g}" y="{height - 4}" text-anchor="middle">{share:g}</text>')
    for place, (name, interval) in enumerate(rows):
        y = ROW * place + 4
        middle = y + 9
        low, high = (LABEL + PLOT * value for value in (interval.low, interval.high))
        parts.append(f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(_short(name))}</text>')
        parts.append(f'<rect class="bar" x="{LABEL}" y="{y}" height="18" width="{PLOT * interval.mean:.1f}"/>')
        parts.append(f'<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"/>')
        parts.append(f'<text x="{LABEL + PLOT + 10}" y="{y + 13}">{interval.mean:.3f}</text>')
    return "\n".join([*parts, "</svg>"])


def _missing(evaluation: Evaluation, result: Result) -> Iterator[str]:
    lacking = incomplete(evaluation, result)
    yield f"<details><summary>{escape(result.variant.name)}: {len(lacking)} questions</summary>\n<ul>"
    for name, query, missing in lacking[:SHOWN]:
        pieces = ", ".join(escape(_short(piece, 120)) for piece in missing)
        yield f"<li>{escape(_short(query, 200))} <small>({escape(_short(name, 60))})</small><br>missing: {pieces}</li>"
    if len(lacking) > SHOWN:
        yield f"<li class=faint>and {len(lacking) - SHOWN} more</li>"
    yield "</ul></details>"


def _short(text: str, most: int = 44) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
