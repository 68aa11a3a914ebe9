"""Lines in reading order to paragraphs, headings, lists and tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from weftwork.ingest.documents.layout.boxes import Item, Run, Table

LONGEST_HEADING = 160
BULLET = re.compile(r"^[•‣◦▪■●○∙·➢✓❖]\s*|^[–—*]\s+|^-\s+")
_NUMBER = re.compile(r"^(?:\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
_END = re.compile(r"[.!?:;。！？：；][\"'”’)\]]*$")
_MARKUP = re.compile(r"^(#{1,6}(?=\s)|>|[-+](?=\s)|={3,}$|-{3,}$|`{3,}|~{3,})")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_COMPOUND = re.compile(r"\b[^\W\d_]+(?:-[^\W\d_]+)+\b")
_LAST_WORD, _FIRST_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*$"), re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LETTERS = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Style:
    """The typography of a document: body size, heading sizes and running headers."""

    body: float
    levels: tuple[float, ...] = ()
    """Sizes of headings, from the largest."""
    running: frozenset[str] = field(default_factory=frozenset)
    """Headers and footers as they look without their figures."""
    bold_headings: bool = True
    compounds: frozenset[str] = field(default_factory=frozenset)
    """Words with a hyphen, in lower case, as they stand within lines: in-network."""

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
        for block in _blocks(group, style):
            if isinstance(block, Table):
                blocks.append(table(block.rows))
                continue
            text, level = _written(block, style)
            if level is None and blocks and _goes_on(blocks[-1], text):
                blocks[-1] = _join(blocks[-1], text, style.compounds)
            elif text:
                blocks.append(text)
    return "\n\n".join(blocks)


def _written(lines: list[Run], style: Style) -> tuple[str, int | None]:
    """A block of lines as Markdown, and its level if it is a heading."""
    text = ""
    for line in lines:
        text = _join(text, line.text, style.compounds) if text else line.text
    text = text.rstrip("\u00ad").replace("\u00ad", "")
    level = _level(lines, text, style)
    if level is not None:
        return f"{'#' * level} {text}", level
    if BULLET.match(text):
        return f"- {BULLET.sub('', text, count=1)}", None
    return escaped(text), None


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


def compounds_of(runs: Iterable[Run]) -> frozenset[str]:
    """The words with a hyphen inside a line, where it is no hyphenation."""
    return frozenset(match[0].lower() for run in runs for match in _COMPOUND.finditer(run.text))


def _join(before: str, text: str, compounds: frozenset[str] = frozenset()) -> str:
    """Join two lines: hyphenated words, and scripts without spaces, get no space.

    A hyphen at the end of a line stays where the document writes the word with one elsewhere.
    """
    if before.endswith(("\u00ad", "-", "\u2010")) and text[:1].islower():
        first, second = _LAST_WORD.search(before[:-1]), _FIRST_WORD.match(text)
        if first and second and f"{first[0]}-{second[0]}".lower() in compounds:
            return f"{before[:-1]}-{text}"
    if before.endswith("\u00ad"):
        return before[:-1] + ("" if text[:1].islower() else "-") + text
    if before.endswith(("-", "\u2010")) and before[-2:-1].isalpha() and text[:1].islower():
        return before[:-1] + text
    if _CJK.match(before[-1:]) and _CJK.match(text[:1]):
        return before + text
    return f"{before} {text}"


def _blocks(group: Sequence[Item], style: Style) -> Iterator[list[Run] | Table]:
    """Split the items of a column where a paragraph, a heading or a list item begins."""
    texts = [run for run in group if isinstance(run, Run)]
    left = min((run.x0 for run in texts), default=0.0)
    right = max((run.x1 for run in texts), default=0.0)
    pending: list[Run] = []
    for item in group:
        if isinstance(item, Table):
            if pending:
                yield pending
            pending = []
            yield item
            continue
        if pending and _begins(pending, item, (left, right), style):
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
    return re.sub(r"\s+", " ", text.replace("\u00ad", "")).strip().replace("|", "\\|")
