"""Options and reports of the commands that import a path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
    """The connector named with --as, or the one that recognises the path."""
    return get_connector(forced) if forced else recognise(path)


def mentions_of(config: Config, chosen: bool | None) -> bool:
    """The --mentions flag, or the setting where it is absent."""
    return config.mentions if chosen is None else chosen


def line_of(report: Followed, *, dry_run: bool = False) -> str:
    """A report in one line; a dry run has no mentions, which need all texts to be stored."""
    counts = ", ".join(f"{getattr(report, name)} {name}" for name in COUNTED)
    links = f"; {report.links} links, {len(report.unresolved)} unresolved"
    links += "" if dry_run else f", {report.mentions} mentions"
    has_links = report.links or report.unresolved or report.mentions
    return f"{counts}, {len(report.skipped)} skipped{links if has_links else ''}"


def print_notices(report: Followed, *, unresolved: bool = True) -> None:
    """Print skipped sources, notes and unresolved links to standard error."""
    print_some([f"skipped {plain_line(notice.what)}: {plain_line(notice.why)}" for notice in report.skipped])
    print_some([f"note on {plain_line(notice.what)}: {plain_line(notice.why)}" for notice in report.notes])
    if unresolved:
        print_some(
            [
                f"{plain_line(link.what)} links to {plain_line(link.target)}, which is not there"
                for link in report.unresolved
            ]
        )


def print_some(lines: Sequence[str]) -> None:
    """Print lines to standard error, at most `SHOWN`."""
    for line in lines[:SHOWN]:
        click.echo(f"  {line}", err=True)
    if len(lines) > SHOWN:
        click.echo(f"  … and {len(lines) - SHOWN} more: use --json to see all", err=True)


def plain_line(text: str) -> str:
    """Escape line breaks and control characters, which a file name may hold."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
