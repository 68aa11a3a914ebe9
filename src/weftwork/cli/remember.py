from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from weftwork.cli.dates import MOMENT
from weftwork.cli.memories import as_dict, line
from weftwork.cli.options import as_json, piped, print_json, settings
from weftwork.config import Config
from weftwork.faces.memory import POLICIES, Details, Memories, Policy
from weftwork.faces.opening import open_configured


@click.command("remember")
@click.argument("text", nargs=-1, required=True, callback=piped)
@click.option("--type", "kind", help="What it is: fact, decision, preference, event, remark …  [default: fact]")
@click.option("--confidence", type=float, help="How sure you are, from 0 to 1.")
@click.option("--tag", "tags", multiple=True, help="A tag.")
@click.option("--conversation", help="The conversation that it comes from.")
@click.option("--valid-from", type=MOMENT, help="Since when it holds.  [default: now]")
@click.option("--valid-until", type=MOMENT, help="Until when it holds, that moment excluded.")
@click.option("--share", "access", multiple=True, help="Who else may see it: a user, group:NAME, or * for all.")
@click.option("--supersedes", help="Id of the memory whose place it takes.")
@click.option("--contradicts", multiple=True, help="Id of a memory that it contradicts.")
@click.option(
    "--on-conflict",
    type=click.Choice(POLICIES),
    default="keep_both",
    show_default=True,
    help="What to do if it probably repeats or contradicts a memory of yours.",
)
@click.option("--pinned", is_flag=True, default=None, help="Show it in every context.")
@as_json
@settings
def command(
    *,
    text: tuple[str, ...],
    valid_from: datetime | None,
    valid_until: datetime | None,
    supersedes: str | None,
    on_conflict: Policy,
    as_json: bool,
    config: Config,
    **arguments: Any,
) -> None:
    """Write a memory, which only you may see until you share it.

    \b
    weftwork remember "We ship on 3 May" --type decision --confidence 0.9
    weftwork remember "We ship on 10 May" --supersedes mem-3k9x0a1b2c
    weftwork remember "The lab is closed" --valid-until 2030-06-01 --share group:lab
    """
    arguments["type"] = arguments.pop("kind")
    details = Details(valid_from=valid_from, valid_until=valid_until)
    # What was not said is left to `revise`, which takes it from the memory that is superseded.
    details.update({name: value for name, value in arguments.items() if value not in (None, ())})  # type: ignore[typeddict-item]
    content, user, workspace = " ".join(text), config.user, config.workspace
    with open_configured(config) as weft:
        memories = Memories(weft)
        if supersedes is None:
            memory = memories.remember(content, user=user, workspace=workspace, on_conflict=on_conflict, **details)
        else:
            memory = memories.revise(supersedes, content, user=user, workspace=workspace, **details)
    for conflict in memory.conflicts:
        click.echo(f"{conflict.kind} of {line(conflict.memory)}: {conflict.reason}", err=True)
    if memory.action == "asked":
        click.echo("nothing was written: repeat it with --on-conflict supersede or keep_both", err=True)
        return
    if as_json:
        print_json(as_dict(memory))
    else:
        click.echo(memory.id)
