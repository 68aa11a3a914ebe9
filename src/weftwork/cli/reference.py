"""The command reference in Markdown, generated from the commands' help."""

from __future__ import annotations

import click

from weftwork.cli import group


def reference() -> str:
    """Return the reference: a section per command, with the help that it prints."""
    parts = ["# The `weftwork` command\n\nWritten by `make docs` from the commands' own help.\n"]
    for path, command in _commands(group, ("weftwork",)):
        context = click.Context(
            command, info_name=" ".join(path), max_content_width=100, terminal_width=100, **group.context_settings
        )
        parts.append(f"## `{' '.join(path)}`\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def _commands(command: click.Command, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], click.Command]]:
    commands = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            commands += _commands(inner, (*path, name))
    return commands


if __name__ == "__main__":
    click.echo(reference(), nl=False)
