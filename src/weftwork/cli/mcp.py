from __future__ import annotations

import logging
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from weftwork.cli.clients import CLIENTS, Entry, install, snippet
from weftwork.cli.options import settings
from weftwork.config import FILE, Config
from weftwork.errors import MissingExtra, NotFound
from weftwork.faces.opening import open_configured


def _enter(ctx: click.Context, parameter: click.Parameter, folder: Path | None) -> None:
    """Change to a folder; eager, so that its weftwork.toml is loaded."""
    if folder is not None:
        os.chdir(folder)


@click.group("mcp", invoke_without_command=True)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    is_eager=True,
    expose_value=False,
    callback=_enter,
    help="Work as if started in this folder.",
)
@click.option("--max-output-tokens", type=int, help="Most tokens in one answer.  [default: 10000]")
@settings
def command(max_output_tokens: int | None, config: Config) -> None:
    """Serve a workspace to assistants over the Model Context Protocol, on standard input and output.

    \b
    weftwork mcp install --client claude-desktop   let Claude Desktop start it
    weftwork mcp --user ana --workspace studio     what the client runs
    """
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is not None:
        if any(ctx.params.values()):
            raise click.UsageError(f"give the options after the word {ctx.invoked_subcommand!r}")
        return
    from weftwork.server.mcp import make_server  # noqa: PLC0415 - an optional extra
    from weftwork.server.stdio import run_stdio  # noqa: PLC0415 - an optional extra

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="weftwork mcp: %(message)s")
    cap = config.max_output_tokens if max_output_tokens is None else max_output_tokens
    with open_configured(config) as weft:
        run_stdio(make_server(weft, workspace=config.workspace, user=config.user, max_output_tokens=cap))


@command.command("install")
@click.option("--client", "name", type=click.Choice(list(CLIENTS)), required=True, help="Which assistant.")
@click.option("--config", "path", type=click.Path(path_type=Path, dir_okay=False), help="Its file, if elsewhere.")
@click.option("--print", "only_print", is_flag=True, help="Show what would be written, and write nothing.")
@settings
def install_command(name: str, path: Path | None, only_print: bool, config: Config) -> None:
    """Add Weftwork to an assistant's configuration, and keep everything else that is in it.

    \b
    weftwork mcp install --client claude-desktop
    weftwork mcp install --client codex
    weftwork mcp install --client vscode --workspace studio --user ana --print
    """
    client = CLIENTS[name]
    entry = Entry(command=running_command(), arguments=server_arguments(config))
    path = path or client.path()
    if only_print:
        click.echo(snippet(client, entry))
        click.echo(f"put this into {path}", err=True)
        return
    if find_spec("mcp") is None:
        raise MissingExtra("The MCP server, which the client is to start,", "mcp")
    check_store(config)
    changed = install(client, path, entry)
    click.echo(f"{'wrote' if changed else 'nothing to change in'} {path}")
    click.echo(f"{client.then}: it serves {config.workspace!r} as {config.user!r}")


def running_command() -> tuple[str, ...]:
    """The command line of this program, so that a client can start it from anywhere."""
    program = Path(sys.argv[0])
    if program.stem == "weftwork" and program.is_file():
        return (str(program.absolute()),)
    return (sys.executable, "-m", "weftwork.cli")


def check_store(config: Config) -> None:
    """Refuse a store that does not exist."""
    if "://" not in config.store and not Path(config.store).is_file():
        raise NotFound(f"there is no store at {config.store}, and the client would start an empty one: add to it first")


def server_arguments(config: Config) -> tuple[str, ...]:
    """The arguments with which a client starts the server, for the settings that hold here."""
    here = Path.cwd()
    settings = [folder for folder in (here, *here.parents) if (folder / FILE).is_file()]
    store = config.store if "://" in config.store else str(Path(config.store).absolute())
    return (
        "mcp",
        *(("--directory", str(settings[0])) if settings else ()),
        *("--store", store, "--workspace", config.workspace, "--user", config.user),
    )
