"""A node as Markdown: what it is, what it is linked with, and its text, from any character on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weftwork.errors import InvalidInput, NotFound
from weftwork.render.quote import fence, inline
from weftwork.render.values import iso
from weftwork.server.address import to_uri
from weftwork.server.output_cap import OutputCap
from weftwork.store.protocol import View
from weftwork.types import Edge, FieldValue, Node, NodeInfo, Passage, shown_fields

MOST_LINKS = 25
MOST_FIELDS = 50


@dataclass(frozen=True, slots=True)
class NodePage:
    """What a viewer may see of a node and around it."""

    workspace: str
    node: Node
    above: tuple[NodeInfo, ...]
    below: tuple[NodeInfo, ...]
    links: tuple[tuple[Edge, NodeInfo], ...]
    cited: Passage | None = None
    """The passage that the reader asked for by its citation."""


def load_node_page(view: View, reference: str) -> NodePage:
    """The node that is meant by an id or a citation."""
    cited = view.cited([reference.strip("[]")])
    passage = cited[0].passage if cited else None
    found = view.nodes([cited[0].node.id if cited else reference])
    if not found:
        raise NotFound(f"there is no node or citation {inline(reference, 80)!r}: find it with weftwork_search")
    return NodePage(
        workspace=view.workspace,
        node=found[0],
        above=tuple(view.ancestors(found[0].id, 5)),
        below=tuple(view.children(found[0].id, MOST_LINKS + 1)),
        links=tuple(view.neighbours(found[0].id, limit=MOST_LINKS + 1)),
        cited=passage,
    )


def show_node_page(page: NodePage, cap: OutputCap, offset: int | None = None) -> str:
    """The page within the cap; what does not fit is read on from the character that it names."""
    text = page.node.text
    if offset is not None and offset > len(text):
        raise InvalidInput(f"offset must be at most {len(text)}, where the text ends, got {offset}")
    if offset is None:
        whole = _whole_page(page, cap, 0)
        if whole is not None:
            return whole
        # A citation of a long text is answered with its passage, not with the start of the text.
        offset = page.cited.start if page.cited else 0
    return _whole_page(page, cap, offset) or _part(page, cap, offset)


def _whole_page(page: NodePage, cap: OutputCap, offset: int) -> str | None:
    text = page.node.text
    if len(text) - offset > 128 * cap.tokens:  # no token is longer, so there is nothing to count
        return None
    head = "\n".join(_lines(page) if offset == 0 else _title(page)) + "\n"
    whole = head + _content(page, offset, text[offset:])
    return whole if cap.fits(whole) else None


def _part(page: NodePage, cap: OutputCap, offset: int) -> str:
    """The page with as much of the text as fits; its head takes no more than half of the room."""
    lines = list(_lines(page) if offset == 0 else _title(page))
    half = cap.tokens // 2

    def head(count: int) -> str:
        shortened = [] if count == len(lines) else ["- (more about it is left out to keep within the output cap)"]
        return "\n".join([*lines[:count], *shortened]) + "\n"

    count = cap.most(len(lines), lambda number: cap.room_beside(head(number)) >= cap.tokens - half)
    return cap.fill(page.node.text[offset:], lambda start: head(count) + _content(page, offset, start))[1]


def _content(page: NodePage, offset: int, part: str) -> str:
    """The text, below a line that says which part of it this is: no text can forge what comes before it."""
    whole, end = len(page.node.text), offset + len(part)
    if not whole:
        return "\nIt has no text of its own.\n"
    if not part and offset == whole:
        return f"\nIts text ends at character {whole}: there is no more to read.\n"
    more = f" Read on with weftwork_read and offset {end}." if end < whole else ""
    return f"\n## Text\n\nCharacters {offset} to {end} of {whole}.{more}\n\n{fence(part)}"


def _title(page: NodePage) -> Iterator[str]:
    node = page.node
    yield f"# {inline(node.title, 120) or 'Untitled'} ({inline(node.type, 20)})"
    yield ""
    yield f"- id: {inline(node.id, 200)}"
    yield f"- address: {to_uri(page.workspace, node.id)}"


def _lines(page: NodePage) -> Iterator[str]:
    yield from _title(page)
    node = page.node
    if page.cited:
        yield f"- cited: [{page.cited.citation}], characters {page.cited.start} to {page.cited.end}"
    for name, value in (
        ("in", " > ".join(inline(each.title or each.id, 60) for each in reversed(page.above))),
        ("tags", " ".join(f"#{inline(tag, 60)}" for tag in node.tags[:MOST_FIELDS])),
        ("source", inline(node.source)),
        ("confidence", "" if node.confidence is None else f"{node.confidence:.2f}"),
        ("created", "" if node.created_at is None else iso(node.created_at)),
        ("updated", "" if node.updated_at is None else iso(node.updated_at)),
    ):
        if value:
            yield f"- {name}: {value}"
    yield from _fields(node)
    yield from _linked(page)


def _fields(node: Node) -> Iterator[str]:
    filled = [(name, value) for name, value in sorted(shown_fields(node.fields).items()) if value is not None]
    if filled:
        yield from ("", "## Fields", "")
    for name, value in filled[:MOST_FIELDS]:
        yield f"- {inline(name, 60)}: {_value(value)}"
    if len(filled) > MOST_FIELDS:
        yield "- (more)"


def _value(value: FieldValue) -> str:
    return ", ".join(map(inline, value[:MOST_FIELDS])) if isinstance(value, tuple) else inline(str(value))


def _linked(page: NodePage) -> Iterator[str]:
    """What is above, below and at the other end of an edge, each with its address."""
    found = [
        *(f"- parent: {_address(page, each)}" for each in page.above[:1]),
        *(f"- child: {_address(page, each)}" for each in page.below[:MOST_LINKS]),
        *(["- (more children)"] if len(page.below) > MOST_LINKS else []),
        *(f"- {_edge(page, edge)}: {_address(page, each)}" for edge, each in page.links[:MOST_LINKS]),
        *(["- (more links)"] if len(page.links) > MOST_LINKS else []),
    ]
    if found:
        yield from ("", "## Links", "", *found)


def _edge(page: NodePage, edge: Edge) -> str:
    label = f" ({inline(edge.label, 60)})" if edge.label else ""
    return f"{inline(edge.type, 30)} {'to' if edge.source == page.node.id else 'from'}{label}"


def _address(page: NodePage, node: NodeInfo) -> str:
    return f"{inline(node.title or node.id, 80)} ({inline(node.type, 20)}) {to_uri(page.workspace, node.id)}"
