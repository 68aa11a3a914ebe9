from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import click

from weftwork.cli.options import settings
from weftwork.config import FILE, Config, load_config, nearest_file
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
    config, above = _here(config, path)
    existed = not is_address(config.store) and Path(config.store).exists()
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
    state = "was there already" if existed else "is ready"
    click.echo(f"{shown(config.store)} {state}: workspace {config.workspace!r}, user {config.user!r}")
    if above is not None:
        click.echo(f"in this folder it takes the place of the store that {above} names", err=True)
    click.echo("next:  weftwork add FOLDER   then   weftwork context QUESTION")


def _here(config: Config, path: str | None) -> tuple[Config, Path | None]:
    """The settings with the store that is meant, and the settings file above whose store it is not.

    Without a path that is notes.weft in this folder, unless this folder, the environment or --store names one.
    """
    if path:
        return replace(config, store=path), None
    above = nearest_file(Path.cwd())
    named = load_config(Path.cwd()).store
    if above is None or above.parent == Path.cwd() or config.store != named or "WEFTWORK_STORE" in os.environ:
        return config, None
    return replace(config, store=Config().store), above


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
