from __future__ import annotations

import click

from weftwork.cli.options import (
    as_json,
    confirm_removal,
    one_line,
    piped_lines,
    print_json,
    settings,
    without_asking,
)
from weftwork.config import Config
from weftwork.faces.opening import open_configured
from weftwork.reference import resolve


@click.command("remove")
@click.argument("references", nargs=-1, required=True, callback=piped_lines)
@without_asking
@as_json
@settings
def command(references: tuple[str, ...], yes: bool, as_json: bool, config: Config) -> None:
    """Remove nodes with everything below them, all of them or none.

    A reference is a title, a path, a node's id, or a citation. A file that is still on disk comes back when its folder
    is added again: to drop a whole folder, see  weftwork sources remove.

    \b
    weftwork remove "Old plan"
    weftwork remove k482913 --yes
    weftwork remove - < ids.txt
    """
    with open_configured(config) as weft:
        with weft.store.view(config.workspace, config.user) as view:
            names = [resolve(view, reference, titles=True).node for reference in references]
            nodes = view.nodes(names)
        confirm_removal([f"{one_line(node.id, 200)}  {one_line(node.title, 100)} ({node.type})" for node in nodes], yes)
        removed = weft.remove(names, workspace=config.workspace)
        weft.catch_up(config.workspace)
    print_json({"removed": removed}) if as_json else click.echo(f"removed {removed} nodes")
