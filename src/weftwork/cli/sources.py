from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import click

from weftwork.cli.options import as_json, confirm_removal, one_line, print_json, settings, without_asking
from weftwork.cli.progress import line_of, mentions_of, print_notices
from weftwork.config import Config
from weftwork.engine import Weft
from weftwork.errors import InvalidInput
from weftwork.faces.opening import open_configured
from weftwork.ingest.imports import Import, find_import, list_imports, read_again, remove_imports
from weftwork.ingest.live import address_of
from weftwork.ingest.report import Options


@click.group("sources", invoke_without_command=True)
@as_json
@settings
@click.pass_context
def command(ctx: click.Context, as_json: bool, config: Config) -> None:
    """List the files and folders that were added; read them again, or remove what came from them.

    What came as JSON lines is not listed: it has no place on disk to agree with.

    \b
    weftwork sources
    weftwork sources read ~/notes
    weftwork sources remove ~/notes
    """
    if ctx.invoked_subcommand is None:
        _list(as_json, config)


def _list(as_json: bool, config: Config) -> None:
    with open_configured(config) as weft:
        imports = list_imports(weft.store, config.workspace)
    if as_json:
        print_json([{**asdict(each), "is_there": each.is_there} for each in imports])
        return
    if not imports:
        click.echo("nothing was added yet: weftwork add FOLDER", err=True)
    for each in imports:
        click.echo(_line(each))


def _line(imported: Import) -> str:
    skipped = f", {imported.skipped} skipped" if imported.skipped else ""
    gone = "" if imported.is_there else "  (gone from disk)"
    place = address_of(Path(imported.place)) or imported.place
    return f"{one_line(place, 300)}  {imported.stored} by {imported.connector}{skipped}{gone}"


def _meant(weft: Weft, config: Config, paths: Iterable[str]) -> list[Import]:
    """The imports that are named by path or address."""
    imports = list_imports(weft.store, config.workspace)
    places = {address: each.place for each in imports if (address := address_of(Path(each.place)))}
    return [find_import(weft.store, config.workspace, places.get(path, path)) for path in paths]


@command.command("read")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@as_json
@settings
def read_command(paths: tuple[str, ...], as_json: bool, config: Config) -> None:
    """Read every file of a path again, changed or not; ids, access lists and memories stay.

    \b
    weftwork sources read ~/notes
    """
    reports = []
    with open_configured(config) as weft:
        meant = _meant(weft, config, paths)
        if address := next(filter(None, (address_of(Path(each.place)) for each in meant)), ""):
            raise InvalidInput(f"{address} is a live source: read it again with  weftwork pull {shlex.quote(address)}")
        options = Options(workspace=config.workspace, user=config.user, mentions=mentions_of(config, None))
        for imported in meant:
            reports.append(read_again(weft, imported, options))
    if as_json:
        print_json([asdict(report) for report in reports])
        return
    for imported, report in zip(meant, reports, strict=True):
        click.echo(f"{one_line(imported.place, 300)}: {line_of(report)}")
        print_notices(report)


@command.command("remove")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@without_asking
@as_json
@settings
def remove_command(paths: tuple[str, ...], yes: bool, as_json: bool, config: Config) -> None:
    """Remove from the store all that came from a path; the files themselves stay where they are.

    PATH is a path or an address as it was added, its last part, or the id of its top node.

    \b
    weftwork sources remove ~/notes
    """
    with open_configured(config) as weft:
        meant = list({each.id: each for each in _meant(weft, config, paths)}.values())
        confirm_removal([_line(each) for each in meant], yes)
        removed = remove_imports(weft, config.workspace, meant)
        weft.catch_up(config.workspace)
    print_json({"removed": removed}) if as_json else click.echo(f"removed {removed} nodes")
