from __future__ import annotations

import click

from weftwork.cli.audit import audit
from weftwork.cli.options import as_json, one_line, print_json, settings
from weftwork.config import Config
from weftwork.engine import Weft
from weftwork.errors import InvalidInput
from weftwork.faces.opening import open_configured
from weftwork.reference import resolve
from weftwork.store.protocol import View
from weftwork.types import NodeInfo

DEPTH = 1_000
"""Ancestors of a node that are looked at."""


@click.group("access")
def command() -> None:
    """Show and change who may see something; what is below it follows unless it has a list of its own.

    \b
    weftwork access show "Launch plan"
    weftwork access grant ~/notes/diary.md ana group:family
    weftwork access revoke "Launch plan" '*'
    """


@command.command("show")
@click.argument("reference")
@as_json
@settings
def show_command(reference: str, as_json: bool, config: Config) -> None:
    """Show who may see a node, and where that is said.

    \b
    weftwork access show "Launch plan"
    """
    with open_configured(config) as weft, weft.store.view(config.workspace, config.user) as view:
        node, above = _read(view, reference)
    who, said_by = _effective(node, above)
    if as_json:
        print_json(
            {
                "node": node.id,
                "owner": node.owner,
                "own": None if node.access is None else sorted(node.access),
                "access": None if who is None else sorted(who),
                "said_by": said_by,
            }
        )
        return
    owner = "" if node.owner is None else f"; its owner {node.owner} always may"
    listed = "whoever the workspace says" if who is None else ", ".join(sorted(who)) or "nobody else"
    place = "the workspace" if said_by is None else "itself" if said_by == node.id else one_line(said_by, 200)
    click.echo(f"{one_line(node.id, 200)}: {listed} (said by {place}){owner}")


@command.command("grant")
@click.argument("reference")
@click.argument("who", nargs=-1, required=True)
@settings
def grant_command(reference: str, who: tuple[str, ...], config: Config) -> None:
    """Let users, groups or everybody see a node and what is below it.

    \b
    weftwork access grant "Launch plan" ben group:design
    weftwork access grant "Launch plan" '*'
    """
    with open_configured(config) as weft:
        _change(weft, config, reference, added=frozenset(who))


@command.command("revoke")
@click.argument("reference")
@click.argument("who", nargs=-1, required=True)
@settings
def revoke_command(reference: str, who: tuple[str, ...], config: Config) -> None:
    """Take it away again; '*' leaves those who are named.

    \b
    weftwork access revoke "Launch plan" ben
    weftwork access revoke "Launch plan" '*'
    """
    with open_configured(config) as weft:
        _change(weft, config, reference, removed=frozenset(who))


@command.command("inherit")
@click.argument("reference")
@settings
def inherit_command(reference: str, config: Config) -> None:
    """Drop the list of a node: it is seen by whoever sees what is above it.

    \b
    weftwork access inherit "Launch plan"
    """
    with open_configured(config) as weft:
        with weft.store.view(config.workspace, config.user) as view:
            node, _ = _read(view, reference)
        with weft.atomic(config.workspace) as batch:
            batch.set_access(node.id, None)
        audit(weft, "put_access", config.workspace, node=node.id, access=None)
    click.echo(f"{one_line(node.id, 200)} is seen by whoever sees what is above it")


def _read(view: View, reference: str) -> tuple[NodeInfo, list[NodeInfo]]:
    """A node by its id, citation, title or path, and those above it."""
    name = resolve(view, reference, titles=True).node
    return view.nodes([name])[0], view.ancestors(name, DEPTH)


def _effective(node: NodeInfo, above: list[NodeInfo]) -> tuple[frozenset[str] | None, str | None]:
    """The list that holds for a node, and the node that has it; None for the workspace's."""
    for each in (node, *above):
        if each.access is not None:
            return each.access, each.id
        if each.owner is not None and each.parent is None:
            return frozenset({each.owner}), each.id
    return None, None


def _change(
    weft: Weft,
    config: Config,
    reference: str,
    *,
    added: frozenset[str] = frozenset(),
    removed: frozenset[str] = frozenset(),
) -> None:
    with weft.store.view(config.workspace, config.user) as view:
        node, above = _read(view, reference)
    _known(weft, config.workspace, added)
    before, _ = _effective(node, above)
    # A list of the workspace itself is everybody's, unless it was created with another one.
    access = (frozenset({"*"}) if before is None else before) - removed | added
    with weft.atomic(config.workspace) as batch:
        batch.set_access(node.id, access)
    audit(weft, "put_access", config.workspace, node=node.id, access=sorted(access))
    click.echo(f"{one_line(node.id, 200)}: {', '.join(sorted(access)) or 'nobody but its owner'}")


def _known(weft: Weft, workspace: str, who: frozenset[str]) -> None:
    """Refuse to grant something to users that the workspace does not have: a typo would hide in the list."""
    users = weft.store.users(workspace)
    unknown = sorted(name for name in who if name != "*" and not name.startswith("group:") and name not in users)
    if unknown:
        raise InvalidInput(
            f"{workspace!r} has no user {unknown[0]!r}: it has {', '.join(sorted(users))}; "
            f"add one with  weftwork users add {unknown[0]}"
        )
