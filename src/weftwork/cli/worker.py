from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import click

from weftwork.cli.options import settings
from weftwork.config import Config
from weftwork.embed.protocol import EmbeddingProvider
from weftwork.errors import InvalidInput, StoreBusy, StoreUnavailable
from weftwork.faces.opening import open_configured
from weftwork.store.protocol import Store
from weftwork.write.embed import TEXTS_AT_ONCE, embed_waiting

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
    weftwork add --embed later ~/corpus --store postgresql://db.example/notes
    weftwork worker --once --store postgresql://db.example/notes      on as many machines as there are

    Workers share the texts of a database among them, each text is embedded once, and what a worker had that died is
    taken by another. On a file they work one after the other.
    """
    with open_configured(config) as weft, _stop_event() as stop:
        if weft.tools.embedder is None:
            raise InvalidInput("no embedder is chosen: set WEFTWORK_EMBEDDER, or embedder in weftwork.toml")
        workspace = None if everywhere else config.workspace
        worker = _Worker(weft.store, weft.tools.embedder, workspace, batch, as_json)
        away = 0.0
        while not stop.is_set():
            try:
                count, away = worker.work(), 0.0
                if not count and once and not worker.left():
                    break
            except (StoreBusy, StoreUnavailable) as error:
                count, away = 0, away or time.monotonic()
                if time.monotonic() - away > PATIENCE:
                    raise
                click.echo(f"{error}; trying again", err=True)
            if not count:
                stop.wait(poll)
    click.echo(json.dumps({"total": worker.total}) if as_json else f"{worker.total:,} texts embedded")


class _Worker:
    """Embeds texts of one workspace or of all, and counts them."""

    def __init__(
        self, store: Store, embedder: EmbeddingProvider, workspace: str | None, batch: int, as_json: bool
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._workspace = workspace
        self._batch = batch
        self._as_json = as_json
        self.total = 0

    def work(self) -> int:
        """Embed a batch in each workspace, and return the number of texts."""
        before = self.total
        for place in self._places():
            count = embed_waiting(self._store, self._embedder, place, limit=self._batch)
            self.total += count
            if count and self._as_json:
                click.echo(json.dumps({"workspace": place, "embedded": count}))
        return self.total - before

    def left(self) -> bool:
        """Return True if any text has no vector, even one claimed by another worker."""
        return any(self._store.waiting(place, self._embedder.model) for place in self._places())

    def _places(self) -> list[str]:
        return self._store.workspaces() if self._workspace is None else [self._workspace]


@contextmanager
def _stop_event() -> Iterator[Event]:
    """An event that SIGINT and SIGTERM set, so that the current batch is finished first."""
    stop = Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
