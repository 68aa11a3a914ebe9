"""What the commands that follow a path have in common: their options, and how they report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from weftwork.config import Config
from weftwork.ingest.connectors.protocol import Connector
from weftwork.ingest.connectors.registry import get_connector, recognise
from weftwork.ingest.report import Followed

SHOWN = 20
"""Skipped sources that are named on a terminal; --json names all."""
COUNTED = ("added", "changed", "moved", "removed", "unchanged")

as_connector = click.option(
    "--as", "forced", metavar="NAME", help="Which connector reads it; see  weftwork connectors."
)
with_mentions = click.option(
    "--mentions/--no-mentions", default=None, help="Whether titles in other texts become edges.  [default: mentions]"
)


def connector_for(path: Path, forced: str | None) -> Connector:
    """The connector that was asked for, or the one that recognises the path."""
    return get_connector(forced) if forced else recognise(path)


def mentions_of(config: Config, chosen: bool | None) -> bool:
    """Whether mentions are wanted: as the command says, or as the settings do."""
    return config.mentions if chosen is None else chosen


def as_values(report: Followed) -> dict[str, Any]:
    """A report as JSON."""
    return asdict(report)


def line_of(report: Followed, *, dry_run: bool = False) -> str:
    """A report in one line; what is mentioned where is known only when all texts are stored."""
    counts = ", ".join(f"{getattr(report, name)} {name}" for name in COUNTED)
    links = f"; {report.links} links, {len(report.unresolved)} unresolved"
    links += "" if dry_run else f", {report.mentions} mentions"
    found = report.links or report.unresolved or report.mentions
    return f"{counts}, {len(report.skipped)} skipped{links if found else ''}"


def tell(report: Followed, *, unresolved: bool = True) -> None:
    """Name on standard error what was skipped, what is to be known, and which links point nowhere."""
    name([f"skipped {plain_line(each.what)}: {plain_line(each.why)}" for each in report.skipped])
    name([f"note on {plain_line(each.what)}: {plain_line(each.why)}" for each in report.notes])
    if unresolved:
        name(
            [
                f"{plain_line(each.what)} links to {plain_line(each.target)}, which is not there"
                for each in report.unresolved
            ]
        )


def name(lines: Sequence[str]) -> None:
    """Print lines to standard error, some of them if there are many."""
    for line in lines[:SHOWN]:
        click.echo(f"  {line}", err=True)
    if len(lines) > SHOWN:
        click.echo(f"  … and {len(lines) - SHOWN} more: use --json to see all", err=True)


def plain_line(text: str) -> str:
    """A text that cannot begin another line, nor move a terminal's cursor, whatever a file is called."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
