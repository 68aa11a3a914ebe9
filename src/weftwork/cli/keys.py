from __future__ import annotations

from typing import Any, get_args

import click

from weftwork.cli.audit import audit
from weftwork.cli.options import as_json, print_json, settings
from weftwork.config import Config
from weftwork.faces.opening import open_configured
from weftwork.render.quote import inline
from weftwork.render.values import iso
from weftwork.server.keys import make_key, read_span, revoke_key, state_of
from weftwork.store.server_state import Key, Scope


@click.group("keys")
def command() -> None:
    """Create, list and revoke the keys that open a server.

    \b
    weftwork keys create --user ana --workspace studio --scope write --expires 90d
    weftwork keys list
    weftwork keys revoke key-1a2b3c4d
    """


@command.command("create")
@click.option("--scope", type=click.Choice(get_args(Scope)), required=True, help="What it allows.")
@click.option("--expires", help="After how long it ends, such as 12h, 90d or 1y.  [default: never]")
@click.option("--name", default="", help="What it is for, to tell it from others.")
@click.option("--also", multiple=True, help="Another workspace that it opens.")
@as_json
@settings
def create(
    *, scope: Scope, expires: str | None, name: str, also: tuple[str, ...], as_json: bool, config: Config
) -> None:
    """Create a key for a user and show it, once: only its hash is kept.

    read looks things up, write also changes them, admin also acts for other users of its workspaces. record does
    nothing but note what its user saw or changed: it is for web pages.

    \b
    weftwork keys create --user ana --workspace studio --scope write --expires 90d --name laptop
    """
    lasts = None if expires is None else read_span(expires)
    with open_configured(config) as weft:
        key, token = make_key(
            weft.store,
            user=config.user,
            workspaces=(config.workspace, *also),
            scope=scope,
            now=weft.now(),
            lasts=lasts,
            name=name,
        )
        audit(weft, "create_key", config.workspace, made=key.id, user=key.user, scope=scope, also=list(also))
        shown = _shown(key, state_of(key, weft.now()))
    if as_json:
        print_json({**shown, "key": token})
        return
    click.echo(token)
    until = "" if key.expires_at is None else f" until {iso(key.expires_at)}"
    places = ", ".join(sorted(key.workspaces))
    click.echo(f"{key.id} lets {key.user} {key.scope} in {places}{until}: keep it, it is not shown again", err=True)


@command.command("list")
@as_json
@settings
def list_keys(as_json: bool, config: Config) -> None:
    """List the keys with what they allow; the keys themselves are not known.

    \b
    weftwork keys list --json
    """
    with open_configured(config) as weft:
        keys, now = weft.store.keys.all(), weft.now()
    rows = [_shown(key, state_of(key, now)) for key in keys]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        until = f"until {row['expiresAt']}" if row["expiresAt"] else ""
        used = f"used {row['lastUsedAt']}" if row["lastUsedAt"] else ""
        words = (
            row["id"],
            row["state"],
            row["scope"],
            row["user"],
            ",".join(row["workspaces"]),
            row["name"],
            until,
            used,
        )
        click.echo("  ".join(map(inline, filter(None, words))))


@command.command("revoke")
@click.argument("name", metavar="ID")
@settings
def revoke(name: str, config: Config) -> None:
    """End a key at once and for good.

    \b
    weftwork keys revoke key-1a2b3c4d
    """
    with open_configured(config) as weft:
        key = revoke_key(weft.store, name, weft.now())
        audit(weft, "end_key", next(iter(sorted(key.workspaces)), ""), key=key.id)
    click.echo(f"{key.id} of {key.user} is revoked")


def _shown(key: Key, state: str) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "user": key.user,
        "workspaces": sorted(key.workspaces),
        "scope": key.scope,
        "state": state,
        "createdAt": iso(key.created_at),
        "expiresAt": None if key.expires_at is None else iso(key.expires_at),
        "lastUsedAt": None if key.used_at is None else iso(key.used_at),
        "revokedAt": None if key.revoked_at is None else iso(key.revoked_at),
    }
