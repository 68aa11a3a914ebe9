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
    found = list(connectors().values())
    if as_json:
        print_json([{"name": each.name, "summary": _summary(each), "origin": each.origin} for each in found])
        return
    width = max(len(each.name) for each in found)
    for each in found:
        click.echo(f"{plain_line(each.name).ljust(width)}  {plain_line(_summary(each))}  ({plain_line(each.origin)})")


def _summary(found: Registered) -> str:
    return found.connector.summary if found.connector else f"cannot be used: {found.problem}"
