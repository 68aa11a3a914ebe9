from __future__ import annotations

import click

from weftwork.cli.options import as_json, print_json
from weftwork.cli.progress import plain_line
from weftwork.ingest.connectors.registry import Registered, connectors


@click.command("connectors")
@as_json
def command(as_json: bool) -> None:
    """List what can be added, and which package reads it.

    \b
    weftwork connectors
    weftwork add --as obsidian ~/vault        use one by its name
    """
    all_registered = list(connectors().values())
    if as_json:
        print_json(
            [
                {"name": registered.name, "summary": _summary(registered), "origin": registered.origin}
                for registered in all_registered
            ]
        )
        return
    width = max(len(registered.name) for registered in all_registered)
    for registered in all_registered:
        name, summary, origin = map(plain_line, (registered.name, _summary(registered), registered.origin))
        click.echo(f"{name.ljust(width)}  {summary}  ({origin})")


def _summary(registered: Registered) -> str:
    return registered.connector.summary if registered.connector else f"cannot be used: {registered.problem}"
