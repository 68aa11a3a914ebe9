"""Options that commands share, and opening the store that they name."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from weftwork.config import Config, load_config
from weftwork.engine import Weft
from weftwork.lens import Lens
from weftwork.render import Templates
from weftwork.render.templates import Template
from weftwork.store.open import with_replica

Command = TypeVar("Command", bound=Callable[..., Any])


def settings(command: Command) -> Command:
    """--store, --workspace and --user, as one `config` argument."""

    def gather(ctx: click.Context, /, **values: Any) -> Any:
        given = {name: values.pop(name) for name in ("store", "workspace", "user")}
        config = replace(load_config(Path.cwd()), **{name: value for name, value in given.items() if value})
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


def open_weft(config: Config, *, create: bool = False) -> Weft:
    """The engine for these settings."""
    own = [Template.from_mapping(name, values) for name, values in config.templates.items()]
    lenses = own_lenses(config)
    weft = Weft.open(
        with_replica(config.store, config.read_url),
        embedder=config.embedder,
        visual=config.visual,
        tokenizer=config.tokenizer,
        templates=Templates(own),
        create=create,
    )
    for lens in lenses:
        weft.tools.lenses.register(lens)
    return weft


def own_lenses(config: Config) -> list[Lens]:
    """The lenses that the settings define."""
    return [Lens.from_mapping(name, values) for name, values in config.lenses.items()]


def print_json(value: object) -> None:
    """Print a value as JSON, indented and in a stable order."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True))
