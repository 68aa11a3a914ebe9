from __future__ import annotations

import sys
from typing import Any

import click

from weftwork.cli.options import as_json, print_json
from weftwork.clock import system_clock
from weftwork.errors import InvalidInput
from weftwork.render.quote import inline
from weftwork.store.open import LastingStore, open_store, shown
from weftwork.store.transfer import Moved, length, movable, move


@click.command("migrate")
@click.argument("source")
@click.argument("target")
@click.option("--workspace", help="Move this workspace alone.  [default: all]")
@as_json
def command(source: str, target: str, workspace: str | None, as_json: bool) -> None:
    """Move workspaces from one store to another, and compare what arrived; the source stays as it is.

    \b
    weftwork migrate notes.weft postgresql://ana@db.example/notes
    weftwork migrate postgresql://ana@db.example/notes notes.weft --workspace studio

    \b
    Everything moves: users, nodes, edges, passages with their citation ids, access lists, activity, feedback, vectors,
    kept contexts, the keys and jobs of the workspace, and files. What a paid provider embedded for queries stays.
    If it is interrupted, run it again: it goes on where it was. Until a workspace is there wholly it is called
    "NAME (incomplete)" and nobody can read it. A workspace that is in the target already is refused unless it is empty.
    """
    if source == target:
        raise InvalidInput("source and target are the same store: name another target")
    leaving = open_store(source, clock=system_clock, create=False)
    arriving = None
    try:
        names = movable(leaving, workspace)
        arriving = open_store(target, clock=system_clock)
        moved = [_move(leaving, arriving, name, hidden=as_json or not sys.stderr.isatty()) for name in names]
    finally:
        for store in filter(None, (leaving, arriving)):
            store.close()
    if as_json:
        print_json(
            {
                "source": shown(source),
                "target": shown(target),
                "workspaces": [_values(summary) for summary in moved],
            }
        )
        return
    for summary in moved:
        _print(summary)


def _move(source: LastingStore, target: LastingStore, name: str, *, hidden: bool) -> Moved:
    with click.progressbar(length=length(source, name), label=name, file=sys.stderr, hidden=hidden) as bar:
        return move(source, target, name, bar.update)


def _values(moved: Moved) -> dict[str, Any]:
    return {
        "workspace": moved.workspace,
        "already_there": moved.already,
        "written_meanwhile": moved.written_meanwhile,
        "kinds": {
            kind: {"rows": summary.rows, "checksum": f"{summary.checksum:016x}"}
            for kind, summary in moved.kinds.items()
        },
    }


def _print(moved: Moved) -> None:
    state = "was there already, and is the same" if moved.already else "is there, and is the same as in the source"
    click.echo(f"{inline(moved.workspace)} {state}:")
    for kind, summary in moved.kinds.items():
        if summary.rows:
            click.echo(f"{summary.rows:>10,}  {kind:<14}{summary.checksum:016x}")
    if moved.written_meanwhile:
        click.echo(
            f"{moved.workspace} was written while it was moved: what came later is not in the target; "
            "stop whoever writes, and move it into another store",
            err=True,
        )
