from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.cli.progress import (
    COUNTED,
    as_connector,
    connector_for,
    line_of,
    mentions_of,
    plain_line,
    print_notices,
    print_some,
    with_mentions,
)
from weftwork.config import Config
from weftwork.engine import Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.faces.opening import open_configured
from weftwork.ingest.connectors.nested import claimant
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.events import Piece
from weftwork.ingest.imports import LINES, add_path
from weftwork.ingest.jsonlines import parse_lines, read_json_lines
from weftwork.ingest.load import Report, load
from weftwork.ingest.report import Followed, Options, Outcome
from weftwork.types import Node

STANDARD_INPUT = Path("-")


@click.command("add")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@as_connector
@click.option(
    "--access", multiple=True, metavar="WHO", help="Who may see what is added: a user, group:NAME, or * for all."
)
@click.option("--dry-run", is_flag=True, help="Say what would happen, and change nothing.")
@click.option(
    "--embed",
    type=click.Choice(["now", "later"]),
    default="now",
    show_default=True,
    help="When texts get their vectors: later leaves that to  weftwork worker.",
)
@click.option(
    "--ocr",
    "pictures",
    type=click.Choice(["now", "later"]),
    default="now",
    show_default=True,
    expose_value=False,
    callback=lambda context, _, value: context.meta.update(pictures=value),
    help="When scans and pictures are read: later leaves that to the next  weftwork add.",
)
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="Name each file and what became of it.",
    expose_value=False,
    callback=lambda context, _, value: context.meta.update(listing=value),
)
@with_mentions
@as_json
@settings
def command(
    *,
    paths: tuple[Path, ...],
    forced: str | None,
    access: tuple[str, ...],
    dry_run: bool,
    embed: str,
    mentions: bool | None,
    as_json: bool,
    config: Config,
) -> None:
    """Add notes, files, documents, chats or exports; adding again changes only what differs.

    \b
    weftwork add ~/vault                      notes with their links, tags and tasks
    weftwork add --as obsidian ~/vault        read it as an Obsidian vault, whatever it looks like
    weftwork add report.pdf slides.pptx       documents: a node for each page, with its picture
    weftwork add conversations.json           a chat export: threads and messages
    weftwork add export.jsonl                 nodes, edges and users, one JSON object a line
    weftwork add ~/diary --access me          seen by this user alone, with all that comes later
    cat nodes.jsonl | weftwork add -          JSON lines from standard input
    weftwork add --ocr later ~/papers         texts now; scans and pictures when it is added again
    weftwork add --list ~/vault               each file and what became of it; --json has that, too
    weftwork add --embed later ~/corpus       found by its words at once, by its meaning after  weftwork worker

    \b
    What is given is recognised; weftwork connectors lists what there is. Files that are gone are removed, renamed ones
    keep their ids, and links to what is not there yet resolve when it comes.
    Documents are PDF, DOCX, PPTX, XLSX, ODT, ODS, ODP, RTF, HTML, EPUB and pictures. Reading them needs
    pip install 'weftwork[documents]', and reading scans and pictures 'weftwork[ocr]' as well.
    """
    chosen = click.get_current_context().meta
    for path in paths:
        if path != STANDARD_INPUT and not path.exists():
            raise NotFound(f"{path} does not exist: give a file or a folder")
    readers = [(path, None if _is_lines(path, forced) else connector_for(path, forced)) for path in paths]
    followed: dict[Path, Followed] = {}
    loaded: dict[Path, Report] = {}
    with open_configured(config if embed == "now" else replace(config, embedder="none")) as weft, Parser() as parser:
        options = Options(
            workspace=config.workspace, user=config.user, mentions=mentions_of(config, mentions), dry_run=dry_run,
            parser=parser, access=frozenset(access) or None, pictures=chosen["pictures"],
        )  # fmt: skip
        for path, connector in readers:
            with _bar(path, hidden=as_json or not sys.stderr.isatty()) as bar:
                if connector is None:
                    loaded[path] = _load(weft, path, options, bar)
                else:
                    watched = replace(options, progress=bar.update, expected=partial(_lengthen, bar))
                    followed[path] = add_path(weft, path, connector, watched)
    if as_json:
        print_json(_values([*followed.values()], [*loaded.values()], dry_run))
    else:
        _print(followed, loaded, dry_run)
        _print_outcomes([outcome for report in followed.values() for outcome in report.outcomes if chosen["listing"]])
    if _all_skipped([*followed.values()], [*loaded.values()]):
        sys.exit(1)


def _all_skipped(followed: list[Followed], loaded: list[Report]) -> bool:
    """Return True if something was skipped, and nothing is stored of what was given."""
    skipped = any(report.skipped for report in followed) or any(report.skipped for report in loaded)
    stored = any(getattr(report, count) for report in followed for count in COUNTED)
    return skipped and not stored and not any(report.read or report.edges or report.users for report in loaded)


def _print_outcomes(outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        why = f": {plain_line(outcome.why)}" if outcome.why else ""
        click.echo(f"{outcome.became:9} {plain_line(outcome.what)}{why}")


def _is_lines(path: Path, forced: str | None) -> bool:
    """Return True for a file of JSON lines, which needs no connector."""
    if path == STANDARD_INPUT:
        return True
    return forced is None and path.suffix in LINES and path.is_file() and claimant(path) is None


def _load(weft: Weft, path: Path, options: Options, bar: Any) -> Report:
    if options.dry_run:
        raise InvalidInput(f"{path} has JSON lines, which are added line by line: leave out --dry-run")
    if path == STANDARD_INPUT:
        pieces = parse_lines(sys.stdin, "standard input")
    else:
        with path.open("rb") as lines:
            bar.length = sum(1 for _ in lines)
        pieces = read_json_lines(path)
    if options.access is not None:
        pieces = (_shared(piece, options.access) for piece in pieces)
    return load(weft, pieces, workspace=options.workspace, progress=bar.update)


def _shared(piece: Piece, access: frozenset[str]) -> Piece:
    """Give a node at the top that names no access list this one."""
    if isinstance(piece, Node) and piece.parent is None and piece.access is None:
        return replace(piece, access=access)
    return piece


@contextmanager
def _bar(path: Path, *, hidden: bool) -> Iterator[Any]:
    with click.progressbar(length=0, label=plain_line(str(path)), file=sys.stderr, hidden=hidden) as bar:
        yield bar


def _lengthen(bar: Any, count: int) -> None:
    bar.length = (bar.length or 0) + count


def _values(followed: list[Followed], loaded: list[Report], dry_run: bool) -> dict[str, Any]:
    counts = (*COUNTED, "nodes", "links", "mentions")
    values: dict[str, Any] = {count: sum(getattr(report, count) for report in followed) for count in counts}
    values |= {count: sum(getattr(report, count) for report in loaded) for count in ("edges", "users", "read")}
    values["read"] += values["nodes"]
    values["nodes"] += sum(report.changed for report in loaded)
    values["unresolved"] = [asdict(link) for report in followed for link in report.unresolved]
    for kind in ("skipped", "notes"):
        reports: tuple[Any, ...] = (*followed, *loaded)
        values[kind] = [asdict(notice) for report in reports for notice in getattr(report, kind)]
    values["files"] = [asdict(outcome) for report in followed for outcome in report.outcomes]
    values["connectors"] = [report.connector for report in followed]
    return {**values, "dry_run": dry_run}


def _print(followed: Mapping[Path, Followed], loaded: Mapping[Path, Report], dry_run: bool) -> None:
    """Print a line for each path, which is named if there are several."""
    several = len(followed) + len(loaded) > 1

    def name(path: Path) -> str:
        return f"{plain_line(str(path))}: " if several else ""

    for path, report in followed.items():
        click.echo(f"{name(path)}{'would be: ' if dry_run else ''}{line_of(report, dry_run=dry_run)}")
        print_notices(report)
    for path, counts in loaded.items():
        beside = f"{counts.edges} edges, {counts.users} users" if counts.users else f"{counts.edges} edges"
        skipped = f"{len(counts.skipped)} skipped"
        click.echo(f"{name(path)}read {counts.read} nodes: {counts.changed} new or changed, {beside}, {skipped}")
        print_some([f"skipped {plain_line(notice.what)}: {plain_line(notice.why)}" for notice in counts.skipped])
