from __future__ import annotations

import json
import signal
import time
from threading import Event

import click

from weft.cli.options import open_weft, settings
from weft.config import Config
from weft.embed.protocol import EmbeddingProvider
from weft.embedding import TEXTS_AT_ONCE, embed_waiting
from weft.engine import Weft
from weft.errors import InvalidInput, StoreBusy, StoreUnavailable

PATIENCE = 600
"""Seconds for which a store may be away before a worker gives up."""


@click.command("worker")
@click.option("--once", is_flag=True, help="End when every text has its vector.")
@click.option("--all", "everywhere", is_flag=True, help="Work in all workspaces of the store.")
@click.option(
    "--batch", type=click.IntRange(1, 10_000), default=TEXTS_AT_ONCE, show_default=True, help="Texts at a time."
)
@click.option("--poll", type=click.FloatRange(0.05), default=2.0, show_default=True, help="Seconds to wait for more.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each batch.")
@settings
def command(*, once: bool, everywhere: bool, batch: int, poll: float, as_json: bool, config: Config) -> None:
    """Embed what was added with --embed later, or before another model was chosen, until Ctrl-C.

    \b
    weft add --embed later ~/corpus --store postgresql://db.example/notes
    weft worker --once --store postgresql://db.example/notes      on as many machines as there are

    Workers share the texts of a database among them, each text is embedded once, and what a worker had that died is
    taken by another. On a file they work one after the other.
    """
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with open_weft(config) as weft:
        if weft.tools.embedder is None:
            raise InvalidInput("no embedder is chosen: set WEFT_EMBEDDER, or embedder in weft.toml")
        total, away = 0, 0.0
        while not stop.is_set():
            try:
                places = weft.store.workspaces() if everywhere else [config.workspace]
                count = sum(_work(weft, weft.tools.embedder, place, batch, as_json) for place in places)
                total, away = total + count, 0.0
                if not count and once and not _left(weft, weft.tools.embedder, places):
                    break
            except (StoreBusy, StoreUnavailable) as error:
                count, away = 0, away or time.monotonic()
                if time.monotonic() - away > PATIENCE:
                    raise
                click.echo(f"error: {error}; trying again", err=True)
            if not count:
                stop.wait(poll)
    click.echo(json.dumps({"total": total}) if as_json else f"{total:,} texts embedded")


def _work(weft: Weft, embedder: EmbeddingProvider, workspace: str, batch: int, as_json: bool) -> int:
    count = embed_waiting(weft.store, embedder, workspace, limit=batch)
    if count and as_json:
        click.echo(json.dumps({"workspace": workspace, "embedded": count}))
    return count


def _left(weft: Weft, embedder: EmbeddingProvider, places: list[str]) -> int:
    return sum(weft.store.waiting(place, embedder.model) for place in places)
