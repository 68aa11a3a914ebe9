from __future__ import annotations

import re
import sys
from typing import Literal

import click

from weftwork.cli.options import as_json, one_line, piped, print_json, settings
from weftwork.config import Config
from weftwork.faces.opening import open_configured
from weftwork.results import SearchResult
from weftwork.types import Filters

_MARKED = re.compile("<<<(.*?)>>>")
"""A word of the query, as an excerpt marks it."""


@click.command("search")
@click.argument("query", nargs=-1, required=True, callback=piped)
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
    """Find passages by words and by meaning; typos are forgiven. With nothing found, the exit code is 1.

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
    else:
        _print(results)
    if not results:
        click.echo("nothing found", err=True)
        sys.exit(1)


def _print(results: list[SearchResult]) -> None:
    """Print each passage with its place; the text is as it is, but for control characters."""
    for result in results:
        trail = " > ".join(one_line(title, 60) for title in reversed(result.trail))
        title = one_line(result.node.title or result.node.id, 80)
        named = f"[{result.passage.citation}] {title} ({one_line(result.node.type, 20)})  {trail}"
        click.echo(f"{result.score:.2f}  {named}".rstrip())
        text = one_line(result.excerpt, 320)
        click.echo(f"      {_MARKED.sub(lambda found: click.style(found[1], bold=True), text)}")


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
