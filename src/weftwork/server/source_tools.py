"""The sources of a workspace: what was added, and what one user may see of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from weftwork.render.quote import inline
from weftwork.render.values import iso
from weftwork.server.address import to_uri
from weftwork.server.output_cap import OutputCap
from weftwork.server.tool_answer import Answer, Arguments, list_answer
from weftwork.store.protocol import View
from weftwork.types import CONTAINERS, Filters, NodeInfo

RECENT = 5_000
"""The number of latest nodes whose sources are listed; all others are found by searching."""


def list_sources(view: View, arguments: Arguments, workspace: str, cap: OutputCap) -> Answer:
    """The files and documents of which a user sees something, those that changed last first."""
    wanted = (arguments["query"] or "").casefold()
    types = frozenset(arguments["types"] or ())
    groups = _by_source(view.select(Filters(exclude_types=CONTAINERS), limit=RECENT))
    entries = []
    for nodes in groups:
        top = _top(nodes)
        if (types and top.type not in types) or wanted not in f"{top.title}\n{top.source}\n{top.id}".casefold():
            continue
        entries.append((_line(top, nodes), _entry(top, nodes, workspace)))
    shown = entries[: arguments["limit"]]
    nothing = "No sources found: try another word, or fewer types."
    return list_answer(cap, "sources", shown, nothing, total=len(entries))


def _by_source(nodes: Iterable[NodeInfo]) -> list[Sequence[NodeInfo]]:
    """The nodes of each source; what has none stands with its parent, or for itself."""
    groups: dict[str, list[NodeInfo]] = {}
    for node in nodes:
        groups.setdefault(node.source or node.parent or node.id, []).append(node)
    return list(groups.values())


def _top(nodes: Sequence[NodeInfo]) -> NodeInfo:
    """The node of a source that all others of it stand in."""
    ids = {node.id for node in nodes}
    return min(nodes, key=lambda node: (node.parent in ids, not node.title, len(node.id), node.id))


def _changed(nodes: Sequence[NodeInfo]) -> str | None:
    moments = [node.updated_at for node in nodes if node.updated_at is not None]
    return iso(max(moments)) if moments else None


def _entry(top: NodeInfo, nodes: Sequence[NodeInfo], workspace: str) -> dict[str, Any]:
    changed = _changed(nodes)
    return {
        "id": top.id,
        "title": inline(top.title, 120),
        "type": inline(top.type, 40),
        "source": inline(top.source, 300),
        "nodes": len(nodes),
        "uri": to_uri(workspace, top.id),
        **({} if changed is None else {"updated": changed}),
    }


def _line(top: NodeInfo, nodes: Sequence[NodeInfo]) -> str:
    changed = _changed(nodes)
    parts = [inline(top.type, 20), f"{len(nodes)} nodes" if len(nodes) > 1 else "", inline(top.source, 160)]
    when = f" changed {changed[:10]}" if changed else ""
    return f"{inline(top.id)}  {inline(top.title, 120) or 'Untitled'} ({', '.join(filter(None, parts))}){when}"
