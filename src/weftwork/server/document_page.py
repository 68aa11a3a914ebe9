"""A document for a model to read: front matter that says what it is and how to read on, and below it the text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from weftwork.document import LEAST_TOKENS, DocumentText
from weftwork.render.quote import inline
from weftwork.render.values import iso
from weftwork.server.address import to_uri
from weftwork.server.output_cap import OutputCap
from weftwork.types import Edge, NodeInfo

MOST_LINKS = 25
LEAST_LINES = 2
"""Lines of the front matter that say which node it is: these always stand in it."""

Link = tuple[Edge, NodeInfo]


def show_document(
    read: Callable[[int], DocumentText], workspace: str, links: Sequence[Link], cap: OutputCap, start: str = ""
) -> str:
    """As much of a document as the cap allows, all that goes around it included; `read` is given the room."""
    room = cap.tokens
    while True:
        document = read(max(LEAST_TOKENS, room))
        lines = [*_about(document, workspace), *(() if start else _linked(document, workspace, links))]
        page = _page(document, lines[: max(LEAST_LINES, _most(cap, lines))])
        excess = cap.excess(page)
        if excess <= 0 or room <= LEAST_TOKENS:
            return page if excess <= 0 else cap.shorten(page, cap.tokens)
        room = max(LEAST_TOKENS, min(room, document.tokens) - excess)


def _most(cap: OutputCap, lines: Sequence[str]) -> int:
    """The number of lines about a text that have room in half of the cap."""
    return cap.most(len(lines), lambda count: cap.room_beside("\n".join(lines[:count])) >= cap.tokens // 2)


def _page(document: DocumentText, lines: Sequence[str]) -> str:
    """Front matter comes first: no text can forge what stands before it."""
    text = document.text or "(It has no text of its own.)"
    return "\n".join(("---", *lines, "---", "", text)).rstrip() + "\n"


def _about(document: DocumentText, workspace: str) -> Iterator[str]:
    node = document.node
    yield f"id: {inline(node.id, 200)} ({inline(node.type, 20)})"
    yield _part(document)
    yield f"address: {to_uri(workspace, node.id)}"
    if node.id != document.document.id:
        yield f"document: {_named(document.document, workspace)}"
    for name, value in (
        ("in", " > ".join(inline(title, 60) for title in reversed(document.trail))),
        ("source", inline(node.source)),
        ("confidence", "" if node.confidence is None else f"{node.confidence:.2f}"),
        ("created", "" if node.created_at is None else iso(node.created_at)),
        ("updated", "" if node.updated_at is None else iso(node.updated_at)),
    ):
        if value:
            yield f"{name}: {value}"
    yield from (f"holds: {_named(each, workspace)}" for each in document.holds)


def _part(document: DocumentText) -> str:
    """The range of the document that is shown, and the exact call for the next one."""
    before = f", after {document.before:,} tokens that are read without start" if document.before else ""
    if not document.next:
        return f"tokens: {document.tokens:,}, to the end{before}"
    call = json.dumps({"id": document.node.id, "start": document.next}, ensure_ascii=False)
    return f"tokens: {document.tokens:,}, about {document.left:,} left{before}; read on: weftwork_read {call}"


def _linked(document: DocumentText, workspace: str, links: Sequence[Link]) -> Iterator[str]:
    """The nodes at the other ends of its edges, each with its address."""
    for edge, other in links[:MOST_LINKS]:
        label = f" ({inline(edge.label, 60)})" if edge.label else ""
        way = "to" if edge.source == document.node.id else "from"
        yield f"link: {inline(edge.type, 30)} {way}{label} {_named(other, workspace)}"
    if len(links) > MOST_LINKS:
        yield "link: (more)"


def _named(node: NodeInfo, workspace: str) -> str:
    return f"{inline(node.title or node.id, 80)} ({inline(node.type, 20)}) {to_uri(workspace, node.id)}"
