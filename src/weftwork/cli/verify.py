from __future__ import annotations

import sys
from pathlib import Path

import click

from weftwork.cli.options import as_json, print_json
from weftwork.render.quote import inline
from weftwork.store.sqlite.backup import verify


@click.command("verify")
@click.argument("backup", type=click.Path(path_type=Path))
@as_json
def command(backup: Path, as_json: bool) -> None:
    """Check that a backup is as it was made, and sound.

    \b
    weftwork verify backups/2026-03-16
    """
    problems = verify(backup)
    if as_json:
        print_json({"backup": str(backup), "problems": problems})
    else:
        for problem in problems:
            click.echo(inline(problem))
        click.echo(f"{backup} is damaged: use another backup" if problems else f"{backup} is whole")
    if problems:
        sys.exit(1)
