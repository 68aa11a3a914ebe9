from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from weftwork.cli.options import settings
from weftwork.config import FILE, Config
from weftwork.faces.opening import open_configured
from weftwork.store.open import is_address, shown


@click.command("init")
@click.argument("path", required=False)
@settings
def command(path: str | None, config: Config) -> None:
    """Create a store with a workspace and its first user.

    \b
    weftwork init                             notes.weft in this folder
    weftwork init team.weft --user ana        another file, another first user
    weftwork init --workspace research        one more workspace in the same store
    """
    config = replace(config, store=path) if path else config
    with open_configured(config, create=True) as weft:
        if config.workspace not in weft.store.workspaces():
            weft.create_workspace(config.workspace, owner=config.user)
        elif config.user not in weft.store.users(config.workspace):
            weft.add_user(config.user, workspace=config.workspace)
    settings_file = FILE if is_address(config.store) else Path(config.store).parent / FILE
    named = config.store if is_address(config.store) else Path(config.store).name
    # An address with a password belongs into the environment, not into a file beside the notes.
    if not Path(settings_file).exists() and shown(named) == named:
        lines = (f"store = {_quoted(named)}", f"workspace = {_quoted(config.workspace)}",
                 f"user = {_quoted(config.user)}")  # fmt: skip
        Path(settings_file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    click.echo(f"{shown(config.store)} is ready: workspace {config.workspace!r}, user {config.user!r}")
    click.echo("next:  weftwork add FOLDER   then   weftwork context QUESTION")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
