from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from weftwork.cli.options import as_json, print_json
from weftwork.store.sqlite.backup import restore


@click.command("restore")
@click.argument("backup", type=click.Path(path_type=Path))
@click.argument("store", type=click.Path(path_type=Path))
@as_json
def command(backup: Path, store: Path, as_json: bool) -> None:
    """Put a backup where a store is to be, after verifying it; an existing store is never overwritten.

    \b
    weftwork restore backups/2026-03-16 notes.weft
    """
    made = restore(backup, store)
    if as_json:
        print_json({"store": str(store), **asdict(made)})
        return
    click.echo(f"{store} is as it was at {made.made_at}")
