"""The options of a request for a context, shared by the commands that make one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weftwork.cli.dates import MOMENT
from weftwork.cli.options import piped
from weftwork.config import Config
from weftwork.delta import Delta
from weftwork.engine import Weft
from weftwork.errors import InvalidInput
from weftwork.faces.opening import open_configured
from weftwork.reference import resolve
from weftwork.render import lean
from weftwork.request import DEFAULT_DEPTH, Topic
from weftwork.types import Context, Filters
from weftwork.wire import encode

if TYPE_CHECKING:
    from weftwork.faces.graph_document import ContextDocument, ContextNode

_WEIGHTED = re.compile(r"(?!.*\d:\d\d$)(.+):(\d{1,2}(?:\.\d+)?)", re.DOTALL)
Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS = (
    click.argument("query", nargs=-1, callback=piped),
    click.option("--max-tokens", "--budget", "max_tokens", type=int, help="Token budget.  [default: 4000]"),
    click.option("--depth", type=int, help="How far links are followed, 1 to 5."),
    click.option("--lens", help="What to prefer: see  weftwork lens list."),
    click.option(
        "--topic",
        "topics",
        multiple=True,
        help="A topic beside the words of QUERY, which are one; TOPIC:2 counts twice.",
    ),
    click.option("--include-fields/--no-include-fields", default=True, help="Show field values.  [default: yes]"),
    click.option("--focus", help="Id, title, path or citation of what the user works on."),
    click.option("--thread", help="Id of the thread that the query belongs to."),
    click.option("--type", "types", multiple=True, help="Search only this type of node."),
    click.option("--tag", "tags", multiple=True, help="Search only what has this tag."),
    click.option("--edge", "edge_types", multiple=True, help="Follow only this type of link, such as reference."),
    click.option("--exclude", multiple=True, metavar="ID", help="Leave this node out."),
    click.option("--routes", is_flag=True, help="Tell how each document was reached."),
    click.option("--limit", type=int, help="Most nodes that recipe graph reaches.  [default: 100]"),
    click.option("--hub-limit", type=int, help="Most neighbours of a node that it follows.  [default: 50]"),
    click.option("--as-of", type=MOMENT, help="Use what held at this date, such as 2026-03-01."),
    click.option(
        "--min-support",
        type=click.FloatRange(0, 1),
        help="Show nothing where the best evidence answers less; 0 shows whatever is nearest.  [default: 0.5]",
    ),
    click.option("--recipe", default="default", show_default=True, help="How to look: graph walks from a node."),
)


def asking(command: Command) -> Command:
    """Add the options of a request."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Answer:
    """A context, the graph recipe's document of it, and the delta to an earlier context."""

    context: Context
    document: ContextDocument | None = None
    delta: Delta | None = None
    fitted: Mapping[str, Any] = field(default_factory=dict)
    """The JSON of the document within the budget."""

    @property
    def markdown(self) -> str:
        """The text to print."""
        if self.delta is not None:
            return self.delta.text
        return self.context.text if self.document is None else self.document.markdown

    @property
    def is_empty(self) -> bool:
        """True where nothing answers; what was found and does not fit is another matter."""
        context = self.context
        return self.delta is None and not (context.excerpts or context.overflow or context.truncated)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the context."""
        return self.context.warnings if self.document is None else self.document.meta.notes


def ask(
    config: Config,
    *,
    query: tuple[str, ...],
    topics: tuple[str, ...],
    recipe: str,
    types: tuple[str, ...],
    tags: tuple[str, ...],
    as_of: datetime | None,
    form: str = "markdown",
    **more: Any,
) -> Answer:
    """Return the context for the options of a command."""
    all_topics = [Topic(" ".join(query))] if " ".join(query).strip() else []
    all_topics += map(_topic, topics)
    if not all_topics and more["focus"] is None and more["thread"] is None:
        raise InvalidInput("there is nothing to start from: give a question, a topic, a node's id or a focus")
    excluded = frozenset(more.pop("exclude"))
    more["filters"] = Filters(types=frozenset(types), tags=frozenset(tags), as_of=as_of, exclude=excluded)
    since, remember = more.pop("since", None), more.pop("remember", False)
    with open_configured(config) as weft:
        if more["focus"] is not None:
            with weft.store.view(config.workspace, config.user) as view:
                more["focus"] = resolve(view, more["focus"], titles=True).node
        if recipe == "graph":
            answer = _of_graph(weft, config, all_topics, form, **more)
        else:
            if more.pop("limit") is not None or more.pop("hub_limit") is not None:
                raise InvalidInput("--limit and --hub-limit are for a walk from a node: add --recipe graph")
            more["show"] = frozenset({"route"} if more.pop("routes") else ())
            answer = _of_recipe(weft, config, recipe, all_topics if topics else [], " ".join(query), **more)
        if since is not None:
            return replace(answer, delta=weft.since(since, answer.context, thread=more["thread"]))
        if remember:
            weft.earlier.note(answer.context, more["thread"], keep=True)
        return answer


def _of_graph(weft: Weft, config: Config, topics: list[Topic], form: str, **more: Any) -> Answer:
    """The answer of the graph face; JSON has the sources of its nodes as well."""
    from weftwork.faces.graph import ContextAssembler  # noqa: PLC0415 - only for this recipe
    from weftwork.faces.graph_json import fitted  # noqa: PLC0415

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
    context = document.context

    def citations(nodes: Sequence[ContextNode]) -> dict[str, Any]:
        shown = {citation for node in nodes for citation in node.citations}
        return {
            "citations": encode([cited for cited in lean(context).citations if cited.id in shown]),
            "id": context.id,
        }

    if form != "json":
        return Answer(context, document)
    budget = document.meta.tokens.budget
    return Answer(context, document, fitted=fitted(document, weft.tools.counter, budget, beside=citations))


def _of_recipe(weft: Weft, config: Config, recipe: str, topics: list[Topic], query: str, **more: Any) -> Answer:
    context = weft.context(
        query,
        user=config.user,
        workspace=config.workspace,
        budget=more.pop("max_tokens"),
        recipe=recipe,
        topics=tuple(topics),
        show_fields=more.pop("include_fields"),
        **more,
    )
    return Answer(context)


def _topic(text: str) -> Topic:
    """Parse a topic and its weight, a number below 100 after the last colon; 10:30 is a time."""
    match = _WEIGHTED.fullmatch(text)
    return Topic(match[1], float(match[2])) if match else Topic(text)
