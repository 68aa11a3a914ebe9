"""Colours for a terminal: click strips them in a pipe, and `NO_COLOR` everywhere."""

from __future__ import annotations

import re

import click

from weftwork.identity import CITATION

_FENCE = re.compile(r"`{3,}\Z|~{3,}\Z")
_HEADING = re.compile(r"#{1,6} ")
_CITATION = re.compile(rf"\[{CITATION.pattern}\]")


def shaded(text: str) -> str:
    """Make headings bold and citations dim; leave quoted text alone."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            fence = "" if line == fence else fence
            lines.append(line)
        elif _FENCE.match(line):
            fence = line
            lines.append(line)
        elif line.startswith("> "):
            lines.append(line)
        elif _HEADING.match(line):
            lines.append(click.style(line, bold=True))
        else:
            lines.append(_CITATION.sub(lambda match: click.style(match[0], dim=True), line))
    return "\n".join(lines)
