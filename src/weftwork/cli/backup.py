from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.clock import system_clock
from weftwork.config import Config
from weftwork.errors import InvalidInput
from weftwork.render.quote import inline
from weftwork.store.open import is_address
from weftwork.store.sqlite.backup import back_up


@click.command("backup")
@click.argument("target", type=click.Path(path_type=Path))
@as_json
@settings
def command(target: Path, as_json: bool, config: Config) -> None:
    """Copy a store that is in use into a new folder, with files and keys, and verify the copy.

    \b
    weftwork backup backups/2026-03-16
    weftwork backup /mnt/disk/notes-monday --store notes.weft

    The folder is written under another name first: if it is there, it is whole. It can be opened as a store, put back
    with  weftwork restore, and checked again with  weftwork verify.
    """
    if is_address(config.store):
        raise InvalidInput(
            "back a database up with pg_dump or pg_basebackup, or copy it to a file with  weftwork migrate"
        )
    made = back_up(Path(config.store), target, system_clock())
    if as_json:
        print_json({"backup": str(target), **asdict(made)})
        return
    for workspace, counts in made.counts.items():
        click.echo(f"{inline(workspace)}: {', '.join(f'{count:,} {kind}' for kind, count in counts.items())}")
    click.echo(f"{target} is whole, with {len(made.files):,} files")
