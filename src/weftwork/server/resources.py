"""Nodes as resources: which there are to pick from, and what a half-typed address may mean."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.errors import InvalidInput, NotFound
from weftwork.render.quote import inline
from weftwork.server.address import from_uri
from weftwork.server.tools import McpTools
from weftwork.types import Filters, NodeInfo

PAGE = 50
RECENT = 500
"""The number of latest nodes that can be picked from a list; all others are found by searching."""
MOST_COMPLETIONS = 100


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """A page of the list of resources."""

    nodes: tuple[NodeInfo, ...]
    next: str | None


def recent(tools: McpTools, cursor: str | None) -> ResourcePage:
    """The nodes with a title that changed last, page by page."""
    start = _position(cursor)
    nodes = _latest(tools, tools.workspace)
    return ResourcePage(tuple(nodes[start : start + PAGE]), str(start + PAGE) if start + PAGE < len(nodes) else None)


def read(tools: McpTools, uri: str) -> str:
    """The node at an address, as Markdown; what is hidden is reported like what does not exist."""
    workspace, node = from_uri(uri)
    try:
        return tools.page(node, tools.where(workspace))
    except NotFound:
        raise NotFound(f"there is nothing at {inline(uri, 200)}: find it with weftwork_search") from None


def complete(tools: McpTools, argument: str, typed: str, workspace: str | None) -> list[str]:
    """Completions of the start of a workspace's name, or of a node's id or title."""
    typed = typed.casefold()
    if argument == "workspace":
        completions = [name for name in tools.workspaces() if name.casefold().startswith(typed)]
    elif argument == "id":
        nodes = _latest(tools, tools.where(workspace))
        completions = [node.id for node in nodes if typed in node.id.casefold() or typed in node.title.casefold()]
    else:
        completions = []
    return completions[:MOST_COMPLETIONS]


def _latest(tools: McpTools, workspace: str) -> list[NodeInfo]:
    with tools.weft.store.view(workspace, tools.user) as view:
        return [node for node in view.select(Filters(as_of=tools.weft.now()), limit=RECENT) if inline(node.title)]


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 4):
        raise InvalidInput(f"unknown cursor {inline(cursor, 40)!r}: leave it out to begin at the start")
    return int(cursor)
