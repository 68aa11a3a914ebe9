from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config
from weftwork.errors import InvalidInput, MissingExtra
from weftwork.store.open import is_address

if TYPE_CHECKING:
    from weftwork.store.postgres.cluster import Cluster

nodes = click.option("--node", "nodes", multiple=True, metavar="NAME=ADDRESS", help="A server to add, or to find anew.")
without = click.option("--without", multiple=True, metavar="NAME", help="A server to take out of use.")


@click.group("cluster")
def command() -> None:
    """Spread a PostgreSQL store over several servers.

    \b
    weftwork cluster plan  --node one=postgresql://weftwork@db1/weftwork --node two=postgresql://weftwork@db2/weftwork
    weftwork cluster apply --node one=postgresql://weftwork@db1/weftwork --node two=postgresql://weftwork@db2/weftwork
    weftwork cluster move studio --to two
    """


@command.command("plan")
@nodes
@without
@as_json
@settings
def plan(nodes: tuple[str, ...], without: tuple[str, ...], as_json: bool, config: Config) -> None:
    """Show which parts of the tables would move where; nothing is changed.

    \b
    weftwork cluster plan --node three=postgresql://weftwork@db3/weftwork
    """
    with _cluster(config) as cluster:
        steps = cluster.plan(_addresses(nodes), without)
    if as_json:
        print_json([{"part": part, "from": where, "to": to} for part, (where, to) in steps.items()])
        return
    for part, (where, to) in steps.items():
        click.echo(f"part {part}: {where or 'the coordinator'} -> {to}")
    click.echo(f"{len(steps)} parts would move" if steps else "all parts are where they belong")


@command.command("apply")
@nodes
@without
@settings
def apply(nodes: tuple[str, ...], without: tuple[str, ...], config: Config) -> None:
    """Add servers, or take some out of use, and move parts until all have as many.

    Reads go on; what is moving cannot be written for as long as it takes to copy it. Run it again if it was stopped.

    \b
    weftwork cluster apply --node three=postgresql://weftwork@db3/weftwork
    """
    with _cluster(config) as cluster:
        cluster.apply(_addresses(nodes), without, click.echo)
    click.echo("all parts are where they belong")


@command.command("status")
@as_json
@settings
def status(as_json: bool, config: Config) -> None:
    """List the servers with their parts and workspaces; the exit code is 1 if one does not answer.

    \b
    weftwork cluster status
    """
    with _cluster(config) as cluster:
        servers = cluster.status()
    if as_json:
        print_json([server.as_dict() for server in servers])
    else:
        for server in servers:
            state = server.problem or f"{len(server.parts)} parts  {server.workspaces} workspaces"
            click.echo(f"{server.name or 'the coordinator'}  {state}")
    if any(server.problem for server in servers):
        raise click.exceptions.Exit(1)


@command.command("move")
@click.argument("workspace_name", metavar="WORKSPACE")
@click.option("--to", required=True, metavar="NAME", help="The server that it is moved to.")
@settings
def move(workspace_name: str, to: str, config: Config) -> None:
    """Move a workspace to another server without losing a write.

    Reads go on; writes wait until it is there. Run it again if it was stopped.

    \b
    weftwork cluster move studio --to two
    """
    with _cluster(config) as cluster:
        cluster.move(workspace_name, to, click.echo)


@contextmanager
def _cluster(config: Config) -> Iterator[Cluster]:
    if not is_address(config.store):
        raise InvalidInput(f"{config.store} is a file: a cluster is made of databases, use  --store postgresql://…")
    try:
        from weftwork.store.postgres.cluster import opened  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("psycopg, which PostgreSQL is reached with,", "postgres") from error
    with opened(config.store) as cluster:
        yield cluster


def _addresses(options: tuple[str, ...]) -> dict[str, str]:
    addresses = {}
    for text in options:
        name, separator, url = text.partition("=")
        if not separator:
            raise InvalidInput(f"--node {text} has no address: write it as  NAME=postgresql://user@host/database")
        addresses[name] = url
    return addresses
