"""The arguments of a request for a context, shared by the commands that make one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from weft.cli.options import open_weft
from weft.config import Config
from weft.types import Context, Filters

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS = (
    click.argument("query", nargs=-1),
    click.option("--max-tokens", "--budget", "max_tokens", type=int, help="Token budget.  [default: 4000]"),
    click.option("--focus", help="Id of the node that the user works on."),
    click.option("--thread", help="Id of the thread that the query belongs to."),
    click.option("--depth", type=int, help="How far the graph is walked, 1 to 5."),
    click.option("--type", "types", multiple=True, help="Search only this type of node."),
    click.option("--tag", "tags", multiple=True, help="Search only what has this tag."),
    click.option("--recipe", default="default", show_default=True, help="Which recipe."),
)


def asking(command: Command) -> Command:
    """Add the arguments of a request."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def ask(
    config: Config,
    *,
    query: tuple[str, ...],
    max_tokens: int | None,
    types: tuple[str, ...],
    tags: tuple[str, ...],
    **more: Any,
) -> Context:
    """The context for what was asked on the command line."""
    with open_weft(config) as weft:
        return weft.context(
            " ".join(query),
            user=config.user,
            workspace=config.workspace,
            budget=config.budget if max_tokens is None else max_tokens,
            filters=Filters(types=frozenset(types), tags=frozenset(tags)),
            **more,
        )
