from __future__ import annotations

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config
from weftwork.faces.opening import own_lenses
from weftwork.lens import Lens, Lenses


@click.group("lens")
def command() -> None:
    """List and show lenses: what a walk of the graph prefers, for one kind of work.

    \b
    weftwork lens list
    weftwork lens show planning
    """


@command.command("list")
@as_json
@settings
def list_lenses(as_json: bool, config: Config) -> None:
    """List the built-in lenses and those of weftwork.toml.

    \b
    weftwork lens list --json
    """
    lenses = Lenses(own_lenses(config))
    shown = [lenses.get(name) for name in lenses.names()]
    if as_json:
        print_json([lens.to_dict() for lens in shown])
        return
    width = max(len(lens.name) for lens in shown)
    for lens in shown:
        click.echo(f"{lens.name:<{width}}  {lens.description}".rstrip())


@command.command("show")
@click.argument("name")
@as_json
@settings
def show_lens(name: str, as_json: bool, config: Config) -> None:
    """Show what a lens prefers.

    \b
    weftwork lens show planning
    """
    lens = Lenses(own_lenses(config)).get(name)
    if as_json:
        print_json(lens.to_dict())
        return
    click.echo("\n".join([f"{lens.name}: {lens.description}".rstrip(": "), *_lines(lens)]))


def _lines(lens: Lens) -> list[str]:
    parts = (
        ("follows first", " → ".join(lens.edge_types)),
        ("boosts", ", ".join(lens.boost_tags)),
        ("always shows", ", ".join(lens.include_fields)),
        ("walks at most", f"{lens.max_depth} step{'s' if lens.max_depth > 1 else ''}"),
    )
    return [f"  {name:<13}  {value or '-'}" for name, value in parts]
