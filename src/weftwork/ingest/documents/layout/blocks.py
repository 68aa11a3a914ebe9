"""Lines in reading order to paragraphs, headings, lists and tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from weftwork.ingest.documents.layout.boxes import Item, Run, Table
from weftwork.ingest.documents.layout.hyphens import join_lines
from weftwork.ingest.documents.layout.running import Running

LONGEST_HEADING = 160
OFTEN = 0.5
"""The share of short lines from which on they are no accident."""
BULLET = re.compile(r"^[•‣◦▪■●○∙·➢✓❖]\s*|^[–—*]\s+|^-\s+")
_NUMBER = re.compile(r"^(?:\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
_END = re.compile(r"[.!?:;。！？：；][\"'”’)\]]*$")
_MARKUP = re.compile(r"^(#{1,6}(?=\s)|>|[-+](?=\s)|={3,}$|-{3,}$|`{3,}|~{3,})")
_FIGURES = re.compile(r"[\d.,%$€£¥+\-−–/: ]*\d[\d.,%$€£¥+\-−–/: ]*")
_LEADERS = re.compile(r"(?:\s*[.…·]){4,}\s*")
"""Dots that lead from an entry of a table of contents to its page."""
_LETTERS = re.compile(r"[^\W\d_]")
_RULE = re.compile(r"[-=_*~ ]{3,}")
"""A line that is drawn with characters."""
NARROW = 0.85
"""Share of its column's width below which the lines of a block are not wrapped at its end."""


@dataclass(frozen=True, slots=True)
class Style:
    """The typography of a document: body size, heading sizes and running headers."""

    body: float
    levels: tuple[float, ...] = ()
    """Sizes of headings, from the largest."""
    running: Running = field(default_factory=Running)
    bold_headings: bool = True
    words: frozenset[str] = field(default_factory=frozenset)
    """The words within lines, in lower case, also those with a hyphen: in-network."""

    def level(self, size: float, bold: bool) -> int | None:
        """The heading level of text with this size and weight; None for body text."""
        for number, heading_size in enumerate(self.levels, start=1):
            if size >= heading_size * 0.97:
                return number
        return min(len(self.levels) + 1, 6) if bold and self.bold_headings and size >= 0.93 * self.body else None


def to_markdown(groups: Sequence[Sequence[Item]], style: Style) -> str:
    """Convert groups in reading order; a sentence continues over the end of a column."""
    blocks: list[str] = []
    for group in groups:
        edges = _edges(group)
        for block in _blocks(group, style, edges):
            if isinstance(block, Table):
                blocks.append(table(block.rows))
                continue
            text, level = _written(block, style, edges)
            if level is None and blocks and _goes_on(blocks[-1], text):
                blocks[-1] = join_lines(blocks[-1], text, style.words)
            elif blocks and _FIGURES.fullmatch(blocks[-1]) and _FIGURES.fullmatch(text):
                blocks[-1] = f"{blocks[-1]} {text}"  # the scale of a chart
            elif text:
                blocks.append(text)
    return "\n\n".join(blocks)


def _edges(group: Sequence[Item]) -> tuple[float, float]:
    """Where the lines of a column begin and end."""
    texts = [run for run in group if isinstance(run, Run)]
    return min((run.x0 for run in texts), default=0.0), max((run.x1 for run in texts), default=0.0)


def _written(lines: list[Run], style: Style, edges: tuple[float, float]) -> tuple[str, int | None]:
    """A block of lines as Markdown, and its level if it is a heading."""
    text = lines[0].text
    breaks = _breaks(lines, edges)
    for number, line in enumerate(lines[1:]):
        text = f"{text}\n{escaped(line.text)}" if number in breaks else join_lines(text, line.text, style.words)
    text = _LEADERS.sub(" … ", text.rstrip("\u00ad").replace("\u00ad", "")).rstrip(" ")
    level = _level(lines, text, style)
    if level is not None:
        return f"{'#' * level} {' '.join(text.split())}", level
    if BULLET.match(text):
        return f"- {BULLET.sub('', text, count=1)}", None
    return escaped(text), None


def _breaks(lines: Sequence[Run], edges: tuple[float, float]) -> set[int]:
    """The lines that end where their author ended them, as in an address or a receipt.

    A line is that short if the next word would have fitted on it. In running text this happens now and then.
    """
    right = max(line.x1 for line in lines)
    if right < edges[0] + NARROW * (edges[1] - edges[0]):
        right = edges[1]
    pairs = list(enumerate(pairwise(lines)))
    ends = [number for number, (line, following) in pairs if following.top > line.bottom - 0.5 * line.height]
    short = {number for number in ends if _is_short(lines[number], lines[number + 1], right)}
    return short if len(short) >= OFTEN * len(ends) else set()


def _is_short(line: Run, following: Run, right: float) -> bool:
    if line.text.endswith(("-", "\u00ad", "\u2010")):
        return False
    word = following.text.partition(" ")[0]
    width = (following.x1 - following.x0) * len(word) / max(len(following.text), 1)
    return line.x1 + 1.1 * width + 0.3 * line.size < right


def escaped(text: str) -> str:
    """Escape a line that begins like a heading, a list, a quote or a fence."""
    return _MARKUP.sub(lambda match: "\\" + match[0], text)


def _level(lines: Sequence[Run], text: str, style: Style) -> int | None:
    if len(text) > LONGEST_HEADING or len(lines) > 3 or not _LETTERS.search(text) or BULLET.match(text):
        return None
    bold = all(line.bold for line in lines)
    level = style.level(min(line.size for line in lines), bold)
    if level is not None and level > len(style.levels) and (len(lines) > 1 or text[-1] in ".,;"):
        return None
    return level


def _goes_on(before: str, text: str) -> bool:
    """Return True if an unfinished paragraph continues in the next column."""
    if not text or before.startswith(("#", "|")) or _END.search(before):
        return False
    return text[0].islower() and (before[-1] in "-\u00ad,\u2010" or before[-1].islower())


def _blocks(group: Sequence[Item], style: Style, edges: tuple[float, float]) -> Iterator[list[Run] | Table]:
    """Split the items of a column where a paragraph, a heading or a list item begins."""
    pending: list[Run] = []
    for item in group:
        if isinstance(item, Table):
            if pending:
                yield pending
            pending = []
            yield item
            continue
        if pending and _begins(pending, item, edges, style):
            yield pending
            pending = []
        pending.append(item)
    if pending:
        yield pending


def _begins(pending: Sequence[Run], line: Run, edges: tuple[float, float], style: Style) -> bool:
    """Return True if a line begins a new block."""
    last = pending[-1]
    gap = line.top - last.bottom
    beside = gap < -0.5 * min(line.height, last.height)
    if beside:
        return False
    if gap > 0.75 * max(line.height, last.height) or abs(line.size - last.size) > 0.12 * max(line.size, last.size):
        return True
    if style.level(line.size, line.bold) != style.level(last.size, last.bold):
        return True
    if BULLET.match(line.text) or _NUMBER.match(line.text):
        return True
    if _RULE.fullmatch(line.text) or _RULE.fullmatch(last.text):
        return True
    left, right = edges
    short = last.x1 < right - 0.2 * (right - left)
    indented = line.x0 > min(run.x0 for run in pending) + 0.8 * line.size and line.x0 < left + 0.2 * (right - left)
    ended = bool(_END.search(last.text))
    return (short and ended) or (indented and ended and not BULLET.match(pending[0].text)) or _wider(pending, line)


def _wider(pending: Sequence[Run], line: Run) -> bool:
    """Return True if the gap above a line is larger than those between the lines before it."""
    if len(pending) < 2:
        return False
    usual = pending[1].top - pending[0].bottom
    return line.top - pending[-1].bottom > usual + 0.35 * line.height


def table(rows: Sequence[Sequence[str]]) -> str:
    """Format a Markdown table; the first row is its head."""
    width = max(len(row) for row in rows)
    cells = [[_cell(row[i]) if i < len(row) else "" for i in range(width)] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def _cell(text: str) -> str:
    text = _LEADERS.sub(" … ", text.replace("\u00ad", ""))
    return re.sub(r"\s+", " ", text).strip(" …").replace("|", "\\|")
