from __future__ import annotations

from dataclasses import asdict

import click

from weftwork.cli.options import as_json, confirm_removal, one_line, print_json, settings, without_asking
from weftwork.config import Config
from weftwork.erase import erase_expired, erase_nodes, erase_user
from weftwork.errors import InvalidInput
from weftwork.faces.opening import open_configured
from weftwork.ingest.import_log import ImportLog
from weftwork.ingest.imports import find_import, remove_imports

BEYOND = "backups, exports, logs, and what was sent to models are not reached"


@click.command("erase")
@click.argument("name", required=False)
@click.option("--source", help="A path that was added; all that came from it.")
@click.option("--expired", is_flag=True, help="What is older than the table [retention] of weftwork.toml allows.")
@without_asking
@as_json
@settings
def command(name: str | None, source: str | None, expired: bool, yes: bool, as_json: bool, config: Config) -> None:
    """Remove a user, a source, or what is too old, for good: with all traces of it, down to the bytes of the store.

    NAME is a user: all that they own goes, and all that is stored of what they did. What others hung below it stays.
    Receipts and records of other users that name what is erased go, too. The store is written anew, which takes as
    long as copying it, and indexes are made again before the next search.

    \b
    weftwork users about ben > ben.json       what is stored of ben
    weftwork erase ben
    weftwork erase --source ~/notes/old
    weftwork erase --expired --yes            for a daily job
    """
    if (name is not None) + (source is not None) + expired != 1:
        raise InvalidInput("name a user, or a path with --source, or say --expired")
    where = {"workspace": config.workspace, "by": config.user}
    with open_configured(config) as weft:
        if name is not None:
            confirm_removal([f"all of the user {one_line(name, 100)} in {one_line(config.workspace, 100)}"], yes)
            erased = erase_user(weft, name, **where)
        elif source is not None:
            imported = find_import(weft.store, config.workspace, source)
            confirm_removal([f"all that came from {one_line(imported.place, 300)}"], yes)
            states = ImportLog(weft.store, config.workspace, imported.id).states.values()
            ids = [state.id for state in states if state.id]
            erased = erase_nodes(
                weft, ids, lambda _: remove_imports(weft, config.workspace, [imported]), of="source", **where
            )
        else:
            if not config.retention:
                raise InvalidInput("nothing expires: write a table [retention] into weftwork.toml, such as  chat = 90")
            lines = [f"{one_line(kind, 100)} older than {days} days" for kind, days in config.retention.items()]
            confirm_removal(lines, yes)
            erased = erase_expired(weft, config.retention, **where)
    if as_json:
        print_json(asdict(erased))
        return
    for kind, count in erased.counts.items():
        click.echo(f"{count:>8}  {kind}")
    for line in (*erased.left, BEYOND):
        click.echo(f"not erased: {one_line(line, 500)}", err=True)
