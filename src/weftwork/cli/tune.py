from __future__ import annotations

import re
import sys

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config
from weftwork.errors import InvalidInput, MissingExtra
from weftwork.store.open import is_address

MEMORY = re.compile(r"[1-9]\d*(kB|MB|GB)")


@click.command("tune")
@click.option("--memory", default="512MB", show_default=True, metavar="SIZE", help="What the server may use, as 2GB.")
@as_json
@settings
def command(memory: str, as_json: bool, config: Config) -> None:
    """Make large workspaces in PostgreSQL fast to search by meaning.

    Builds an index of nearest vectors (HNSW) for each workspace that has more than 20,000 of them. Reads and writes go
    on meanwhile; run it again if it was stopped, or when a workspace has grown.
    Later writes take longer, and about one in a hundred of the nearest passages is missed.

    \b
    weftwork tune --store postgresql://db.example/notes
    weftwork tune --store postgresql://db.example/notes --memory 4GB
    """
    if not is_address(config.store):
        raise InvalidInput("a file needs no tuning: name a database with  --store postgresql://…")
    if not MEMORY.fullmatch(memory):
        raise InvalidInput(f"--memory is a number with kB, MB or GB, such as 2GB: got {memory!r}")
    try:
        from weftwork.store.postgres.hnsw import FEW, tune  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise MissingExtra("psycopg, which PostgreSQL is reached with,", "postgres") from error

    workspaces = []
    for index in tune(config.store, memory=memory, progress=_print_progress):
        workspaces.append(index.as_dict())
        if not as_json:
            done = f"made in {index.seconds:.0f} s" if index.made else "was there"
            click.echo(f"{index.workspace}: {index.vectors:,} vectors of {index.dimensions} numbers, {done}")
    if as_json:
        print_json(workspaces)
    elif not workspaces:
        click.echo(f"nothing to do: every workspace has at most {FEW:,} vectors")


def _print_progress(what: str, share: float) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{what}: {share:4.0%}\r", nl=False, err=True)
