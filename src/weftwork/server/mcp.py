"""Weftwork as a server of the Model Context Protocol: tools and resources for one user.

The engine blocks and is thread-safe: each request runs in a thread of its own, so that a slow one holds up no other.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, TypeVar, cast

from weftwork.engine import Weft
from weftwork.errors import Ambiguous, EmbeddingError, InvalidInput, MissingExtra, NotFound
from weftwork.render.quote import inline
from weftwork.render.values import iso
from weftwork.server import card, resources
from weftwork.server.address import TEMPLATE, to_uri
from weftwork.server.cost import metered
from weftwork.server.output_cap import DEFAULT_TOKENS, OutputCap
from weftwork.server.tool_answer import Answer
from weftwork.server.tool_schemas import INSTRUCTIONS, Declared
from weftwork.server.tools import EVERYTHING, McpTools, Reach, UnknownTool
from weftwork.types import NodeInfo

try:
    import anyio
    import mcp_types as types
    from mcp.server import Server, ServerRequestContext
    from mcp.server.apps import client_supports_apps
    from mcp.server.caching import CacheableMethod, CacheHint
    from mcp.shared.exceptions import MCPError
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS
except ModuleNotFoundError as error:
    raise MissingExtra("The MCP server", "mcp") from error

Value = TypeVar("Value")
Asked = ServerRequestContext[Any]

MARKDOWN = "text/markdown"
THREADS = 16
MESSAGE_TOKENS = 150
MOST_CHOICES = 20
CARD_TTL_MS = 3_600_000

PROGRESS_SECONDS = 5.0
"""The interval in which a caller that asked for progress hears that its request goes on."""
CACHE_HINTS: Mapping[CacheableMethod, CacheHint] = {
    "server/discover": CacheHint(ttl_ms=3_600_000, scope="private"),
    "tools/list": CacheHint(ttl_ms=3_600_000, scope="private"),
    "resources/templates/list": CacheHint(ttl_ms=3_600_000, scope="private"),
    "resources/list": CacheHint(ttl_ms=10_000, scope="private"),
    "resources/read": CacheHint(ttl_ms=0, scope="private"),
}
"""All of it depends on who asks, and content is stale as soon as somebody writes."""
CHOICE = "node"
"""The name under which the choice of one of several nodes is asked for."""

log = logging.getLogger("weftwork.mcp")


def make_server(
    weft: Weft,
    *,
    workspace: str,
    user: str,
    max_output_tokens: int = DEFAULT_TOKENS,
    reach: Reach = EVERYTHING,
    threads: anyio.CapacityLimiter | None = None,
) -> Server[dict[str, Any]]:
    """The server for one user of a store; run it over stdio or mount it with `streamable_http_app`."""
    tools = McpTools(
        weft, workspace=workspace, user=user, cap=OutputCap(weft.tools.counter, max_output_tokens), reach=reach
    )
    handlers = Handlers(tools, threads or anyio.CapacityLimiter(THREADS))
    server: Server[dict[str, Any]] = Server(
        "weftwork",
        version=version("weftwork"),
        title="Weftwork",
        description="The context that a question needs, from your own notes: permitted, cited, within a budget.",
        instructions=INSTRUCTIONS,
        cache_hints=CACHE_HINTS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_completion=handlers.complete,
    )
    server.extensions[card.EXTENSION] = {}
    return server


class Handlers:
    """Between the protocol and the tools: nothing leaves here but answers, and errors that say what to do."""

    def __init__(
        self, tools: McpTools, threads: anyio.CapacityLimiter, progress_seconds: float = PROGRESS_SECONDS
    ) -> None:
        self._tools = tools
        self._threads = threads
        self._progress_seconds = progress_seconds

    async def list_tools(self, asked: Asked, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """All tools; there is one page of them."""
        return types.ListToolsResult(tools=[_tool(tool) for tool in self._tools.tools.values()])

    async def call_tool(
        self, asked: Asked, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """A tool's answer; a failure is an answer too, so that the model can read what to change."""
        arguments = _with_choice(params)
        try:
            answer = await self._reporting(asked, lambda: self._tools.call(params.name, arguments))
        except UnknownTool as error:
            raise MCPError(types.INVALID_PARAMS, self._message(error)) from None
        except Ambiguous as error:
            if not params.input_responses and _can_choose(asked):
                return _choice_of(error)
            return types.CallToolResult(content=[_text(self._message(error))], is_error=True)
        except Exception as error:
            return types.CallToolResult(content=[_text(self._message(error))], is_error=True)
        return _result(answer, with_card=client_supports_apps(asked))

    async def list_resources(
        self, asked: Asked, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """The nodes that changed last, page by page."""
        page = await self._answer(lambda: resources.recent(self._tools, params.cursor if params else None))
        listed = [_resource(self._tools.workspace, node) for node in page.nodes]
        return types.ListResourcesResult(resources=listed, next_cursor=page.next)

    async def list_templates(
        self, asked: Asked, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """The URI template of nodes."""
        template = types.ResourceTemplate(
            name="node",
            title="A node",
            uri_template=TEMPLATE,
            description="Any node by its workspace and id, as Markdown with fields, links and text",
            mime_type=MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(self, asked: Asked, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """A node as Markdown, or the page of the card."""
        if params.uri == card.URI:
            page = types.TextResourceContents(uri=card.URI, mime_type=card.MIME, text=card.card_html())
            return types.ReadResourceResult(contents=[page], ttl_ms=CARD_TTL_MS)
        text = await self._answer(lambda: resources.read(self._tools, params.uri))
        content = types.TextResourceContents(uri=params.uri, mime_type=MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[content])

    async def complete(self, asked: Asked, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Completions of a part of a URI."""
        chosen = params.context.arguments if params.context and params.context.arguments else {}
        argument = params.argument
        completions = await self._answer(
            lambda: resources.complete(self._tools, argument.name, argument.value, chosen.get("workspace"))
        )
        return types.CompleteResult(completion=types.Completion(values=completions))

    async def _run(self, call: Callable[[], Value]) -> Value:
        """Run a call to its end in a thread; when the request is cancelled meanwhile, its answer is dropped."""
        return await anyio.to_thread.run_sync(metered(call), limiter=self._threads)

    async def _reporting(self, asked: Asked, call: Callable[[], Value]) -> Value:
        """Run a call, and tell a caller that asked for progress every few seconds that it goes on."""

        async def report() -> None:
            for count in itertools.count(1):
                await anyio.sleep(self._progress_seconds)
                await asked.session.report_progress(count, None, "still at work")

        outcome: Value | Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(report)
            try:
                outcome = await self._run(call)
            except Exception as error:  # a task group would wrap it
                outcome = error
            group.cancel_scope.cancel()
        if isinstance(outcome, Exception):
            raise outcome
        return cast("Value", outcome)

    async def _answer(self, call: Callable[[], Value]) -> Value:
        try:
            return await self._run(call)
        except Exception as error:
            code = types.INVALID_PARAMS if isinstance(error, InvalidInput | NotFound) else types.INTERNAL_ERROR
            raise MCPError(code, self._message(error)) from None

    def _message(self, error: Exception) -> str:
        """The message for the caller: what is wrong and what to do, and nothing of the machine that answers."""
        if isinstance(error, InvalidInput | NotFound):
            return self._tools.cap.shorten(str(error), MESSAGE_TOKENS)
        log.error("a request failed", exc_info=error)
        if isinstance(error, EmbeddingError):
            return "the embedding provider does not answer: try again later, or use weftwork_search with mode words"
        return "the server could not answer: try again, or run  weftwork doctor  where it runs; its log says more"


def _can_choose(asked: Asked) -> bool:
    """Return whether the caller can be asked which node is meant: its user gets a form, and the call comes again."""
    able = asked.session.client_capabilities
    return (
        asked.session.protocol_version in MODERN_PROTOCOL_VERSIONS
        and able is not None
        and able.elicitation is not None
        and (able.elicitation.form is not None or able.elicitation.url is None)
    )


def _choice_of(error: Ambiguous) -> types.InputRequiredResult:
    """The form that asks which of several nodes is meant; nothing has to be remembered until the answer comes."""
    options = [{"const": name, "title": inline(label, 120)} for name, label in error.meanings.items()][:MOST_CHOICES]
    form = types.ElicitRequestFormParams(
        message=f"{len(error.meanings)} nodes have this name: which one is meant?",
        requested_schema={
            "type": "object",
            "properties": {CHOICE: {"type": "string", "title": "Node", "oneOf": options}},
            "required": [CHOICE],
        },
    )
    return types.InputRequiredResult(input_requests={CHOICE: types.ElicitRequest(params=form)})


def _with_choice(params: types.CallToolRequestParams) -> dict[str, Any] | None:
    """The arguments of a call, with the node that was chosen where a form had asked for it."""
    chosen = (params.input_responses or {}).get(CHOICE)
    if isinstance(chosen, types.ElicitResult) and chosen.action == "accept" and chosen.content:
        return {**(params.arguments or {}), "id": chosen.content.get(CHOICE)}
    return params.arguments


def _tool(tool: Declared) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input),
        output_schema=None if tool.output is None else dict(tool.output),
        _meta={"ui": {"resourceUri": card.URI}} if tool.name == card.TOOL else None,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.destroys,
            idempotent_hint=not tool.writes,
            open_world_hint=False,
        ),
    )


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=text)


def _result(answer: Answer, *, with_card: bool) -> types.CallToolResult:
    texts = [text for text in (answer.text, answer.notes) if text]
    structured = answer.card if with_card and answer.card is not None else answer.structured
    return types.CallToolResult(content=list(map(_text, texts or [""])), structured_content=structured)


def _resource(workspace: str, node: NodeInfo) -> types.Resource:
    changed = None if node.updated_at is None else types.Annotations(last_modified=iso(node.updated_at))
    return types.Resource(
        uri=to_uri(workspace, node.id),
        name=node.id,
        title=inline(node.title),
        description=node.type,
        mime_type=MARKDOWN,
        annotations=changed,
    )
