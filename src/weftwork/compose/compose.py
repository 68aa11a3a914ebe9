"""Composition: from ranked passages to documents and the parts of them that may be shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from weftwork.collect.inquiry import Inquiry
from weftwork.compose.offers import HISTORY, Offer, alone, group, has_fields, offer, outline_nodes
from weftwork.compose.ordering import nothing_to_quote
from weftwork.compose.reading import Reading
from weftwork.text.instructions import instruction_marks
from weftwork.types import Candidate, Decision, Finding, NodeInfo, Outline, Record

TOKENS_A_NODE = 5
"""Documents with more nodes than the budget has tokens for are not read as a whole."""
FEWEST_NODES = 2_000
FEWEST_CHILDREN = 100
READS_LIKE_INSTRUCTIONS = "reads like instructions to a model"
"""The note on a passage with such marks. It is shown all the same: whoever asked may want to know."""
SURROUNDINGS = "surroundings"
REACH = 3
"""Budgets that better passages of a section fill before further documents are not even read."""
LEAST_REACH = 4_000
HEADING_TOKENS = 12
_EMBEDS = re.compile(r"\s*(?:!\[\[[^\]\n]*\]\]\s*)+")
BEYOND_REACH = "the budget was used up: better ones alone would fill it three times"


@dataclass(slots=True)
class Composition:
    """Offers of the documents that were found, and their passages."""

    offers: list[Offer]
    inquiry: Inquiry
    hits: dict[int, Candidate] = field(default_factory=dict)
    left_out: list[Decision] = field(default_factory=list)
    marks: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """The marks of instructions to a model that loaded passages have, by key."""

    def load(self, keys: Sequence[int]) -> Mapping[int, Candidate]:
        """Passages by their keys: hits, and their surroundings."""
        missing = [key for key in keys if key not in self.hits]
        if missing:
            for record in self.inquiry.load(missing):
                self.hits[record.passage.key] = _around(record)
        for key in keys:
            if key in self.hits and key not in self.marks:
                self.marks[key] = instruction_marks(self.hits[key].passage.text)
                if self.marks[key]:
                    note = "; ".join(filter(None, (self.hits[key].note, READS_LIKE_INSTRUCTIONS)))
                    self.hits[key] = replace(self.hits[key], note=note)
        return {key: self.hits[key] for key in keys if key in self.hits}


def compose(
    inquiry: Inquiry, candidates: Sequence[Candidate], *, unit: Literal["document", "node"] = "document"
) -> Composition:
    """Group candidates by document, and collect the parts of each that may be shown."""
    total = inquiry.request.budget.total
    within_reach, left_out = _within_reach(candidates, max(LEAST_REACH, REACH * total))
    groups = group(within_reach, by_document=unit == "document")
    # Pages that collectors have read as a whole need no outline.
    names = list(dict.fromkeys(name for _, name in groups if name and name not in inquiry.pages))
    most = max(FEWEST_NODES, total // TOKENS_A_NODE)
    as_of, excluded = inquiry.request.filters.as_of, inquiry.request.filters.exclude
    outlines = inquiry.view.outlines(names, most=most, as_of=as_of)
    offers = []
    everywhere: dict[str, set[int]] = {}
    for (_, name), hits in groups.items():
        everywhere.setdefault(name, set()).update(candidate.key for candidate in hits)
    for (section, name), hits in groups.items():
        outline = outlines.get(name)
        if outline is None or hits[0].key < 0:
            outline = _conversation(hits) if section == HISTORY and hits[0].key < 0 else alone(hits)
        elif len(outline.nodes) == 1 and any(candidate.asked and candidate.node.id == name for candidate in hits):
            outline = _with_first_level(inquiry, outline)
        elif not outline.head.valid_at(as_of):
            outline = _without_head(outline, hits)
        reading = Reading.of(_with_hits(outline, hits, excluded))
        silent = [hit for hit in hits if _is_silent(reading, hit)]
        left_out += [Decision.on(hit, "dropped", "a title, with no text below it") for hit in silent]
        quoted = [hit for hit in hits if hit not in silent] if silent else hits
        elsewhere = (everywhere[name] | inquiry.given_keys) - {candidate.key for candidate in hits}
        offers.append(offer(section, reading, quoted, whole=unit == "node", budget=total, elsewhere=elsewhere))
        # What stands around hits in two sections is offered once.
        everywhere[name].update(key for part in offers[-1].parts for key in part.keys)
    hits_by_key = {hit.key: hit for hits in (candidates, *groups.values()) for hit in hits}
    return Composition([document for document in offers if document.parts], inquiry, hits_by_key, left_out)


def _within_reach(candidates: Sequence[Candidate], reach: int) -> tuple[list[Candidate], list[Decision]]:
    """Split off folders, and documents behind more tokens of better ones in their section than could ever fit.

    Reading and pricing a document costs more than finding it.
    """
    reached: list[Candidate] = []
    left_out: list[Decision] = []
    spent: Counter[str] = Counter()
    opened: set[str] = set()
    for candidate in candidates:
        document, section = candidate.document or candidate.node.id, candidate.section
        if reason := nothing_to_quote(candidate):
            left_out.append(Decision.on(candidate, "dropped", reason))
        elif _embeds_alone(candidate):
            left_out.append(Decision.on(candidate, "dropped", "it embeds another file, with nothing to quote"))
        elif spent[section] <= reach or document in opened or candidate.asked or section == HISTORY:
            spent[section] += candidate.passage.tokens + HEADING_TOKENS
            opened.add(document)
            reached.append(candidate)
        else:
            left_out.append(Decision.on(candidate, "dropped", BEYOND_REACH))
    return reached, left_out


def _is_silent(reading: Reading, hit: Candidate) -> bool:
    """Return True for a page without text or sections, unless it was asked for or stands around the focus."""
    if (
        hit.asked
        or any(finding.kind == "focus" for finding in hit.findings)
        or hit.node.type != "page"
        or hit.passage.text.strip()
        or has_fields(hit)
    ):
        return False
    return len(reading.below(reading.owner[hit.key])) == 1


def _embeds_alone(candidate: Candidate) -> bool:
    """Return True for a text that only embeds other files, which links led to and no search found."""
    if candidate.asked or [finding.kind for finding in candidate.findings if finding.kind != "link_rank"]:
        return False
    return _EMBEDS.fullmatch(candidate.passage.text) is not None and not has_fields(candidate)


def _with_first_level(inquiry: Inquiry, outline: Outline) -> Outline:
    """Add the first children of a document that was asked for and is too large to be read whole."""
    view, document = inquiry.view, outline.head.id
    most = max(FEWEST_CHILDREN, inquiry.request.budget.total // TOKENS_A_NODE)
    children = [child.id for child in view.children(document, most) if child.valid_at(inquiry.request.filters.as_of)]
    records = inquiry.load([key for keys in view.passages(children).values() for key in keys])
    inside = [_around(record) for record in records if record.document == document]
    return Outline(outline.head, outline.trail, (*outline.nodes, *outline_nodes(inside, depth=1)))


def _without_head(outline: Outline, hits: Sequence[Candidate]) -> Outline:
    """The outline of a document that is not valid itself, without its own text unless that is a hit."""
    shown = {hit.key for hit in hits}
    nodes = [
        replace(node, keys=(), tokens=()) if node.id == outline.head.id and not shown.intersection(node.keys) else node
        for node in outline.nodes
    ]
    return Outline(outline.head, outline.trail, tuple(nodes))


def _with_hits(outline: Outline, hits: Sequence[Candidate], excluded: frozenset[str]) -> Outline:
    """Remove excluded nodes from an outline, and add the nodes of hits that it lacks."""
    if not excluded and all(map(Reading.of(outline).place.__contains__, [hit.passage.key for hit in hits])):
        return outline
    nodes = [node for node in outline.nodes if node.id not in excluded] if excluded else list(outline.nodes)
    outlined = {key for node in nodes for key in node.keys}
    missing = [hit for hit in hits if hit.key not in outlined]
    if not missing:
        return outline if len(nodes) == len(outline.nodes) else Outline(outline.head, outline.trail, tuple(nodes))
    return Outline(outline.head, outline.trail, (*nodes, *outline_nodes(missing, depth=1)))


def _conversation(messages: Sequence[Candidate]) -> Outline:
    """Messages that were handed in with the request, in the order in which they were said."""
    nodes = tuple(outline_nodes(messages, depth=1))
    return Outline(NodeInfo(id=nodes[0].id, type="thread", title="Conversation"), (), nodes)


def _around(record: Record) -> Candidate:
    """A passage that nobody found, as a candidate without evidence."""
    finding = Finding(SURROUNDINGS, 1, 0.0, "stands around a hit", "adjacent")
    return Candidate(
        record.node, record.passage, "", (finding,), record.trail, document=record.document, depth=record.depth
    )
