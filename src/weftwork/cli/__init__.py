"""The `weftwork` command. Only click is imported here: each command loads what it needs when it runs."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from io import UnsupportedOperation
from pathlib import Path

import click

from weftwork.errors import WeftError
from weftwork.surface import surface

COMMANDS = {
    "init": "Create a store and its first workspace.",
    "add": "Add notes, files, documents, chats or exports.",
    "pull": "Add what stands on a server: feeds, mail, calendars, repositories.",
    "sync": "Make the store agree with a folder.",
    "watch": "Keep the store in step with a folder.",
    "connectors": "List what can be added.",
    "context": "Assemble the context for a query.",
    "search": "Find passages.",
    "read": "Read a document whole.",
    "ask": "Answer a question from documents, with page citations.",
    "explain": "Show why a context is what it is.",
    "eval": "Measure whether contexts hold what answers need.",
    "remember": "Write a memory.",
    "memories": "List or search memories.",
    "forget": "Remove memories.",
    "lens": "List and show lenses.",
    "receipts": "List, show and replay what was handed out.",
    "mcp": "Serve a workspace to assistants over MCP.",
    "serve": "Serve a store over HTTP and MCP, with the inspector.",
    "plugin": "Write a plugin for coding agents.",
    "hook": "Answer a hook of a coding agent.",
    "open": "Open the page that shows what a model would read, and why.",
    "proxy": "Add what a workspace knows to requests to a model.",
    "keys": "Create, list and revoke the keys of a server.",
    "sources": "List, read again and remove what was added.",
    "remove": "Remove nodes with all below them.",
    "erase": "Remove a user, a source or what is too old, for good.",
    "export": "Write a workspace as Markdown or JSON lines.",
    "threads": "List threads, and read one.",
    "workspaces": "List, create and remove workspaces.",
    "access": "Show and change who may see something.",
    "config": "Show and change settings.",
    "stats": "Count what a user may see.",
    "users": "List, add, group and remove users.",
    "migrate": "Move workspaces between a file and a database.",
    "models": "List, install and choose models that find by meaning.",
    "worker": "Embed what was added without vectors.",
    "audit": "Show who changed what.",
    "backup": "Copy a store that is in use, and verify the copy.",
    "restore": "Put a backup back.",
    "verify": "Check that a backup is whole.",
    "trust": "Obey a weftwork.toml that names other machines.",
    "doctor": "Check the store and its indexes.",
    "tune": "Make large workspaces in PostgreSQL fast to search.",
    "distribute": "Distribute a PostgreSQL store over Citus workers.",
    "demo": "Load the sample workspace and show what Weftwork does.",
}


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"weftwork.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; name the nearest ones for a typo."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0].lower(), COMMANDS, n=3, cutoff=0.6)
            hint = f"did you mean {' or '.join(near)}?" if near else "see  weftwork --help"
            raise click.UsageError(f"there is no command {args[0]!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a closed pipe, as after `| head`, is no error."""
        try:
            with surface("command line"):
                return super().invoke(ctx)
        except BrokenPipeError:
            _drop_output()
            ctx.exit(0)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="weftwork", message="weftwork %(version)s")
def group() -> None:
    """Assemble the context that a language model needs.

    \b
    weftwork init                         create notes.weft here
    weftwork add ~/notes                  add a folder of notes
    weftwork context "When do we ship?"   print a context within 4,000 tokens
    weftwork explain "When do we ship?"   and why each source is in it, or not

    Settings come from weftwork.toml, WEFTWORK_STORE, WEFTWORK_WORKSPACE and WEFTWORK_USER.
    """


def main() -> None:
    """Run the command; errors go to standard error with an exit code, never a traceback."""
    try:
        # Colours are for terminals, and not even there if NO_COLOR is set.
        code = group.main(standalone_mode=False, color=False if os.environ.get("NO_COLOR") else None)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted: what was written so far is kept, run the command again to go on", err=True)
        sys.exit(130)
    except WeftError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    except OSError as error:
        _drop_output()
        where = "" if error.filename is None else f"{error.filename}: "
        click.echo(f"error: {where}{error.strerror or error}", err=True)
        sys.exit(1)


def _drop_output() -> None:
    """Discard unwritten output: at exit Python would flush it, and fail with a traceback."""
    with suppress(UnsupportedOperation), Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
