from __future__ import annotations

import click

from weftwork.cli.memories import line
from weftwork.cli.options import piped_lines, settings
from weftwork.config import Config
from weftwork.errors import InvalidInput
from weftwork.faces.memory import Memories
from weftwork.faces.opening import open_configured


@click.command("forget")
@click.argument("ids", nargs=-1, required=True, callback=piped_lines)
@click.option("--yes", is_flag=True, help="Do not ask first.")
@settings
def command(*, ids: tuple[str, ...], yes: bool, config: Config) -> None:
    """Remove memories with their earlier versions for good, all of them or none.

    To correct one, supersede it instead.

    \b
    weftwork forget mem-3k9x0a1b2c
    weftwork remember "We ship on 10 May" --supersedes mem-3k9x0a1b2c
    """
    with open_configured(config) as weft:
        memories = Memories(weft)
        for memory in memories.own(*ids, user=config.user, workspace=config.workspace):
            click.echo(line(memory), err=True)
        if not yes and not _confirmed():
            click.echo("nothing was removed", err=True)
            return
        count = memories.forget(*ids, user=config.user, workspace=config.workspace)
    click.echo(f"removed {count}")


def _confirmed() -> bool:
    try:
        return click.confirm("Remove for good?", err=True)
    except click.Abort:
        raise InvalidInput("nothing was removed without an answer: use --yes in a script") from None
