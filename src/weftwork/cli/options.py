"""Options that commands share, and JSON output."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from weftwork.config import Config, load_config
from weftwork.errors import InvalidInput
from weftwork.render.quote import clean, inline
from weftwork.trust import UntrustedSettings, trust

_CONTROLS = re.compile(r"[\x7f-\x9f]")
Command = TypeVar("Command", bound=Callable[..., Any])


def settings(command: Command) -> Command:
    """Add --store, --workspace and --user, passed as one `config` argument."""

    def gather(ctx: click.Context, /, **values: Any) -> Any:
        options = {name: values.pop(name) for name in ("store", "workspace", "user")}
        config = replace(_trusted_config(), **{name: value for name, value in options.items() if value})
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


def _trusted_config() -> Config:
    """The settings of this folder; a person at a terminal is asked once about a file that names other machines."""
    try:
        return load_config(Path.cwd())
    except UntrustedSettings as refused:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        click.echo(f"{refused.path} sends what you ask and what is found to other machines:", err=True)
        for setting, host in refused.addresses.items():
            click.echo(f"  {inline(setting)} at {inline(host)}", err=True)
        if not click.confirm("Do you trust this file?", err=True):
            raise
        trust(refused.path)
        return load_config(Path.cwd())


def one_line(text: str, limit: int) -> str:
    """Text on one line as it is, so that it can be copied; nothing in it reaches the terminal as a command."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def piped(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Words of the command line; a lone `-` stands for standard input."""
    return (_standard_input(ctx, parameter).strip(),) if value == ("-",) else value


def piped_lines(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Names on the command line; a lone `-` stands for the lines of standard input."""
    if value != ("-",):
        return value
    return tuple(line.strip() for line in _standard_input(ctx, parameter).splitlines() if line.strip())


def _standard_input(ctx: click.Context, parameter: click.Parameter) -> str:
    text = sys.stdin.read()
    if not text.strip():
        raise click.BadParameter("standard input is empty", ctx, parameter)
    return text


without_asking = click.option("--yes", is_flag=True, help="Do not ask first.")


def confirm_removal(lines: Sequence[str], yes: bool) -> None:
    """Name what is about to be removed, and ask; without a terminal, only --yes goes on."""
    for line in lines:
        click.echo(line, err=True)
    if yes:
        return
    try:
        agreed = click.confirm("Remove for good?", err=True)
    except click.Abort:
        raise InvalidInput("nothing was removed without an answer: use --yes in a script") from None
    if not agreed:
        raise InvalidInput("nothing was removed")


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")


def print_json(value: object) -> None:
    """Print a value as JSON, indented and in a stable order."""
    echo_json(json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True))


def echo_json(text: str) -> None:
    """Print JSON text; JSON leaves some controls as they are, and a terminal might obey them."""
    click.echo(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
