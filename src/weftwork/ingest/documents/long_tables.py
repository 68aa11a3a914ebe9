"""Long tables of documents, in pieces that each have the header row: a row without it says nothing."""

from __future__ import annotations

import re

PIECE = 950
"""Characters from which on a piece is long enough to be a passage of its own."""
WIDEST_HEADER = 400
_DIVIDER = re.compile(r"\|(?: *:?-{3,}:? *\|)+")


def with_repeated_headers(markdown: str) -> str:
    """The text with its long tables cut between rows, and the header row above each piece."""
    lines = markdown.split("\n")
    out: list[str] = []
    header: list[str] = []
    length = 0
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            header, length = [], 0
        elif number and _DIVIDER.fullmatch(line) and lines[number - 1].startswith("|"):
            header, length = [lines[number - 1], line], len(lines[number - 1]) + len(line)
        elif header and length >= PIECE and sum(map(len, header)) <= WIDEST_HEADER:
            out += ["", *header]
            length = sum(map(len, header))
        length += len(line) + 1
        out.append(line)
    return "\n".join(out)
