"""From ranked passages to documents: what each of them has to offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from weftwork.collect.inquiry import Inquiry
from weftwork.compose.offers import HISTORY, Offer, alone, group, has_fields, offer, outline_nodes
from weftwork.compose.reading import Reading
from weftwork.compose.repeats import LeftOut
from weftwork.types import CONTAINERS, Candidate, Finding, NodeInfo, Outline, Record

TOKENS_A_NODE = 5
"""Documents with more nodes than the budget has tokens for are not read as a whole."""
FEWEST_NODES = 2_000
FEWEST_CHILDREN = 100
SURROUNDINGS = "surroundings"


@dataclass(slots=True)
class Composition:
    """What the documents that were found have to offer, and their passages."""

    offers: list[Offer]
    inquiry: Inquiry
    hits: dict[int, Candidate] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def load(self, keys: Sequence[int]) -> Mapping[int, Candidate]:
        """Passages by their keys: what was found, and what stands around it."""
        missing = [key for key in keys if key not in self.hits]
        if missing:
            for record in self.inquiry.load(missing):
                self.hits[record.passage.key] = _around(record)
        return {key: self.hits[key] for key in keys if key in self.hits}


def compose(
    inquiry: Inquiry, candidates: Sequence[Candidate], *, unit: Literal["document", "node"] = "document"
) -> Composition:
    """Group candidates by document, and find out what of each may be shown."""
    left_out = [LeftOut(each, reason="a folder, with nothing to quote") for each in candidates if _is_bare(each)]
    groups = group([each for each in candidates if not _is_bare(each)], by_document=unit == "document")
    # Pages that collectors have read as a whole need no outline.
    names = list(dict.fromkeys(name for _, name in groups if name and name not in inquiry.pages))
    total = inquiry.request.budget.total
    most = max(FEWEST_NODES, total // TOKENS_A_NODE)
    as_of, excluded = inquiry.request.filters.as_of, inquiry.request.filters.exclude
    outlines = inquiry.view.outlines(names, most=most, as_of=as_of)
    offers = []
    everywhere: dict[str, set[int]] = {}
    for (_, name), found in groups.items():
        everywhere.setdefault(name, set()).update(each.key for each in found)
    for (section, name), found in groups.items():
        outline = outlines.get(name)
        if outline is None or found[0].key < 0:
            outline = _said(found) if section == HISTORY and found[0].key < 0 else alone(found)
        elif len(outline.nodes) == 1 and any(each.asked and each.node.id == name for each in found):
            outline = _with_first_level(inquiry, outline)
        elif not outline.head.valid_at(as_of):
            outline = _without_head(outline, found)
        reading = Reading(_holding(outline, found, excluded))
        elsewhere = everywhere[name] - {each.key for each in found}
        offers.append(offer(section, reading, found, whole=unit == "node", budget=total, elsewhere=elsewhere))
    hits = {each.key: each for each in candidates}
    return Composition([each for each in offers if each.parts], inquiry, hits, left_out)


def _is_bare(candidate: Candidate) -> bool:
    """Whether there is only the name of a folder to show, and nobody asked for it."""
    if candidate.node.type not in CONTAINERS or candidate.asked:
        return False
    return not candidate.passage.text.strip() and not has_fields(candidate)


def _with_first_level(inquiry: Inquiry, outline: Outline) -> Outline:
    """A document that was asked for and is too large to be read whole, with what stands first in it."""
    view, document = inquiry.view, outline.head.id
    most = max(FEWEST_CHILDREN, inquiry.request.budget.total // TOKENS_A_NODE)
    children = [each.id for each in view.children(document, most) if each.valid_at(inquiry.request.filters.as_of)]
    records = inquiry.load([key for keys in view.passages(children).values() for key in keys])
    inside = [_around(record) for record in records if record.document == document]
    return Outline(outline.head, outline.trail, (*outline.nodes, *outline_nodes(inside, depth=1)))


def _without_head(outline: Outline, found: Sequence[Candidate]) -> Outline:
    """The outline of a document that is not valid itself: of its own text only what was asked for by its id."""
    shown = {candidate.key for candidate in found}
    kept = [
        replace(node, keys=(), tokens=()) if node.id == outline.head.id and not shown.intersection(node.keys) else node
        for node in outline.nodes
    ]
    return Outline(outline.head, outline.trail, tuple(kept))


def _holding(outline: Outline, found: Sequence[Candidate], excluded: frozenset[str]) -> Outline:
    """The outline without excluded nodes, and with what was found in it even where it is too large to be read."""
    nodes = [node for node in outline.nodes if node.id not in excluded] if excluded else list(outline.nodes)
    known = {key for node in nodes for key in node.keys}
    missing = [each for each in found if each.key not in known]
    if not missing:
        return outline if len(nodes) == len(outline.nodes) else Outline(outline.head, outline.trail, tuple(nodes))
    return Outline(outline.head, outline.trail, (*nodes, *outline_nodes(missing, depth=1)))


def _said(messages: Sequence[Candidate]) -> Outline:
    """Messages that were handed in with the request, in the order in which they were said."""
    nodes = tuple(outline_nodes(messages, depth=1))
    return Outline(NodeInfo(id=nodes[0].id, type="thread", title="Conversation"), (), nodes)


def _around(record: Record) -> Candidate:
    """A passage that nobody found, as a candidate without evidence."""
    finding = Finding(SURROUNDINGS, 1, 0.0, "stands around a hit", "adjacent")
    return Candidate(
        record.node, record.passage, "", (finding,), record.trail, document=record.document, depth=record.depth
    )
