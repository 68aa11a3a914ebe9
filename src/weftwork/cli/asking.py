"""The arguments of a request for a context, shared by the commands that make one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import click

from weftwork.cli.dates import MOMENT
from weftwork.config import Config
from weftwork.delta import Delta
from weftwork.engine import Weft
from weftwork.faces.graph import ContextAssembler, ContextDocument
from weftwork.faces.memory import memory_settings
from weftwork.faces.opening import open_configured
from weftwork.faces.workspace import WorkspaceConfig, configured_recipe
from weftwork.recipe import Recipe
from weftwork.request import DEFAULT_DEPTH, Topic
from weftwork.types import Context, Filters

_WEIGHTED = re.compile(r"(?!.*\d:\d\d$)(.+):(\d{1,2}(?:\.\d+)?)", re.DOTALL)
Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS = (
    click.argument("query", nargs=-1),
    click.option("--max-tokens", "--budget", "max_tokens", type=int, help="Token budget.  [default: 4000]"),
    click.option("--depth", type=int, help="How far the graph is walked, 1 to 5.  [default: 2]"),
    click.option("--lens", help="What to prefer: see  weftwork lens list.  [default: general, with the recipe graph]"),
    click.option(
        "--topic",
        "topics",
        multiple=True,
        help="A topic beside the words of QUERY, which are one; TOPIC:2 counts twice.",
    ),
    click.option("--include-fields/--no-include-fields", default=True, help="Show field values.  [default: yes]"),
    click.option("--focus", help="Id of the node that the user works on."),
    click.option("--thread", help="Id of the thread that the query belongs to."),
    click.option("--type", "types", multiple=True, help="Search only this type of node."),
    click.option("--tag", "tags", multiple=True, help="Search only what has this tag."),
    click.option("--as-of", type=MOMENT, help="Use what held at this date, such as 2026-03-01."),
    click.option("--recipe", help="Which recipe.  [default: graph, or default with --thread]"),
)


def asking(command: Command) -> Command:
    """Add the arguments of a request."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Answer:
    """A context, the document that the graph recipe makes of it, and what changed since an earlier one."""

    context: Context
    document: ContextDocument | None = None
    delta: Delta | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What whoever asked should know."""
        return self.context.warnings if self.document is None else self.document.meta.notes


def ask(
    config: Config,
    *,
    query: tuple[str, ...],
    topics: tuple[str, ...],
    recipe: str | None,
    types: tuple[str, ...],
    tags: tuple[str, ...],
    as_of: datetime | None,
    **more: Any,
) -> Answer:
    """The context for what was asked on the command line."""
    asked = [Topic(" ".join(query))] if " ".join(query).strip() else []
    asked += map(_topic, topics)
    more["filters"] = Filters(types=frozenset(types), tags=frozenset(tags), as_of=as_of)
    recipe = recipe or ("default" if more["thread"] else "graph")
    since, remember = more.pop("since", None), more.pop("remember", False)
    with open_configured(config) as weft:
        if recipe == "graph":
            answer = _document(weft, config, asked, **more)
        else:
            answer = _context(weft, config, asked if topics else (), " ".join(query), recipe, **more)
        if since is not None:
            return replace(answer, delta=weft.since(since, answer.context, thread=more["thread"]))
        if remember:
            weft.earlier.note(answer.context, more["thread"], keep=True)
        return answer


def _document(weft: Weft, config: Config, topics: list[Topic], **more: Any) -> Answer:
    max_tokens, depth, lens = (more.pop(name) for name in ("max_tokens", "depth", "lens"))
    document = ContextAssembler(weft).assemble(
        topics,
        workspace=config.workspace,
        user=config.user,
        depth=DEFAULT_DEPTH if depth is None else depth,
        max_tokens=config.budget if max_tokens is None else max_tokens,
        lens=lens or "general",
        **more,
    )
    return Answer(document.context, document)


def _context(weft: Weft, config: Config, topics: Any, query: str, recipe: str, **more: Any) -> Answer:
    max_tokens, show_fields = more.pop("max_tokens"), more.pop("include_fields")
    context = weft.context(
        query,
        user=config.user,
        workspace=config.workspace,
        budget=_room(config, recipe) if max_tokens is None else max_tokens,
        recipe=_configured(weft, config, recipe),
        topics=tuple(topics),
        show_fields=show_fields,
        decay=memory_settings(config.recipes.get("memory", {})),
        **more,
    )
    return Answer(context)


def _configured(weft: Weft, config: Config, recipe: str) -> str | Recipe:
    """The recipe of this name, as the settings want it."""
    if recipe != "workspace":
        return recipe
    embedder = weft.tools.embedder
    settings = WorkspaceConfig.from_mapping(config.recipes.get(recipe, {}))
    return configured_recipe(settings, "" if embedder is None else embedder.model)


def _room(config: Config, recipe: str) -> int:
    """The tokens for a context where the command names none: the recipe's own, if its settings say how many."""
    table = config.recipes.get("workspace", {}) if recipe == "workspace" else {}
    budget = WorkspaceConfig.from_mapping(table).token_budget
    return budget.room if {"total", "system"} & set(table.get("token_budget", ())) else config.budget


def _topic(text: str) -> Topic:
    """A topic, with its weight after the last colon if a number below 100 stands there; 10:30 is a time."""
    found = _WEIGHTED.fullmatch(text)
    return Topic(found[1], float(found[2])) if found else Topic(text)
