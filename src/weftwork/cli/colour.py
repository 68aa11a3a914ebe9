"""Colours for a terminal: click leaves them out of a pipe, and `NO_COLOR` out of everything."""

from __future__ import annotations

import re

import click

from weftwork.identity import CITATION

_FENCE = re.compile(r"`{3,}\Z|~{3,}\Z")
_HEADING = re.compile(r"#{1,6} ")
_CITATION = re.compile(rf"\[{CITATION.pattern}\]")


def shaded(text: str) -> str:
    """The text with its headings bold and its citations dim; what is quoted stays as it is."""
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
            lines.append(_CITATION.sub(lambda found: click.style(found[0], dim=True), line))
    return "\n".join(lines)
