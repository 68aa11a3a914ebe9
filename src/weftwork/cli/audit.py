from __future__ import annotations

import getpass
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any

import click

from weftwork.cli.dates import MOMENT
from weftwork.cli.options import as_json, one_line, settings
from weftwork.config import Config
from weftwork.engine import Weft
from weftwork.faces.opening import open_configured
from weftwork.render.values import iso
from weftwork.store.server_state import AuditEntry

AT_ONCE = 1_000


@click.command("audit")
@click.option("--all", "everything", is_flag=True, help="Of all workspaces.")
@click.option("--after", type=click.IntRange(0), default=0, metavar="ID", help="Only after this entry.")
@click.option("--drop-before", type=MOMENT, metavar="DATE", help="Remove the entries before this day.")
@as_json
@settings
def command(*, everything: bool, after: int, drop_before: datetime | None, as_json: bool, config: Config) -> None:
    """Show who changed what: writes, keys, access and users, with the key and the address that they came from.

    \b
    weftwork audit
    weftwork audit --all --json > audit.jsonl
    weftwork audit --drop-before 2025-01-01

    Entries cannot be changed, and hold ids and names but no content. With --json each is one line.
    """
    with open_configured(config) as weft:
        if drop_before is not None:
            count = weft.store.audit.drop_before(drop_before)
            audit(weft, "drop_audit", before=iso(drop_before), entries=count)
            click.echo(f"removed {count:,} entries")
            return
        for entry in _entries(weft, after, None if everything else config.workspace):
            click.echo(_json(entry) if as_json else _line(entry))


def audit(weft: Weft, action: str, workspace: str = "", **details: Any) -> None:
    """Note a change that was made on the command line, by the account that runs it."""
    account = ""
    with suppress(OSError, KeyError):  # a container may run under a number that has no name
        account = getpass.getuser()
    weft.store.audit.add(
        AuditEntry(at=weft.now(), action=action, workspace=workspace, user=account, key="command", details=details)
    )


def _entries(weft: Weft, after: int, workspace: str | None) -> Iterator[AuditEntry]:
    while entries := weft.store.audit.entries(after=after, workspace=workspace, limit=AT_ONCE):
        yield from entries
        after = entries[-1].id


def _json(entry: AuditEntry) -> str:
    return json.dumps({**asdict(entry), "at": iso(entry.at)}, ensure_ascii=False)


def _line(entry: AuditEntry) -> str:
    details = " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in entry.details.items())
    words = (iso(entry.at), entry.workspace, entry.user, entry.key, entry.address, entry.action, details)
    return "  ".join(one_line(word, 1_000) for word in words if word)
