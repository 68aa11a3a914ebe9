"""Options that commands share, and JSON output."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from weftwork.config import load_config

Command = TypeVar("Command", bound=Callable[..., Any])


def settings(command: Command) -> Command:
    """Add --store, --workspace and --user, passed as one `config` argument."""

    def gather(ctx: click.Context, /, **values: Any) -> Any:
        options = {name: values.pop(name) for name in ("store", "workspace", "user")}
        config = replace(load_config(Path.cwd()), **{name: value for name, value in options.items() if value})
        return ctx.invoke(command, config=config, **values)

    wrapped = click.pass_context(gather)
    wrapped.__doc__ = command.__doc__
    wrapped.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    for option in (
        click.option("--user", help="Who asks.  [default: me]"),
        click.option("--workspace", help="Which workspace.  [default: main]"),
        click.option("--store", help="The store: a file, or postgresql://…  [default: notes.weft]"),
    ):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[return-value]


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")


def print_json(value: object) -> None:
    """Print a value as JSON, indented and in a stable order."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True))
