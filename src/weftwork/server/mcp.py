"""Weftwork as a server of the Model Context Protocol: tools and resources for one user.

The engine blocks and is thread-safe: each request runs in a thread of its own, so that a slow one holds up no other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, TypeVar

from weftwork.engine import Weft
from weftwork.errors import EmbeddingError, InvalidInput, MissingExtra, NotFound
from weftwork.render.quote import inline
from weftwork.render.values import iso
from weftwork.server import resources
from weftwork.server.address import TEMPLATE, to_uri
from weftwork.server.output_cap import DEFAULT_TOKENS, OutputCap
from weftwork.server.tool_schemas import INSTRUCTIONS, Declared
from weftwork.server.tools import EVERYTHING, Answer, McpTools, Reach
from weftwork.types import NodeInfo

try:
    import anyio
    import mcp_types as types
    from mcp.server import Server, ServerRequestContext
    from mcp.shared.exceptions import MCPError
except ModuleNotFoundError as error:
    raise MissingExtra("The MCP server", "mcp") from error

Value = TypeVar("Value")
Asked = ServerRequestContext[Any]

MARKDOWN = "text/markdown"
THREADS = 16
MESSAGE_TOKENS = 150

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
    return Server(
        "weftwork",
        version=version("weftwork"),
        title="Weftwork",
        description="The context that a question needs, from your own notes: permitted, cited, within a budget.",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_completion=handlers.complete,
    )


class Handlers:
    """Between the protocol and the tools: nothing leaves here but answers, and errors that say what to do."""

    def __init__(self, tools: McpTools, threads: anyio.CapacityLimiter) -> None:
        self._tools = tools
        self._threads = threads

    async def list_tools(self, asked: Asked, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """All tools; there is one page of them."""
        return types.ListToolsResult(tools=[_tool(tool) for tool in self._tools.tools.values()])

    async def call_tool(self, asked: Asked, params: types.CallToolRequestParams) -> types.CallToolResult:
        """A tool's answer; a failure is an answer too, so that the model can read what to change."""
        try:
            answer = await self._run(lambda: self._tools.call(params.name, params.arguments))
        except Exception as error:
            return types.CallToolResult(content=[_text(self._message(error))], is_error=True)
        return _result(answer)

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
        """A node as Markdown."""
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
        return await anyio.to_thread.run_sync(call, limiter=self._threads)

    async def _answer(self, call: Callable[[], Value]) -> Value:
        try:
            return await self._run(call)
        except Exception as error:
            raise MCPError(types.INVALID_PARAMS, self._message(error)) from None

    def _message(self, error: Exception) -> str:
        """The message for the caller: what is wrong and what to do, and nothing of the machine that answers."""
        if isinstance(error, InvalidInput | NotFound):
            return self._tools.cap.shorten(str(error), MESSAGE_TOKENS)
        log.error("a request failed", exc_info=error)
        if isinstance(error, EmbeddingError):
            return "the embedding provider does not answer: try again later, or use weftwork_search with mode words"
        return "the server could not answer: try again, or run  weftwork doctor  where it runs; its log says more"


def _tool(tool: Declared) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input),
        output_schema=None if tool.output is None else dict(tool.output),
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


def _result(answer: Answer) -> types.CallToolResult:
    texts = [text for text in (answer.text, answer.notes) if text]
    return types.CallToolResult(content=list(map(_text, texts or [""])), structured_content=answer.structured)


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
