from __future__ import annotations

import asyncio
import logging
import sys
from datetime import datetime

import click

from weftwork.cli.dates import MOMENT
from weftwork.cli.options import as_json, piped, print_json, settings
from weftwork.config import Config
from weftwork.engine import Weft
from weftwork.errors import WeftError
from weftwork.faces.memory import ContextEngine, ContextEngineConfig, Memories, Memory, SearchOptions
from weftwork.faces.opening import open_configured
from weftwork.render.quote import inline
from weftwork.types import Filters


@click.command("memories")
@click.argument("query", nargs=-1, callback=piped)
@click.option("--type", "types", multiple=True, help="Only memories of this type.")
@click.option("--as-of", type=MOMENT, help="What held at this date, such as 2026-03-01.")
@click.option("--all", "every", is_flag=True, help="Also what is over, was superseded or is yet to come.")
@click.option("--limit", type=int, default=20, show_default=True, help="How many.")
@as_json
@settings
def command(
    *,
    query: tuple[str, ...],
    types: tuple[str, ...],
    as_of: datetime | None,
    every: bool,
    limit: int,
    as_json: bool,
    config: Config,
) -> None:
    """List memories, the latest first; with a query, those that answer it.

    \b
    weftwork memories
    weftwork memories when do we ship --type decision
    weftwork memories --as-of 2026-03-01
    """
    asked = " ".join(query)
    if every and (asked.strip() or as_of):
        raise click.UsageError("--all lists without a query and without --as-of: leave one of them out")
    with open_configured(config) as weft:
        if asked.strip():
            scored = _searched(weft, asked, config, SearchOptions(limit=limit, memory_types=types, as_of=as_of))
        else:
            filters = Filters(types=frozenset(types), as_of=as_of)
            listed = Memories(weft).list(
                filters=filters, every=every, limit=limit, user=config.user, workspace=config.workspace
            )
            scored = [(None, memory) for memory in listed]
    if as_json:
        print_json([as_dict(memory) | ({} if score is None else {"score": score}) for score, memory in scored])
    else:
        for score, memory in scored:
            click.echo(line(memory, score))
    if not scored:
        click.echo("no memories", err=True)
        sys.exit(1 if asked.strip() else 0)


def _searched(weft: Weft, query: str, config: Config, options: SearchOptions) -> list[tuple[float | None, Memory]]:
    engine = ContextEngine(ContextEngineConfig(storage_client=weft, user=config.user, logger=_silent()))
    result = asyncio.run(engine.search(query, config.workspace, options))
    if not result.ok:
        raise WeftError(result.error.message)
    return [(hit.score, hit.memory) for hit in result.value]


def _silent() -> logging.Logger:
    """A logger that drops everything: a failure is reported once, as the command's error."""
    logger = logging.Logger("weftwork.cli.memories")
    logger.addHandler(logging.NullHandler())
    return logger


def line(memory: Memory, score: float | None = None) -> str:
    """A memory on one line, with its times where it has an end."""
    lead = "" if score is None else f"{score:.2f}  "
    sure = "" if memory.confidence is None else f", {memory.confidence:g}"
    day = "" if memory.valid_from is None else f"{memory.valid_from:%Y-%m-%d}"
    end = "" if memory.valid_until is None else f" until {memory.valid_until:%Y-%m-%d}"
    return f"{lead}{inline(memory.id)}  {day}{end}  {inline(memory.content, 300)} ({inline(memory.type, 40)}{sure})"


def as_dict(memory: Memory) -> dict[str, object]:
    """A memory for scripts."""
    moments = ("created_at", "updated_at", "valid_from", "valid_until")
    return {
        "id": memory.id,
        "type": memory.type,
        "content": memory.content,
        "confidence": memory.confidence,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "pinned": memory.pinned,
        "conversation": memory.conversation_id,
        "owner": memory.owner,
        "access": None if memory.access is None else sorted(memory.access),
        **{name: None if (at := getattr(memory, name)) is None else at.isoformat() for name in moments},
    }
