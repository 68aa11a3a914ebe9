"""Table detection: by ruling lines around cells, or by aligned columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from weftwork.ingest.documents.layout.blocks import BULLET
from weftwork.ingest.documents.layout.boxes import Item, Run, Table, is_prose, joined, letters_of, lines_of, rows_of

MOST_RULES = 4_000
"""Lines of a page that are looked at: more of them are a drawing."""
MOST_CELLS = 5_000
DRAWN = 0.4
"""The least share of its length that a line between cells is drawn on, on average: merged cells interrupt it."""
FULLEST_DRAWING = 0.5
"""The share of cells with text up to which lines are a chart or a drawing."""
FULLEST_IN_FRAME = 0.65
"""The same for lines within the frame of a chart or a page."""
NEAR = 3.0
"""Points within which two lines count as one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A ruling line, or a thin rectangle."""

    x0: float
    top: float
    x1: float
    bottom: float

    @property
    def horizontal(self) -> bool:
        """True if it is wider than high."""
        return self.x1 - self.x0 >= self.bottom - self.top


def with_ruled_tables(runs: Sequence[Run], rules: Sequence[Rule]) -> list[Item]:
    """The runs of a page as lines, those between ruling lines as tables."""
    tables, others = _ruled(runs, rules)
    return [*tables, *lines_of(others)]


def with_aligned_tables(column: Sequence[Item], size: float) -> list[Item]:
    """The items of a column, aligned rows replaced by tables."""
    tables, rest = _aligned([item for item in column if isinstance(item, Run)], size)
    return [*(item for item in column if isinstance(item, Table)), *tables, *rest]


def _ruled(runs: Sequence[Run], rules: Sequence[Rule]) -> tuple[list[Table], list[Run]]:
    """Tables with ruling lines between the cells, and the other runs."""
    others = list(runs)
    tables = []
    if len(rules) > MOST_RULES:
        return [], others
    groups = [(group, FULLEST_DRAWING) for group in _touching(rules)]
    while groups:
        group, emptiest = groups.pop(0)
        xs = _places([rule.x0 for rule in group if not rule.horizontal])
        ys = _places([rule.top for rule in group if rule.horizontal])
        if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > MOST_CELLS:
            continue
        inside = [
            run
            for run in others
            if not run.sideways and xs[0] < (run.x0 + run.x1) / 2 < xs[-1] and ys[0] < run.middle < ys[-1]
        ]
        table = _grid(inside, xs, ys) if _are_drawn(group, xs, ys) else None
        if table is not None and _fill(table) > emptiest:
            tables.append(table)
            taken = set(map(id, inside))
            others = [run for run in others if id(run) not in taken]
        else:
            # A page or a slide may be framed, with a table on it, or with a chart.
            groups += [(inner, FULLEST_IN_FRAME) for inner in _touching(_without_frame(group))]
    return tables, others


def _without_frame(group: Sequence[Rule]) -> list[Rule]:
    """The lines of a group but for those around all of it; none if there are none around it."""
    left, right = min(rule.x0 for rule in group), max(rule.x1 for rule in group)
    top, bottom = min(rule.top for rule in group), max(rule.bottom for rule in group)
    inner = [
        rule
        for rule in group
        if min(abs(rule.top - top), abs(rule.bottom - bottom)) > NEAR
        if min(abs(rule.x0 - left), abs(rule.x1 - right)) > NEAR
    ]
    return inner if len(inner) < len(group) else []


def _are_drawn(group: Sequence[Rule], xs: Sequence[float], ys: Sequence[float]) -> bool:
    """Return True if the lines between cells are there, as in a table; ticks and curves of a chart are shorter."""
    upright = [
        _covered([(rule.top, rule.bottom) for rule in group if not rule.horizontal and abs(rule.x0 - x) <= NEAR])
        / (ys[-1] - ys[0])
        for x in xs[1:-1]
    ]
    level = [
        _covered([(rule.x0, rule.x1) for rule in group if rule.horizontal and abs(rule.top - y) <= NEAR])
        / (xs[-1] - xs[0])
        for y in ys[1:-1]
    ]
    return min(mean(upright), mean(level)) >= DRAWN


def _covered(spans: Sequence[tuple[float, float]]) -> float:
    """The length of a union of spans."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total


def _fill(table: Table) -> float:
    """The share of cells with text."""
    return mean(bool(cell) for row in table.rows for cell in row)


def _grid(runs: Sequence[Run], xs: Sequence[float], ys: Sequence[float]) -> Table | None:
    rows: list[tuple[str, ...]] = []
    for number in range(len(ys) - 1):
        cells: list[list[Run]] = [[] for _ in xs[1:]]
        for run in runs:
            if bisect_right(ys, run.middle) - 1 == number:
                cells[bisect_right(xs, (run.x0 + run.x1) / 2) - 1].append(run)
        rows += _split(cells, xs) or [tuple(map(_text, cells))]
    rows = [row for row in rows if any(row)]
    columns = [column for column in range(len(xs) - 1) if any(row[column] for row in rows)]
    if len(rows) < 2 or len(columns) < 2:
        return None
    tidy = tuple(tuple(row[column] for column in columns) for row in rows)
    return Table(rows=tidy, x0=xs[0], top=ys[0], x1=xs[-1], bottom=ys[-1])


def _split(cells: Sequence[Sequence[Run]], xs: Sequence[float]) -> list[tuple[str, ...]]:
    """The rows that share one ruled row: cells whose lines align and are not wrapped text."""
    visual = rows_of(run for cell in cells for run in cell)
    stacked = [
        i for i, cell in enumerate(cells)
        if len(visual) > 1 and len(rows_of(cell)) >= 0.8 * len(visual)
        and mean(run.x1 - run.x0 for run in cell) < 0.75 * (xs[i + 1] - xs[i])
    ]  # fmt: skip
    if len(stacked) < 2:
        return []
    places = [{id(run): i for run in cell} for i, cell in enumerate(cells)]
    column_of = {name: i for column in places for name, i in column.items()}
    return [tuple(_text([run for run in row if column_of[id(run)] == i]) for i in range(len(cells))) for row in visual]


def _text(runs: Sequence[Run]) -> str:
    return " ".join(joined(row).text for row in rows_of(runs)) if runs else ""


def _places(values: Sequence[float]) -> list[float]:
    """Merge nearly equal values."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > NEAR:
            places.append(value)
    return places


def _touching(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Group lines that touch."""
    groups: list[tuple[list[float], list[Rule]]] = []
    for rule in sorted(rules, key=lambda line: (line.top, line.x0)):
        box = [rule.x0, rule.top, rule.x1, rule.bottom]
        members = [rule]
        apart = []
        for other, group in groups:
            if _meet(box, other):
                box = [min(box[0], other[0]), min(box[1], other[1]), max(box[2], other[2]), max(box[3], other[3])]
                members = group + members
            else:
                apart.append((other, group))
        groups = [*apart, (box, members)]
    return [members for _, members in groups]


def _meet(one: Sequence[float], other: Sequence[float]) -> bool:
    across = one[0] <= other[2] + NEAR and other[0] <= one[2] + NEAR
    return across and one[1] <= other[3] + NEAR and other[1] <= one[3] + NEAR


def _aligned(lines: Sequence[Run], size: float) -> tuple[list[Table], list[Run]]:
    """Tables without ruling lines: rows whose pieces are aligned; and the other runs."""
    tables: list[Table] = []
    rest: list[Run] = []
    pending: list[list[Run]] = []
    rows = rows_of(line for line in lines if not line.sideways)
    for number, row in enumerate([*rows, []]):
        if pending and len(row) == 1 and number + 1 < len(rows) and _is_note(pending, row, rows[number + 1], size):
            pending.append(row)
            continue
        if pending and (len(row) < 2 or row[0].top - pending[-1][0].bottom > 2.2 * size):
            table = _columns(pending)
            if table is None:
                rest += [run for pending_row in pending for run in pending_row]
            else:
                tables.append(table)
            pending = []
        if len(row) >= 2:
            pending.append(row)
        else:
            rest += row
    return tables, rest + [line for line in lines if line.sideways]


def _is_note(pending: Sequence[Sequence[Run]], row: Sequence[Run], following: Sequence[Run], size: float) -> bool:
    """Return True for a line between two rows that have the same columns: it belongs to the row above it."""
    last = next((above for above in reversed(pending) if len(above) > 1), [])
    if len(following) < 3 or following[0].top - row[0].bottom > 2.2 * size or row[0].top - last[0].bottom > 2.2 * size:
        return False
    near = sum(any(abs(run.x0 - above.x0) <= NEAR for above in last) for run in following)
    return near >= 0.75 * len(following) and len(last) >= 3


def _are_entries(columns: Sequence[Sequence[Run]]) -> bool:
    """Return True for list items behind a column of bullets."""
    return len(columns) == 2 and all(BULLET.fullmatch(f"{run.text.strip()} ") for run in columns[0])


def _are_prose(columns: Sequence[Sequence[Run]]) -> bool:
    """Return True for columns of text: long lines, or lines that mostly reach the end of their column."""
    letters = [mean(letters_of(run.text) for run in column) for column in columns]
    return sum(1 for width in letters if width > 28) >= 2 or max(letters) > 60 or all(map(is_prose, columns))


def _in_rows(columns: Sequence[Sequence[Run]], rows: Sequence[Sequence[Run]]) -> list[list[Run]]:
    """The columns without notes, which have a line to themselves."""
    notes = {id(row[0]) for row in rows if len(row) == 1}
    return [[run for run in column if id(run) not in notes] for column in columns]


def _spans(rows: Sequence[Sequence[Run]]) -> list[list[float]]:
    """The extents of columns, by rows with many cells: a total may run across several."""
    full = max(map(len, rows))
    spans: list[list[float]] = []
    runs = [run for row in rows if len(row) > 1 and (len(row) > 0.4 * full or full < 5) for run in row]
    for run in sorted(runs, key=lambda run: run.x0):
        if spans and run.x0 < spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], run.x1)
        else:
            spans.append([run.x0, run.x1])
    return spans


def _columns(rows: Sequence[Sequence[Run]]) -> Table | None:
    """Rows as a table; None if their pieces do not align, or are two columns of prose."""
    spans = _spans(rows)
    starts = [span[0] for span in spans]
    if len(spans) < 2 or len(spans) > 20:
        return None
    runs = [run for row in rows for run in row]
    columns = [[run for run in runs if max(bisect_right(starts, run.x0) - 1, 0) == i] for i in range(len(spans))]
    placed = {id(run): i for i, column in enumerate(columns) for run in column}
    cells = []
    for row in rows:
        texts = [""] * len(spans)
        for run in row:
            texts[placed[id(run)]] = f"{texts[placed[id(run)]]} {run.text}".strip()
        cells.append(tuple(texts))
    filled = mean(sum(map(bool, row)) / len(spans) for row, pieces in zip(cells, rows, strict=True) if len(pieces) > 1)
    few = len(rows) < 3 and (len(rows) < 2 or len(spans) < 4 or filled < 1)
    if few or filled < 0.53 or _are_entries(columns) or _are_prose(_in_rows(columns, rows)):
        return None
    return Table(
        rows=tuple(cells),
        x0=min(run.x0 for run in runs),
        top=min(run.top for run in runs),
        x1=max(run.x1 for run in runs),
        bottom=max(run.bottom for run in runs),
    )
