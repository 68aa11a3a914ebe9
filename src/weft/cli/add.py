from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from weft.cli.options import as_json, open_weft, print_json, settings
from weft.config import Config
from weft.ingest import Report, load, open_source

SHOWN = 20
"""Skipped sources that are named on a terminal; --json names all."""


@click.command("add")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@as_json
@settings
def command(paths: tuple[Path, ...], as_json: bool, config: Config) -> None:
    """Add files, folders or JSON lines; adding again changes only what differs.

    \b
    weft add notes.md src/                text files, and all text files below a folder
    weft add export.jsonl                 nodes, edges and users, one JSON object a line
    """
    reports = []
    with open_weft(config) as weft:
        for path, source in [(path, open_source(path)) for path in paths]:
            bar: Any
            with click.progressbar(
                length=_size(path),
                label=f"{path}",
                file=sys.stderr,
                hidden=as_json or not sys.stderr.isatty(),
            ) as bar:
                reports.append(load(weft, source, workspace=config.workspace, progress=bar.update))
    _print(reports, as_json)


def _size(path: Path) -> int | None:
    """How many nodes to expect: entries of a folder, lines of a file."""
    if path.is_dir():
        return sum(1 for each in path.rglob("*") if not any(part.startswith(".") for part in each.parts))
    if path.suffix in (".jsonl", ".ndjson") and path.is_file():
        with path.open("rb") as lines:
            return sum(1 for _ in lines)
    return 1


def _print(reports: list[Report], as_json: bool) -> None:
    skipped = [each for report in reports for each in report.skipped]
    totals = {
        "read": sum(report.read for report in reports),
        "changed": sum(report.changed for report in reports),
        "edges": sum(report.edges for report in reports),
        "users": sum(report.users for report in reports),
    }
    if as_json:
        print_json(totals | {"skipped": [{"what": each.what, "why": each.why} for each in skipped]})
        return
    click.echo(
        f"read {totals['read']} nodes: {totals['changed']} new or changed, {totals['edges']} edges, "
        f"{len(skipped)} skipped"
    )
    for each in skipped[:SHOWN]:
        click.echo(f"  skipped {each.what}: {each.why}", err=True)
    if len(skipped) > SHOWN:
        click.echo(f"  … and {len(skipped) - SHOWN} more: use --json to see all", err=True)
