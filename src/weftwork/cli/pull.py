from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from weftwork.cli.options import as_json, print_json, settings
from weftwork.cli.progress import line_of, mentions_of, plain_line, print_notices, with_mentions
from weftwork.config import Config
from weftwork.errors import InvalidInput
from weftwork.faces.opening import open_configured
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.live import Pulled, pull, pulled_before
from weftwork.ingest.report import Options
from weftwork.trust import secret

KEY = "WEFTWORK_SOURCE_KEY"


@click.command("pull")
@click.argument("addresses", nargs=-1)
@click.option("--access", multiple=True, metavar="WHO", help="Who may see it: a user, group:NAME, or * for all.")
@click.option(
    "--key-env",
    default=KEY,
    show_default=True,
    help="The variable with the password or token, WEFTWORK_…",
)
@with_mentions
@as_json
@settings
def command(
    *,
    addresses: tuple[str, ...],
    access: tuple[str, ...],
    key_env: str,
    mentions: bool | None,
    as_json: bool,
    config: Config,
) -> None:
    """Add what stands on a server; pulling again takes what changed there, and removes what is gone.

    \b
    weftwork pull https://example.org/feed.xml            RSS or Atom: a note for each entry
    weftwork pull git+https://example.org/notes.git       files of a repository, and a note on its history
    weftwork pull imaps://ann@mail.example.org/INBOX      a mailbox, in threads
    weftwork pull caldavs://ann@example.org/cal/team/     a calendar; also https://…/calendar.ics and webcal://…
    weftwork pull webdavs://ann@example.org/files/        the files of a folder
    weftwork pull 's3://bucket/docs?endpoint=https://…'   the objects of a bucket; the key is  ID:SECRET
    weftwork pull github:owner/name                       issues, pull requests and their comments
    weftwork pull notion:                                 the pages that an integration may read
    weftwork pull                                         all that were pulled before and need the same key

    \b
    The password or token is in WEFTWORK_SOURCE_KEY, or in the file that WEFTWORK_SOURCE_KEY_FILE names; it is never
    stored. It is sent where the address names a user, and to buckets, GitHub and Notion.
    Copies are kept beside the store, in a folder that ends in .sources. What everybody may read without a key
    is seen by whoever sees the workspace; all else by you alone, unless --access says more.
    """
    if not key_env.startswith("WEFTWORK_"):
        raise InvalidInput(f"{key_env} is no variable for keys of sources: name one that begins with WEFTWORK_")
    folder = _folder(config)
    chosen = addresses or tuple(pulled_before(folder))
    if not chosen:
        raise InvalidInput("nothing was pulled before: give an address, see  weftwork pull --help")
    pulled = []
    with open_configured(config) as weft, Parser() as parser:
        options = Options(
            workspace=config.workspace, user=config.user, mentions=mentions_of(config, mentions), parser=parser,
            access=frozenset(access) or None,
        )  # fmt: skip
        for address in chosen:
            pulled.append(pull(weft, address, folder, options, key=secret(key_env, os.environ) or ""))
            if not as_json:
                _print(pulled[-1], several=len(chosen) > 1)
    if as_json:
        print_json({"pulled": [_values(each) for each in pulled]})


def _folder(config: Config) -> Path:
    """The folder with the copies: beside a store that is a file, else among the user's caches."""
    if "://" in str(config.store):
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Path(cache) / "weftwork" / "sources"
    return Path(f"{config.store}.sources")


def _values(pulled: Pulled) -> dict[str, Any]:
    values = asdict(pulled)
    return {**values, "report": {name: value for name, value in values["report"].items() if name != "origin"}}


def _print(pulled: Pulled, *, several: bool) -> None:
    name = f"{plain_line(pulled.address)}: " if several else ""
    click.echo(f"{name}{pulled.fetched} copied, {pulled.removed} gone; {line_of(pulled.report)}")
    print_notices(pulled.report, unresolved=False)
