"""The graph contract's JSON within a budget: as many nodes, and names of others, as the printed text may count."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from weftwork.errors import InvalidInput
from weftwork.faces.graph_document import ContextDocument, ContextNode, OverflowSummary
from weftwork.faces.graph_nodes import CUT
from weftwork.render.quote import writable
from weftwork.text.tokens import TokenCounter

FOR_NAMES = 10
"""One in so many tokens is kept for the names of what did not fit."""
LEAST_CONTENT = 25
"""With fewer tokens of its content, a node after the first is only named."""

Beside = Callable[[Sequence[ContextNode]], dict[str, Any]]
"""Members beside those of the contract, for the nodes that are shown."""


def as_text(value: object) -> str:
    """JSON as it is printed and counted."""
    return writable(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def fitted(
    document: ContextDocument,
    counter: TokenCounter,
    tokens: int,
    *,
    details: bool = False,
    beside: Beside = lambda nodes: {},
) -> dict[str, Any]:
    """The document as JSON whose text counts no more than `tokens`; what is left out is counted in `nodesOmitted`."""

    def built(nodes: Sequence[ContextNode], names: Sequence[OverflowSummary]) -> dict[str, Any]:
        return _with_usage(
            document, nodes, names, counter, lambda shown: shown.to_dict(details=details) | beside(nodes)
        )

    def cost(nodes: Sequence[ContextNode], names: Sequence[OverflowSummary]) -> int:
        return counter.count(as_text(built(nodes, names)))

    nodes, names = document.nodes, document.overflow
    if cost(nodes, names) <= tokens:
        return built(nodes, names)
    room = tokens - min(200, tokens // FOR_NAMES) if names or len(nodes) > 1 else tokens
    count = _most(len(nodes), lambda number: cost(nodes[:number], ()) <= room)
    whole = nodes[:count]
    least = LEAST_CONTENT if whole else 1
    shown = (
        *whole,
        *_shortened(nodes[count : count + 1], least, counter, lambda cut: cost((*whole, *cut), ()) <= room),
    )
    rest = sorted([*map(_named, nodes[len(shown) :]), *names], key=lambda node: (-node.score, node.id))
    listed = _most(len(rest), lambda number: cost(shown, rest[:number]) <= tokens)
    if cost(shown, rest[:listed]) > tokens:
        raise InvalidInput(
            f"JSON needs at least {cost((), ())} tokens, the budget has {tokens}: ask with format markdown"
        )
    return built(shown, rest[:listed])


def _most(count: int, fits: Callable[[int], bool]) -> int:
    """The most of so many that fit."""
    low, high = 0, count
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _shortened(
    nodes: Sequence[ContextNode], least: int, counter: TokenCounter, fits: Callable[[Sequence[ContextNode]], bool]
) -> tuple[ContextNode, ...]:
    """The first node with as much of its content as fits; none if fewer than the least tokens of it do."""
    if not nodes:
        return ()
    node = nodes[0]

    def cut(number: int) -> tuple[ContextNode, ...]:
        return (replace(node, content=counter.truncate(node.content, number).rstrip() + f"\n{CUT}"),)

    number = _most(counter.count(node.content), lambda number: fits(cut(number)))
    return cut(number) if number >= least else ()


def _named(node: ContextNode) -> OverflowSummary:
    return OverflowSummary(node.id, node.name, node.type, node.tags, node.score)


def _with_usage(
    document: ContextDocument,
    nodes: Sequence[ContextNode],
    names: Sequence[OverflowSummary],
    counter: TokenCounter,
    to_dict: Callable[[ContextDocument], dict[str, Any]],
) -> dict[str, Any]:
    """The JSON that says itself how much it counts."""
    before = document.meta.tokens
    reached = before.nodes_included + before.nodes_summarized + before.nodes_omitted
    usage = replace(
        before,
        nodes_included=len(nodes),
        nodes_summarized=len(names),
        nodes_omitted=max(0, reached - len(nodes) - len(names)),
    )
    values: dict[str, Any] = {}
    for _ in range(4):
        meta = replace(document.meta, tokens=usage)
        values = to_dict(replace(document, meta=meta, nodes=tuple(nodes), overflow=tuple(names)))
        used = counter.count(as_text(values))
        if used == usage.used:
            break
        usage = replace(usage, used=used)
    return values
