from __future__ import annotations

from pathlib import Path

import click

from weftwork.config import nearest_file
from weftwork.errors import NotFound
from weftwork.trust import trust


@click.command("trust")
@click.argument("file", required=False, type=click.Path(path_type=Path))
def command(file: Path | None) -> None:
    """Obey a weftwork.toml that names other machines, as long as it stays as it is.

    \b
    weftwork trust                      the file that holds in this folder
    weftwork trust ../weftwork.toml

    A file that came with a folder could have your notes and keys sent anywhere. So one that names the address of a
    model, a database or an index is not used before this command, or your answer at a terminal. Look into it first.
    """
    path = file or nearest_file(Path.cwd())
    if path is None or not path.is_file():
        raise NotFound(f"there is no {path or 'weftwork.toml'}: name the file to trust")
    trust(path)
    click.echo(f"{path} is trusted as it is now")
