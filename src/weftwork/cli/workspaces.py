from __future__ import annotations

import click

from weftwork.cli.audit import audit
from weftwork.cli.options import as_json, confirm_removal, one_line, print_json, settings, without_asking
from weftwork.config import Config
from weftwork.errors import NotFound
from weftwork.faces.opening import open_configured


@click.group("workspaces", invoke_without_command=True)
@as_json
@settings
@click.pass_context
def command(ctx: click.Context, as_json: bool, config: Config) -> None:
    """List the workspaces of a store; create and remove them.

    \b
    weftwork workspaces
    weftwork workspaces create research
    weftwork workspaces remove research
    """
    if ctx.invoked_subcommand is not None:
        return
    with open_configured(config) as weft:
        users = {name: sorted(weft.store.users(name)) for name in weft.store.workspaces()}
    if as_json:
        print_json([{"name": name, "users": known} for name, known in users.items()])
        return
    for name, known in users.items():
        click.echo(f"{one_line(name, 100)}  {len(known)} user{'' if len(known) == 1 else 's'}")


@command.command("create")
@click.argument("name")
@click.option("--access", multiple=True, metavar="WHO", help="Who sees what has no list of its own.  [default: *]")
@settings
def create_command(name: str, access: tuple[str, ...], config: Config) -> None:
    """Create a workspace; --user is its first user.

    \b
    weftwork workspaces create research --user ana
    weftwork workspaces create diary --access me
    """
    with open_configured(config) as weft:
        weft.create_workspace(name, owner=config.user, access=access or ("*",))
        audit(weft, "create_workspace", name, owner=config.user, access=list(access or ("*",)))
    click.echo(f"created {name!r} with the user {config.user!r}: weftwork add FOLDER --workspace {name}")


@command.command("remove")
@click.argument("name")
@without_asking
@settings
def remove_command(name: str, yes: bool, config: Config) -> None:
    """Remove a workspace with everything in it: nodes, memories, indexes and users.

    \b
    weftwork workspaces remove research
    """
    with open_configured(config) as weft:
        if name not in weft.store.workspaces():
            raise NotFound(f"workspace {name!r} does not exist: see  weftwork workspaces")
        confirm_removal([f"workspace {name!r} with {len(weft.store.users(name))} users"], yes)
        weft.store.drop_workspace(name)
        audit(weft, "drop_workspace", name)
    click.echo(f"removed {name!r}")
