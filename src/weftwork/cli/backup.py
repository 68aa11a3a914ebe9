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
from weftwork.store.sqlite.backup import back_up, back_up_into


@click.command("backup")
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--keep", type=click.IntRange(1), metavar="N", help="Add to the backups in TARGET, and keep the latest N."
)
@as_json
@settings
def command(target: Path, keep: int | None, as_json: bool, config: Config) -> None:
    """Copy a store that is in use into a new folder, with files and keys, and verify the copy.

    \b
    weftwork backup backups/2026-03-16
    weftwork backup /mnt/disk/notes-monday --store notes.weft
    weftwork backup backups --keep 14

    The folder is written under another name first: if it is there, it is whole. It can be opened as a store, put back
    with  weftwork restore, and checked again with  weftwork verify.

    With --keep, for a timer, its name is the time, files that the one before has are linked to it and not copied, and
    older ones are removed.
    """
    if is_address(config.store):
        raise InvalidInput(
            "back a database up with pg_dump or pg_basebackup, or copy it to a file with  weftwork migrate"
        )
    over: list[Path] = []
    if keep is None:
        made = back_up(Path(config.store), target, system_clock())
    else:
        target, made, over = back_up_into(target, Path(config.store), system_clock(), keep=keep)
    if as_json:
        print_json({"backup": str(target), "removed": [str(path) for path in over], **asdict(made)})
        return
    for workspace, counts in made.counts.items():
        click.echo(f"{inline(workspace)}: {', '.join(f'{count:,} {kind}' for kind, count in counts.items())}")
    for path in over:
        click.echo(f"removed {path}")
    click.echo(f"{target} is whole, with {len(made.files):,} files")
