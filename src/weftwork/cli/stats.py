from __future__ import annotations

from dataclasses import asdict

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config
from weftwork.faces.opening import open_configured
from weftwork.render.quote import inline


@click.command("stats")
@as_json
@settings
def command(as_json: bool, config: Config) -> None:
    """Count the nodes, passages, edges and tags that a user may see, and say how far a change of model is.

    \b
    weftwork stats
    weftwork stats --user ben --json
    """
    with open_configured(config) as weft:
        counts = weft.stats(user=config.user, workspace=config.workspace)
        progress = weft.changeover(config.workspace)
    if as_json:
        print_json(counts if progress is None else {**counts, "changeover": asdict(progress)})
        return
    for name, number in counts.items():
        click.echo(f"{number:>10,}  {inline(name)}")
    if progress is not None:
        click.echo(str(progress))
