from __future__ import annotations

from typing import Literal

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config
from weftwork.faces.opening import open_configured
from weftwork.render.quote import inline
from weftwork.results import SearchResult
from weftwork.types import Filters


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=int, default=10, show_default=True, help="How many passages.")
@click.option("--mode", type=click.Choice(["hybrid", "words", "vector"]), default="hybrid", show_default=True)
@click.option("--type", "types", multiple=True, help="Only this type of node.")
@click.option("--tag", "tags", multiple=True, help="Only what has this tag.")
@as_json
@settings
def command(
    *,
    query: tuple[str, ...],
    limit: int,
    mode: Literal["hybrid", "words", "vector"],
    types: tuple[str, ...],
    tags: tuple[str, ...],
    as_json: bool,
    config: Config,
) -> None:
    """Find passages by words and by meaning; typos are forgiven.

    \b
    weftwork search launch date
    weftwork search '"exact phrase" prefi*' --mode words --type page
    """
    with open_configured(config) as weft:
        results = weft.search(
            " ".join(query),
            user=config.user,
            workspace=config.workspace,
            limit=limit,
            mode=mode,
            filters=Filters(types=frozenset(types), tags=frozenset(tags)),
        )
    if as_json:
        print_json([_as_dict(result) for result in results])
        return
    if not results:
        click.echo("nothing found", err=True)
    for result in results:
        trail = " > ".join(inline(title, 60) for title in reversed(result.trail))
        title = inline(result.node.title or result.node.id, 80)
        named = f"[{result.passage.citation}] {title} ({inline(result.node.type, 20)})  {trail}"
        click.echo(f"{result.score:.2f}  {named}".rstrip())
        click.echo(f"      {inline(result.excerpt.replace('<<<', '*').replace('>>>', '*'), 300)}")


def _as_dict(result: SearchResult) -> dict[str, object]:
    return {
        "citation": result.passage.citation,
        "node": result.node.id,
        "type": result.node.type,
        "title": result.node.title,
        "source": result.node.source,
        "score": result.score,
        "start": result.passage.start,
        "end": result.passage.end,
        "excerpt": result.excerpt,
        "path": list(reversed(result.trail)),
    }
