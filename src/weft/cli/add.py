from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from weft.cli.options import as_json, open_weft, print_json, settings
from weft.config import Config
from weft.ingest import Report, load, open_source
from weft.ingest.documents.parsing import Parser
from weft.ingest.pieces import Note, Skipped

SHOWN = 20
"""Skipped sources that are named on a terminal; --json names all."""


@click.command("add")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@as_json
@settings
def command(paths: tuple[Path, ...], as_json: bool, config: Config) -> None:
    """Add files, folders, documents or JSON lines; adding again changes only what differs.

    \b
    weft add notes.md src/                text files, and all files below a folder
    weft add report.pdf slides.pptx       documents: a node for each page, with its picture
    weft add export.jsonl                 nodes, edges and users, one JSON object a line

    \b
    Documents are PDF, DOCX, PPTX, XLSX, HTML, EPUB and pictures. Reading them needs
    pip install 'weft[documents]', and reading scans and pictures 'weft[ocr]' as well.
    """
    reports = []
    with open_weft(config) as weft, Parser() as parser:
        for path, source in [(path, open_source(path, parser)) for path in paths]:
            bar: Any
            with click.progressbar(
                length=_size(path),
                label=_line(str(path)),
                file=sys.stderr,
                hidden=as_json or not sys.stderr.isatty(),
            ) as bar:
                expected = partial(_lengthen, bar)
                reports.append(load(weft, source, workspace=config.workspace, progress=bar.update, expected=expected))
    _print(reports, as_json)


def _lengthen(bar: Any, count: int) -> None:
    """A document was opened: its pages are nodes, too."""
    bar.length = (bar.length or 0) + count


def _size(path: Path) -> int | None:
    """How many nodes to expect: entries of a folder, lines of a file."""
    if path.is_dir():
        return sum(1 for each in path.rglob("*") if not any(part.startswith(".") for part in each.parts))
    if path.suffix in (".jsonl", ".ndjson") and path.is_file():
        with path.open("rb") as lines:
            return sum(1 for _ in lines)
    return 1


def _print(reports: list[Report], as_json: bool) -> None:
    skipped = [each for report in reports for each in report.skipped]
    notes = [each for report in reports for each in report.notes]
    totals = {
        "read": sum(report.read for report in reports),
        "changed": sum(report.changed for report in reports),
        "edges": sum(report.edges for report in reports),
        "users": sum(report.users for report in reports),
    }
    if as_json:
        told: dict[str, Sequence[Skipped | Note]] = {"skipped": skipped, "notes": notes}
        print_json(totals | {name: [{"what": each.what, "why": each.why} for each in told[name]] for name in told})
        return
    click.echo(
        f"read {totals['read']} nodes: {totals['changed']} new or changed, {totals['edges']} edges, "
        f"{len(skipped)} skipped"
    )
    _name([f"skipped {_line(each.what)}: {_line(each.why)}" for each in skipped])
    _name([f"note on {_line(each.what)}: {_line(each.why)}" for each in notes])


def _name(lines: list[str]) -> None:
    for line in lines[:SHOWN]:
        click.echo(f"  {line}", err=True)
    if len(lines) > SHOWN:
        click.echo(f"  … and {len(lines) - SHOWN} more: use --json to see all", err=True)


def _line(text: str) -> str:
    """A text that cannot begin another line, nor move a terminal's cursor, whatever a file is called."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
