from __future__ import annotations

import sys

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config
from weftwork.erase import finish_erasure
from weftwork.faces.opening import open_configured
from weftwork.render.quote import inline
from weftwork.store.open import shown
from weftwork.store.sqlite import SqliteStore


@click.command("doctor")
@click.option("--accept", is_flag=True, help="Go on without writes that the store lost, once you know of them.")
@as_json
@settings
def command(accept: bool, as_json: bool, config: Config) -> None:
    """Check the store, and bring its indexes up to date; a damaged index is made again.

    A store that lost its latest writes, with its -wal file or because an older copy was put in its place, is told by
    its indexes. An erasure that was interrupted is finished.

    \b
    weftwork doctor
    weftwork doctor --store team.weft --json
    """
    with open_configured(config) as weft:
        if accept and isinstance(weft.store, SqliteStore):
            weft.store.accept_loss()
        problems = weft.store.check()
        for workspace in weft.store.workspaces():
            if not problems and finish_erasure(weft.store, workspace):
                click.echo(f"finished an erasure in {inline(workspace)}", err=True)
            weft.catch_up(workspace)
        embedder = weft.tools.embedder
        facts = {
            "store": shown(config.store),
            "workspaces": weft.store.workspaces(),
            "tokenizer": weft.tools.counter.name,
            "embedder": embedder.model if embedder else None,
            "problems": problems,
        }
        changes = [f"{name}: {progress}" for name in weft.store.workspaces() if (progress := weft.changeover(name))]
    if as_json:
        print_json({**facts, "changeover": changes} if changes else facts)
    else:
        for name, value in facts.items():
            click.echo(
                f"{name:>12}  {inline((', '.join(value) or 'none') if isinstance(value, list) else str(value), 10_000)}"
            )
        for change in changes:
            click.echo(f"{'changeover':>12}  {inline(change, 10_000)}")
        click.echo("all is well" if not problems else "restore the store from a backup, or add your sources anew")
    if problems:
        sys.exit(1)
