from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from threading import Event

import click

from weftwork.cli.options import echo_json, settings
from weftwork.cli.progress import (
    as_connector,
    connector_for,
    line_of,
    mentions_of,
    print_notices,
    with_mentions,
)
from weftwork.config import Config
from weftwork.errors import NotFound, WeftError
from weftwork.faces.opening import open_configured
from weftwork.ingest.follow import follow
from weftwork.ingest.report import Followed, Options
from weftwork.ingest.watch import changes


@click.command("watch")
@click.argument("path", type=click.Path(path_type=Path))
@as_connector
@click.option("--poll", is_flag=True, help="Look at the files again and again: for network drives.")
@with_mentions
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each change.")
@settings
def command(path: Path, forced: str | None, poll: bool, mentions: bool | None, as_json: bool, config: Config) -> None:
    """Add a path, and then each change of it within a second, until Ctrl-C.

    \b
    weftwork watch ~/vault                    what changed before is added first

    The system tells of changes where pip install 'weftwork[watch]' was run; otherwise the files are looked at again
    and again.
    """
    if not path.exists():
        raise NotFound(f"{path} does not exist: give a file or a folder")
    connector = connector_for(path, forced)
    options = Options(workspace=config.workspace, user=config.user, mentions=mentions_of(config, mentions))
    with open_configured(config) as weft:
        first = True
        try:
            for _ in changes(path, [Path(config.store)], stop=Event(), polling=poll):
                try:
                    report = follow(weft, path, connector, options)
                except WeftError as error:  # the folder may be back soon
                    click.echo(f"error: {error}", err=True)
                    continue
                if first or report.added or report.changed or report.moved or report.removed:
                    _print(report, as_json, first)
                first = False
        except KeyboardInterrupt:
            click.echo("stopped", err=True)


def _print(report: Followed, as_json: bool, first: bool) -> None:
    if as_json:
        echo_json(json.dumps(asdict(report), ensure_ascii=False, sort_keys=True))
    else:
        click.echo(line_of(report))
        print_notices(report, unresolved=first)
    sys.stdout.flush()
