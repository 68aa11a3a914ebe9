from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import click

from weftwork.cli.colour import shaded
from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config
from weftwork.document import READ_TOKENS, DocumentText
from weftwork.errors import NotFound
from weftwork.faces.opening import open_configured
from weftwork.render.quote import inline
from weftwork.wire import encode


@click.command("read")
@click.argument("reference")
@click.option("--start", default="", metavar="PLACE", help="Where to read on, as the part before named it.")
@click.option("--tokens", type=int, default=READ_TOKENS, show_default=True, help="The most that is printed at once.")
@click.option("--all", "whole", is_flag=True, help="Print all of it, however long.")
@click.option("--ids/--no-ids", default=True, help="Print the citation of each passage.  [default: yes]")
@as_json
@settings
def command(*, reference: str, start: str, tokens: int, whole: bool, ids: bool, as_json: bool, config: Config) -> None:
    """Read a document whole, as its author laid it out; what it is goes to standard error.

    REFERENCE is a title, a path, a node's id, or a citation. Something in a document reads that part of it.

    \b
    weftwork read "Launch plan"
    weftwork read k482913
    weftwork read "Launch plan" --all --no-ids > plan.md
    """
    asked: dict[str, Any] = {"start": start, "tokens": None if whole else tokens, "ids": ids}
    with open_configured(config) as weft:
        try:
            document = weft.read(reference, user=config.user, workspace=config.workspace, **asked)
        except NotFound:
            if not Path(reference).is_file():
                raise
            # The source of a file is its path as it was given to  weftwork add.
            other = os.path.relpath(reference) if Path(reference).is_absolute() else os.path.abspath(reference)
            document = weft.read(other, user=config.user, workspace=config.workspace, **asked)
    if as_json:
        print_json(encode(document))
        return
    click.echo(shaded(document.text))
    for line in _notes(document, reference):
        click.echo(line, err=True)


def _notes(document: DocumentText, reference: str) -> list[str]:
    """The notes after a page: what was read, and the command for the rest."""
    node, head = document.node, document.document
    above = " > ".join(inline(title, 60) for title in reversed(document.trail))
    lines = [f"{inline(node.id)} ({inline(node.type, 20)})" + (f" in {above}" if above else "")]
    if node.id != head.id:
        lines.append(f"a part of {inline(head.title or head.id, 80)}: weftwork read {shlex.quote(head.id)}")
    lines += [
        f"holds {inline(child.title or child.id, 80)}: weftwork read {shlex.quote(child.id)}"
        for child in document.holds
    ]
    if document.before:
        lines.append(f"after {document.before:,} tokens: weftwork read {shlex.quote(node.id)}")
    if document.next:
        command = f"weftwork read {shlex.quote(reference)} --start {document.next}"
        lines.append(f"about {document.left:,} tokens are left: {command}")
    return lines
