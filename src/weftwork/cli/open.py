from __future__ import annotations

import webbrowser
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import click

from weftwork.cli.options import settings
from weftwork.cli.serve import merged, serve
from weftwork.config import Config

SECONDS = 2
LISTENING = "listening on "


@click.command("open")
@click.option("--port", envvar="WEFTWORK_PORT", type=click.IntRange(0, 65535), help="Port.  [default: 8000]")
@click.option("--print", "only_print", is_flag=True, help="Print the address instead of opening a browser.")
@settings
def command(*, config: Config, only_print: bool, **arguments: Any) -> None:
    """Open the page that shows what a model would read, and why.

    If no server answers at the address, this command serves the store itself, until Ctrl-C.

    \b
    weftwork open
    weftwork open --port 8123 --print
    """
    chosen = merged(config.server, arguments)
    address = f"http://{chosen['host']}:{chosen['port']}/"
    if answers(address):
        show(address, only_print)
        return

    def say(text: str) -> None:
        click.echo(text, err=True)
        first, _, _ = text.partition("\n")
        if first.startswith(LISTENING):
            show(first.removeprefix(LISTENING) + "/", only_print)

    serve(config, chosen, say)


def answers(address: str) -> bool:
    """Return whether a server of ours answers at an address."""
    try:
        with urlopen(f"{address}healthz", timeout=SECONDS) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError, ValueError):
        return False


def show(address: str, only_print: bool) -> None:
    """Open an address in the browser, or else print it."""
    if only_print or not webbrowser.open(address):
        click.echo(address)
