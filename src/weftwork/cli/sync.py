from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.cli.progress import line_of, print_notices
from weftwork.config import Config
from weftwork.faces.opening import open_configured
from weftwork.ingest.sync import sync


@click.command("sync")
@click.argument("folder", type=click.Path(path_type=Path))
@as_json
@settings
def command(folder: Path, as_json: bool, config: Config) -> None:
    """Make the store agree with a folder; the same as weftwork add for it.

    \b
    weftwork sync notes/                      after edits on disk, as often as you like
    """
    with open_configured(config) as weft:
        report = sync(weft, folder, workspace=config.workspace, user=config.user, mentions=config.mentions)
    if as_json:
        print_json(asdict(report))
        return
    click.echo(line_of(report))
    print_notices(report)
