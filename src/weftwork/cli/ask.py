from __future__ import annotations

import os
import shlex
import sys
from typing import Any, get_args

import click

from weftwork.cli.options import as_json, one_line, piped, print_json, settings
from weftwork.config import Config
from weftwork.faces.opening import open_configured
from weftwork.faces.research import (
    ChatModel,
    Mode,
    ModelSettings,
    ResearchAnswer,
    SourceDocument,
    ask_events,
    research,
)
from weftwork.faces.research.extract import NOTHING
from weftwork.render.quote import clean, inline


@click.command("ask")
@click.argument("question", nargs=-1, required=True, callback=piped)
@click.option("--sources", type=click.IntRange(1, 100), default=10, show_default=True, help="Most sources to use.")
@click.option("--max-tokens", type=int, default=10_000, show_default=True, help="Most tokens of the sources.")
@click.option(
    "--mode", type=click.Choice(get_args(Mode)), default="everything", show_default=True,
    help="What is searched: everything, or the pages of documents by text, look or both.",
)  # fmt: skip
@click.option("--min-support", type=click.FloatRange(0, 1), help="How little is an answer: 0 shows what is nearest.")
@click.option("--extractive", is_flag=True, help="Quote the sources, even if a model is configured.")
@as_json
@settings
def command(
    *,
    question: tuple[str, ...],
    sources: int,
    max_tokens: int,
    mode: Mode,
    min_support: float | None,
    extractive: bool,
    as_json: bool,
    config: Config,
) -> None:
    """Answer a question from all that was added, with citations. Where nothing answers, the exit code is 1.

    A model answers if one is named in [model] of weftwork.toml (name, url, key_env) or in WEFTWORK_MODEL_NAME,
    WEFTWORK_MODEL_URL and WEFTWORK_MODEL_KEY; its citations are checked. Without one the answer quotes the sources.

    \b
    weftwork ask "What does the plan pay for hearing aids?"
    weftwork ask - < question.txt
    weftwork ask "Which chart shows inflation?" --mode visual --json
    """
    chosen = None if extractive else ModelSettings.from_mapping(config.model, os.environ)
    with open_configured(config) as weft:
        asked = " ".join(question)
        limits: dict[str, Any] = {"max_sources": sources, "max_tokens": max_tokens, "min_support": min_support}
        found = research(weft, asked, mode=mode, user=config.user, workspace=config.workspace, **limits)
        model = None if chosen is None else ChatModel(chosen)
        events = ask_events(asked, found, model=model, embedder=weft.tools.embedder, stream=False)
        for event in events:
            match event:
                case "piece", text if not as_json:
                    click.echo(clean(text), nl=False)
                case "done", answer:
                    print_json(answer.to_dict()) if as_json else _print_sources(answer)
                    answered = answer.answer != NOTHING
    if not answered:
        sys.exit(1)


def _print_sources(answer: ResearchAnswer) -> None:
    """Print the sources of an answer, and the problems of its citations."""
    click.echo()
    uncited = range(1, len(answer.sources) + 1) if answer.model else ()
    shown = sorted(answer.cited) or uncited
    if shown:
        click.echo("\nSources:")
    for number in shown:
        click.echo(f"[{number}] {_source(answer.sources[number - 1])}")
    if answer.note:
        click.echo(f"note: {answer.note}", err=True)
    for number in answer.unknown:
        click.secho(f"warning: the answer cites [{number}], which is no source", fg="yellow", err=True)
    for quote in answer.uncited:
        text = f"warning: the words of [{quote.source}] are not cited: {inline(quote.sentence, 120)}"
        click.secho(text, fg="yellow", err=True)


def _source(source: SourceDocument) -> str:
    page = f", page {source.page}" if source.page else ""
    section = f": {one_line(source.section_path, 100)}" if source.section_path else ""
    hint = "" if source.node_id is None else f"  (weftwork read {shlex.quote(source.node_id)})"
    return f"{one_line(source.filename, 100)}{page}{section}{hint}"
