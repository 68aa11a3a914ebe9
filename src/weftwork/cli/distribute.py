from __future__ import annotations

import click

from weftwork.cli.options import settings
from weftwork.config import Config
from weftwork.errors import InvalidInput, MissingExtra
from weftwork.store.open import is_address, shown


@click.command("distribute")
@click.option("--shards", type=click.IntRange(1, 10_000), default=32, show_default=True, help="Shards of each table.")
@click.option("--dry-run", is_flag=True, help="Print the SQL and change nothing.")
@settings
def command(shards: int, dry_run: bool, config: Config) -> None:
    """Distribute a PostgreSQL store over the workers of a Citus cluster.

    Run it on the coordinator, as a superuser, once the workers were added. Workspaces that are there already are moved
    to the workers. All rows of a workspace are on one worker, so that a request asks one of them.

    \b
    weftwork distribute --store postgresql://coordinator.example/notes --dry-run
    weftwork distribute --store postgresql://coordinator.example/notes --shards 128
    """
    if not is_address(config.store):
        raise InvalidInput(f"{config.store} is a file: name a database with  --store postgresql://…")
    try:
        from weftwork.store.postgres.address import parse  # noqa: PLC0415  (an extra)
        from weftwork.store.postgres.citus import distribute  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("psycopg, which PostgreSQL is reached with,", "postgres") from error

    def say(statement: str) -> None:
        if dry_run:
            click.echo(statement)

    if not distribute(parse(config.store), shards=shards, dry_run=dry_run, say=say):
        click.echo(f"{shown(config.store)} is distributed already")
    elif not dry_run:
        click.echo(f"{shown(config.store)} is distributed over its workers, in {shards} shards")
