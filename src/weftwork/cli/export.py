from __future__ import annotations

import sys
from pathlib import Path

import click

from weftwork.cli.options import settings
from weftwork.config import Config
from weftwork.faces.opening import open_configured
from weftwork.ingest.export import export_lines, export_markdown
from weftwork.ingest.imports import LINES


@click.command("export")
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["markdown", "jsonl"]), help="By TARGET if it is not given.")
@settings
def command(target: Path, form: str | None, config: Config) -> None:
    """Write all that a user may see: Markdown into a new folder, or JSON lines into a file.

    JSON lines are what  weftwork add  reads: with access lists, fields, dates and edges. A file is written whole or
    not at all. Pictures of pages and vectors are not in it: for a copy of a store, see  weftwork backup.

    \b
    weftwork export notes/                    a Markdown file for each document
    weftwork export notes.jsonl               nodes and edges, one JSON object a line
    weftwork export - --user ben | jq .title  what ben may see
    """
    whose = {"user": config.user, "workspace": config.workspace}
    lines = form == "jsonl" or (form is None and (target == Path("-") or target.suffix in LINES))
    with open_configured(config) as weft:
        if not lines:
            click.echo(f"{export_markdown(weft, target, **whose)} documents are in {target}", err=True)
            return
        if target == Path("-"):
            sys.stdout.writelines(export_lines(weft, **whose))
            return
        draft = target.with_name(f".{target.name}.draft")
        with draft.open("w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(export_lines(weft, **whose))
        draft.replace(target)
    click.echo(f"{target} is written", err=True)
