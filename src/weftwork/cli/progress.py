"""Options and reports of the commands that import a path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from weftwork.config import Config
from weftwork.ingest.connectors.protocol import Connector
from weftwork.ingest.connectors.registry import get_connector, recognise
from weftwork.ingest.events import Note, Skipped
from weftwork.ingest.report import Followed

SHOWN = 20
"""Lines about skipped sources on a terminal; --json names all."""
EXAMPLES = 3
"""Links to what is not there, and sources skipped for one reason, that are named."""
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
    """Print skipped sources, notes and unresolved links to standard error, a few of those that are alike."""
    print_some(_examples("skipped", report.skipped))
    print_some(_examples("note on", report.notes))
    if unresolved:
        for link in report.unresolved[:EXAMPLES]:
            click.echo(f"  {plain_line(link.what)} links to {plain_line(link.target)}, which is not there", err=True)
        if len(report.unresolved) > EXAMPLES:
            more = len(report.unresolved) - EXAMPLES
            click.echo(f"  … and {more:,} more links to what is not there: use --json to see all", err=True)


def _examples(begin: str, notices: Sequence[Skipped | Note]) -> list[str]:
    """A line for each notice, and one for the rest of those that say the same."""
    alike: dict[str, list[str]] = {}
    for notice in notices:
        alike.setdefault(plain_line(notice.why), []).append(plain_line(notice.what))
    lines: list[str] = []
    for why, sources in alike.items():
        lines += [f"{begin} {what}: {why}" for what in sources[:EXAMPLES]]
        if len(sources) > EXAMPLES:
            lines.append(f"{begin} {len(sources) - EXAMPLES:,} more: {why}")
    return lines


def print_some(lines: Sequence[str]) -> None:
    """Print lines to standard error, at most `SHOWN`."""
    for line in lines[:SHOWN]:
        click.echo(f"  {line}", err=True)
    if len(lines) > SHOWN:
        click.echo(f"  … and {len(lines) - SHOWN:,} more: use --json to see all", err=True)


def plain_line(text: str) -> str:
    """Escape line breaks and control characters, which a file name may hold."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
