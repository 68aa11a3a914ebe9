from __future__ import annotations

from datetime import datetime

import click

from weftwork.cli.options import as_json, one_line, print_json, settings
from weftwork.config import Config
from weftwork.faces.opening import open_configured
from weftwork.render.values import iso
from weftwork.types import Node, NodeInfo


@click.command("threads")
@click.argument("thread", required=False)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many.")
@as_json
@settings
def command(thread: str | None, limit: int, as_json: bool, config: Config) -> None:
    """List threads, the latest first; with the id of one, its last messages.

    \b
    weftwork threads
    weftwork threads thread-3k9x0a1b2c --limit 10
    weftwork context "And then?" --thread thread-3k9x0a1b2c
    """
    user, workspace = config.user, config.workspace
    with open_configured(config) as weft:
        nodes: list[NodeInfo]
        if thread is None:
            nodes = list(weft.threads.list(limit, user=user, workspace=workspace))
        else:
            nodes = list(weft.threads.messages(thread, limit, user=user, workspace=workspace))
    if as_json:
        print_json([_as_dict(node) for node in nodes])
        return
    if not nodes:
        click.echo("no threads" if thread is None else "no messages", err=True)
    for node in nodes:
        day = "" if (at := _moment(node)) is None else f"{at:%Y-%m-%d}  "
        if isinstance(node, Node):
            click.echo(f"{day}{node.fields.get('role', 'user')}: {one_line(node.text, 500)}")
        else:
            click.echo(f"{one_line(node.id, 100)}  {day}{one_line(node.title, 100)}")


def _moment(node: NodeInfo) -> datetime | None:
    return node.updated_at or node.created_at


def _as_dict(node: NodeInfo) -> dict[str, object]:
    """A thread, or a message of one with its role and text."""
    values = {"id": node.id, "title": node.title, "at": None if (at := _moment(node)) is None else iso(at)}
    if not isinstance(node, Node):
        return {**values}
    return {**values, "role": node.fields.get("role", "user"), "text": node.text}
