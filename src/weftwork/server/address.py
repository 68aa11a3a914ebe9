"""Nodes as URIs: `weftwork://{workspace}/{node id}`, each part percent-encoded."""

from __future__ import annotations

from urllib.parse import quote, unquote

from weftwork.errors import InvalidInput
from weftwork.render.quote import inline, writable

SCHEME = "weftwork://"
TEMPLATE = SCHEME + "{workspace}/{id}"


def to_uri(workspace: str, node: str) -> str:
    """The URI of a node."""
    return f"{SCHEME}{quote(writable(workspace), safe='')}/{quote(writable(node), safe='')}"


def from_uri(uri: str) -> tuple[str, str]:
    """The workspace and the node id that a URI names."""
    workspace, slash, node = uri.removeprefix(SCHEME).partition("/")
    if not (uri.startswith(SCHEME) and workspace and slash and node):
        raise InvalidInput(f"{inline(uri, 80)} is no address of a node: use {TEMPLATE}, each part percent-encoded")
    return unquote(workspace, errors="replace"), unquote(node, errors="replace")
