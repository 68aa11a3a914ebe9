from __future__ import annotations

import click

from weftwork.cli.audit import audit
from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config
from weftwork.erase import about_user
from weftwork.errors import InvalidInput, NotFound
from weftwork.faces.opening import open_configured
from weftwork.render.quote import inline


@click.group("users")
def command() -> None:
    """List, add and group the users of a workspace.

    \b
    weftwork users list
    weftwork users add ben --group design --group ops
    weftwork users remove ben
    weftwork users about ben > ben.json
    """


@command.command("about")
@click.argument("name")
@settings
def about_command(name: str, config: Config) -> None:
    """Print all that is stored of a user, as JSON: what they own, and what they did.

    To remove all of it, see  weftwork erase.

    \b
    weftwork users about ben > ben.json
    """
    with open_configured(config) as weft:
        print_json(about_user(weft, name, workspace=config.workspace))


@command.command("list")
@as_json
@settings
def list_users(as_json: bool, config: Config) -> None:
    """List users with their groups.

    \b
    weftwork users list --workspace research
    """
    with open_configured(config) as weft:
        users = weft.store.users(config.workspace)
    if as_json:
        print_json({name: list(groups) for name, groups in users.items()})
        return
    for name, groups in users.items():
        click.echo(f"{inline(name)}  {' '.join(map(inline, groups))}".rstrip())


@command.command("add")
@click.argument("name")
@click.option("--group", "groups", multiple=True, help="A group that they belong to.")
@settings
def add_user(name: str, groups: tuple[str, ...], config: Config) -> None:
    """Add a user, or set the groups of one.

    \b
    weftwork users add ben --group design --group ops
    """
    with open_configured(config) as weft:
        weft.add_user(name, groups=groups, workspace=config.workspace)
        audit(weft, "add_user", config.workspace, user=name, groups=list(groups))
    click.echo(f"{name} belongs to {config.workspace!r}" + (f", groups {', '.join(groups)}" if groups else ""))


@command.command("remove")
@click.argument("name")
@settings
def remove_user(name: str, config: Config) -> None:
    """Remove a user and their groups: from now on they see nothing. What they wrote stays.

    To remove that, too, see  weftwork erase.

    \b
    weftwork users remove ben
    """
    if name == config.user:
        raise InvalidInput(f"{name!r} cannot remove themselves: name another user with --user")
    with open_configured(config) as weft:
        with weft.atomic(config.workspace) as batch:
            if not batch.remove_user(name):
                known = ", ".join(sorted(weft.store.users(config.workspace)))
                raise NotFound(f"{config.workspace!r} has no user {name!r}: it has {known}")
        audit(weft, "remove_user", config.workspace, user=name)
    click.echo(f"{name} no longer belongs to {config.workspace!r}")
