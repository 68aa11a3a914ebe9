"""The MCP tools: calls of the engine for one user, as text and as JSON, within the output cap."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from weftwork.document import read_document
from weftwork.engine import Weft
from weftwork.errors import BudgetError, InvalidInput, NotFound, UnknownName
from weftwork.faces.graph import NAMES_ONLY, SUMMARY_BELOW, Asked, ContextAssembler, ContextDocument, as_document
from weftwork.faces.graph_json import as_text, fitted
from weftwork.reference import did_you_mean, resolve
from weftwork.render import FieldChoice, explain, to_dict
from weftwork.render.quote import inline
from weftwork.request import DEFAULT_DEPTH
from weftwork.results import SearchResult
from weftwork.server.address import SCHEME, from_uri, to_uri
from weftwork.server.arguments import read_arguments, whole
from weftwork.server.card import card_of
from weftwork.server.document_page import MOST_LINKS, show_document
from weftwork.server.memory_tools import MemoryTools
from weftwork.server.output_cap import OutputCap
from weftwork.server.receipt_tools import list_receipts, show_receipt
from weftwork.server.source_tools import list_sources
from weftwork.server.tool_answer import Answer, Arguments, as_json
from weftwork.server.tool_schemas import Declared, declare
from weftwork.surface import surface
from weftwork.turn import Place
from weftwork.types import Filters

BESIDE_NOTE = 8
"""Tokens that pay for the lines between a text and a note, however they are counted together."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The part of the user's rights that a caller has."""

    workspaces: frozenset[str] | None = None
    """None for all that the user has."""
    writes: bool = True
    query_characters: int | None = None
    """The longest query that is answered; None for any."""
    depth: int | None = None
    """The most links that a walk may follow; None for as many as the tool allows."""
    changed: Callable[[str, str], None] | None = None
    """Told of each workspace that a tool changed, and of the tool."""

    def check(self, arguments: Arguments) -> None:
        """Refuse what asks for more than that."""
        length, depth = len(arguments.get("query") or ""), arguments.get("depth") or 0
        for name, asked, most in (
            ("the length of the query", length, self.query_characters),
            ("depth", depth, self.depth),
        ):
            if most is not None and asked > most:
                raise InvalidInput(f"{name} is {asked:,}, and this server allows at most {most:,}: ask for less")

    def includes(self, workspace: str) -> bool:
        """Return whether a workspace may be asked about."""
        return self.workspaces is None or workspace in self.workspaces


EVERYTHING = Reach()


class UnknownTool(UnknownName):
    """A call of a tool that is not offered: an error of the protocol, not of a tool."""


class McpTools:
    """Answers for one user, who is chosen when the server starts and by no argument. Thread-safe."""

    def __init__(self, weft: Weft, *, workspace: str, user: str, cap: OutputCap, reach: Reach = EVERYTHING) -> None:
        self.weft = weft
        self.workspace = workspace
        self.user = user
        self.cap = cap
        self.reach = reach
        with weft.store.view(workspace, user):
            pass  # an unknown workspace or user is an error now, not at the first question
        recipes = [recipe.name for recipe in weft.tools.recipes.all()]
        declared = declare(workspace, weft.tools.lenses.names(), recipes, weft.tools.budget)
        self.tools: dict[str, Declared] = {
            name: tool for name, tool in declared.items() if reach.writes or not tool.writes
        }
        self._answers: dict[str, Callable[[Arguments], Answer]] = {
            "weftwork_context": self._context,
            "weftwork_search": self._search,
            "weftwork_read": self._read,
            "weftwork_sources": self._sources,
            **MemoryTools(weft, user, cap, self.where).answers(),
            "weftwork_explain": self._explain,
            "weftwork_receipts": self._receipts,
        }

    def call(self, tool: str, arguments: Arguments | None) -> Answer:
        """Run a tool; raises a WeftError where it cannot answer."""
        if tool not in self.tools:
            raise UnknownTool("tool", inline(tool, 80), self.tools)
        read = read_arguments(self.tools[tool].input, arguments)
        if (arguments or {}).get("maxTokens") is None:
            read["maxTokens"] = None  # the default that is told is the engine's, and a recipe may have its own
        self.reach.check(read)
        with surface("mcp"):
            answer = self._answers[tool](read)
        if self.tools[tool].writes and self.reach.changed is not None:
            self.reach.changed(self.where(read.get("workspace")), tool)
        return answer

    def where(self, workspace: str | None) -> str:
        """The workspace that is meant; one in which the user is unknown is reported like one that does not exist."""
        if workspace is None or workspace == self.workspace:
            return self.workspace
        if self.reach.includes(workspace):
            with suppress(NotFound), self.weft.store.view(workspace, self.user):
                return workspace
        raise NotFound(
            f"there is no workspace {inline(workspace, 80)!r} for you: leave it out to use {self.workspace!r}"
        )

    def workspaces(self) -> list[str]:
        """The workspaces that the user belongs to, as far as this tools reaches."""
        store = self.weft.store
        reached = [name for name in store.workspaces() if self.reach.includes(name)]
        return [name for name in reached if self.user in store.users(name)]

    def _context(self, arguments: Arguments) -> Answer:
        tokens = self._budget(arguments)
        document = self._capped(arguments, tokens)
        counter, most = self.weft.tools.counter, min(self._asked(arguments), self.cap.tokens)
        if arguments["format"] == "json":
            # Text alone: the same again as structured content would count twice.
            return Answer(as_text(fitted(document, counter, most, details=arguments["details"])))
        # The graph face has its notes in the header of its text.
        told = [] if document.headed else [f"({note})" for note in document.meta.notes]
        room = most - counter.count(document.markdown) - BESIDE_NOTE if document.markdown else most
        while told and counter.count("\n".join(told)) > room:
            told.pop()
        if not document.markdown and not told:
            raise BudgetError(f"a budget of {most} tokens holds no answer: give {SUMMARY_BELOW} or more as maxTokens")
        return Answer(document.markdown, notes="\n".join(told), card=card_of(document.context, self.cap))

    def _explain(self, arguments: Arguments) -> Answer:
        context = self._assemble(arguments, self._budget(arguments)).context
        if arguments["format"] == "markdown":
            note = "(More candidates are left out to keep within the output cap: ask with a smaller depth.)"
            return Answer(self.cap.cut(explain(context), note))
        decisions = to_dict(context)["decisions"]

        def shown(count: int) -> dict[str, Any]:
            return {"decisions": decisions[:count], "leftOut": len(decisions) - count}

        count = self.cap.most(len(decisions), lambda number: self.cap.fits(as_json(shown(number))))
        return Answer(as_json(shown(count)), shown(count))

    def _assemble(self, arguments: Arguments, tokens: int) -> ContextDocument:
        depth = None if arguments["depth"] is None else whole("depth", arguments["depth"])
        asked: dict[str, Any] = {"workspace": self.where(arguments["workspace"]), "user": self.user}
        if not arguments["query"].strip():
            raise InvalidInput("there is nothing to start from: give a question, a topic or a node's id")
        # weftwork_explain asks without these.
        asked["edge_types"] = tuple(arguments.get("edgeTypes") or ())
        asked["filters"] = Filters(exclude=frozenset(arguments.get("exclude") or ()))
        asked["show"] = frozenset({"route"} if arguments.get("routes") else ())
        if arguments["recipe"] == "graph":
            return ContextAssembler(self.weft).assemble(
                arguments["query"],
                depth=DEFAULT_DEPTH if depth is None else depth,
                max_tokens=tokens,
                include_fields=arguments["includeFields"],
                lens=arguments["lens"] or "general",
                limit=arguments.get("limit"),
                hub_limit=arguments.get("hubLimit"),
                **asked,
            )
        context = self.weft.context(
            arguments["query"],
            budget=tokens,
            recipe=arguments["recipe"],
            depth=depth,
            lens=arguments["lens"],
            show_fields=arguments["includeFields"],
            **asked,
        )
        fields = FieldChoice(arguments["includeFields"])
        about = Asked(lens=arguments["lens"] or "general", depth=depth or 0, fields=fields)
        return as_document(self.weft, context, about)

    def _budget(self, arguments: Arguments) -> int:
        """The tokens that are asked for, as far as the cap allows."""
        asked = self._asked(arguments)
        return asked if asked <= self.cap.tokens else self.cap.room_beside(self._note(arguments)) - BESIDE_NOTE

    def _asked(self, arguments: Arguments) -> int:
        """The tokens that are asked for, or the recipe's or the engine's own."""
        if arguments["maxTokens"] is not None:
            return whole("maxTokens", arguments["maxTokens"])
        return self.weft.default_budget(self.weft.tools.recipes.get(arguments["recipe"]))

    def _note(self, arguments: Arguments) -> str:
        """The warning that the cap made a budget smaller."""
        form = arguments["format"]
        return f"shortened: maxTokens is more than this server's output cap of {self.cap.tokens} tokens holds as {form}"

    def _capped(self, arguments: Arguments, tokens: int) -> ContextDocument:
        """The document for so many tokens; it tells what was asked for, and whether the cap made it shorter."""
        document = self._assemble(arguments, tokens)
        asked = self._asked(arguments)
        if tokens == asked:
            return document
        meta = document.meta
        # To give more tokens is no advice where the cap, and not the caller, gave so few.
        warnings = tuple(each for each in meta.warnings if each != NAMES_ONLY or asked < SUMMARY_BELOW)
        if document.context.truncated or warnings != meta.warnings or tokens < self._budget(arguments):
            warnings = (self._note(arguments), *warnings)
        return replace(document, meta=replace(meta, tokens=replace(meta.tokens, budget=asked), warnings=warnings))

    def _search(self, arguments: Arguments) -> Answer:
        workspace = self.where(arguments["workspace"])
        results = self.weft.search(
            arguments["query"],
            user=self.user,
            workspace=workspace,
            limit=arguments["limit"],
            mode=arguments["mode"],
            filters=Filters(types=frozenset(arguments["types"] or ()), tags=frozenset(arguments["tags"] or ())),
        )
        hits = [_hit(result, workspace) for result in results]

        def structured(count: int) -> dict[str, Any]:
            return {"results": hits[:count], "leftOut": len(hits) - count}

        def fits(count: int) -> bool:
            return self.cap.fits(_listed(hits, count)) and self.cap.fits(as_json(structured(count)))

        count = self.cap.most(len(hits), fits)
        return Answer(_listed(hits, count), structured(count))

    def _read(self, arguments: Arguments) -> Answer:
        reference, workspace = arguments["id"], arguments["workspace"]
        if reference.startswith(SCHEME):
            workspace, reference = from_uri(reference)
        workspace = self.where(workspace)
        text = self.page(reference, workspace, arguments["start"] or "")
        return Answer(text)

    def _receipts(self, arguments: Arguments) -> Answer:
        where = Place(user=self.user, workspace=self.where(arguments["workspace"]))
        if arguments["id"]:
            return show_receipt(self.weft.receipts.get(arguments["id"], **where), self.cap)
        return list_receipts(self.weft.receipts.list(arguments["limit"], **where), self.cap)

    def _sources(self, arguments: Arguments) -> Answer:
        workspace = self.where(arguments["workspace"])
        with self.weft.store.view(workspace, self.user) as view:
            return list_sources(view, arguments, workspace, self.cap)

    def page(self, reference: str, workspace: str, start: str = "") -> str:
        """A document, or a part of one, as Markdown."""
        with self.weft.store.view(workspace, self.user) as view:
            try:
                node = resolve(view, reference, titles=True).node
            except NotFound:
                hint = did_you_mean(view, reference)
                raise NotFound(
                    f"there is no node {inline(reference, 80)!r}: {hint}find it with weftwork_search"
                ) from None
            links = view.neighbours(node, limit=MOST_LINKS + 1)
            counter = self.weft.tools.counter
            return show_document(
                lambda room: read_document(view, reference, counter, start=start, tokens=room),
                workspace, links, self.cap, start,
            )  # fmt: skip


def _hit(result: SearchResult, workspace: str) -> dict[str, Any]:
    return {
        "citation": result.passage.citation,
        "id": result.node.id,
        "type": result.node.type,
        "title": inline(result.node.title, 120),
        "path": [inline(title, 60) for title in reversed(result.trail)],
        "score": round(result.score, 4),
        "excerpt": inline(result.excerpt.replace("<<<", "*").replace(">>>", "*"), 300),
        "uri": to_uri(workspace, result.node.id),
    }


def _listed(hits: list[dict[str, Any]], count: int) -> str:
    """The first results, three lines each, and what to do about the rest."""
    if not hits:
        return "Nothing found: try other words, or fewer types and tags."
    lines = []
    for each in hits[:count]:
        where = f" in {' > '.join(each['path'])}" if each["path"] else ""
        lines.append(
            f"[{each['citation']}] {each['title'] or 'Untitled'} ({inline(each['type'], 20)}){where}\n"
            f"  {each['uri']}  score {each['score']:.2f}\n"
            f"  {each['excerpt']}"
        )
    if count < len(hits):
        lines.append(f"({len(hits) - count} more left out to keep within the output cap: ask for a smaller limit.)")
    return "\n".join(lines)
