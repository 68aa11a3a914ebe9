from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from weft.cli.options import as_json, open_weft, print_json, settings
from weft.config import Config
from weft.ingest.sync import sync


@click.command("sync")
@click.argument("folder", type=click.Path(path_type=Path))
@as_json
@settings
def command(folder: Path, as_json: bool, config: Config) -> None:
    """Make the store agree with a folder: changed, renamed and deleted files.

    \b
    weft sync notes/                      after edits on disk, as often as you like
    """
    with open_weft(config) as weft:
        report = sync(weft, folder, workspace=config.workspace, user=config.user)
    if as_json:
        print_json(asdict(report))
        return
    click.echo(
        f"{report.added} added, {report.changed} changed, {report.moved} moved, {report.removed} removed, "
        f"{report.unchanged} unchanged, {len(report.skipped)} skipped"
    )
    for each in report.skipped:
        click.echo(f"  skipped {each.what}: {each.why}", err=True)
