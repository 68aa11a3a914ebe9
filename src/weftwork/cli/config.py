from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from weftwork.cli.options import as_json, one_line, print_json
from weftwork.config import ENVIRONMENT, Config, load_config, nearest_file, set_setting
from weftwork.errors import UnknownName
from weftwork.store.open import shown
from weftwork.text.tokens import get_counter

NAMES = tuple(Config.__slots__)
SETTABLE = tuple(name for name in NAMES if not isinstance(getattr(Config(), name), Mapping))


@click.group("config", invoke_without_command=True)
@as_json
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show the settings that hold in this folder, and where each comes from.

    \b
    weftwork config
    weftwork config get store
    weftwork config set budget 8000
    """
    if ctx.invoked_subcommand is not None:
        return
    config, path = load_config(Path.cwd()), nearest_file(Path.cwd())
    plain = Config()
    rows = [(name, _shown(name, getattr(config, name)), _origin(name, config, plain, path)) for name in NAMES]
    if as_json:
        print_json({name: {"value": value, "from": origin} for name, value, origin in rows})
        return
    for name, value, origin in rows:
        if not isinstance(value, dict) or value:
            click.echo(f"{name:>17}  {one_line(str(value), 200)}  ({origin})")


@command.command("get")
@click.argument("name")
def get_command(name: str) -> None:
    """Print one setting.

    \b
    weftwork config get embedder
    """
    if name not in NAMES:
        raise UnknownName("setting", name, NAMES)
    click.echo(_shown(name, getattr(load_config(Path.cwd()), name)))


@command.command("set")
@click.argument("name")
@click.argument("value")
def set_command(name: str, value: str) -> None:
    """Write one setting into weftwork.toml.

    Tables such as [model] are written by hand: see docs/reference/settings.md.

    \b
    weftwork config set budget 8000
    weftwork config set embedder bge-small-en-v1.5
    """
    if name not in SETTABLE:
        raise UnknownName("setting", name, SETTABLE)
    if name == "tokenizer":
        get_counter(value)  # every command would fail with one that there is not
    path = set_setting(Path.cwd(), name, _typed(name, value))
    click.echo(f"{name} = {value} in {path}")


def _typed(name: str, value: str) -> str | int | bool:
    kind = type(getattr(Config(), name))
    if kind is bool:
        if value not in ("true", "false"):
            raise click.BadParameter(f"{name} is true or false, got {value!r}")
        return value == "true"
    if kind is int:
        try:
            return int(value)
        except ValueError:
            raise click.BadParameter(f"{name} is a whole number, got {value!r}") from None
    return value


def _shown(name: str, value: Any) -> Any:
    return (
        shown(value)
        if name in ("store", "read_url") and value
        else dict(value)
        if isinstance(value, Mapping)
        else value
    )


def _origin(name: str, config: Config, plain: Config, path: Path | None) -> str:
    variable = next((variable for variable, setting in ENVIRONMENT.items() if setting == name), "")
    if variable and (variable in os.environ or f"{variable}_FILE" in os.environ):
        return variable
    return "default" if path is None or getattr(config, name) == getattr(plain, name) else str(path)
