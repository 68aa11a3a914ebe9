"""The start nodes of each topic's walk: the nodes that it names, or the best hits of a search for it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weftwork.collect.due import DueCollector
from weftwork.collect.fusion import fuse
from weftwork.collect.inquiry import Inquiry
from weftwork.collect.lexical import LexicalCollector
from weftwork.collect.semantic import SemanticCollector
from weftwork.errors import NotFound
from weftwork.query import quoted, read_query
from weftwork.request import Topic
from weftwork.types import Reach

SEARCHED = 10
"""Hits of a search that may become starts (graph contract)."""
NEARLY_AS_GOOD = 0.5
"""Share of the best hit's score that makes another one a start too."""

_ID = re.compile(r"(?=\S*\d)(?=\S*[^\W\d_])[^\s\"]+")
"""One word of letters and digits: rather an id than a topic, unless some text says it."""


@dataclass(frozen=True, slots=True)
class WalkStart:
    """A topic, its weight beside the largest, and the nodes from which its walk begins."""

    topic: str
    weight: float
    starts: tuple[str, ...]
    named: bool = False
    """The topic names these nodes; otherwise they are hits of a search."""
    hits: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The passages that a search found, by node: of a long text they are wanted, not its beginning."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """The best score of a hit, by node: what is reached from there counts no more."""


def closeness(reaches: Sequence[Reach]) -> float:
    """1 / distance (graph contract), a start counting as 1, times the topic's weight.

    Several topics that reached the same node are independent reasons: 1 − ∏ (1 − weight / distance).
    """
    if len(reaches) == 1:
        return reaches[0].weight / max(1, reaches[0].distance)
    return 1.0 - math.prod(1.0 - reach.weight / max(1, reach.distance) for reach in reaches)


def walk_starts(inquiry: Inquiry) -> list[WalkStart]:
    """Return the start nodes of each topic; a topic without any is a warning."""
    walks: list[WalkStart] = []
    topics = _merged(inquiry)
    largest = max((topic.weight for topic in topics), default=1.0)
    focus = inquiry.request.focus
    if focus is not None:
        if not inquiry.view.nodes([focus]):
            raise NotFound(f"focus {focus!r} does not exist in this workspace: check its id with  weftwork search")
        walks.append(WalkStart(focus, 1.0, (focus,), named=True))
    for topic in topics:
        start = _start(inquiry, topic.text)
        if start.starts:
            walks.append(replace(start, weight=topic.weight / largest))
        else:
            inquiry.warnings.append(f"nothing was found for {quoted(topic.text)}")
    return walks


def _merged(inquiry: Inquiry) -> Sequence[Topic]:
    """The topics without the focus, the weights of duplicates summed; the query if there are none."""
    request = inquiry.request
    weights: dict[str, float] = {}
    for topic in request.topics or ((Topic(request.query),) if request.query.strip() else ()):
        weights[topic.text] = weights.get(topic.text, 0.0) + topic.weight
    return [Topic(text, weight) for text, weight in weights.items() if text != request.focus]


def _start(inquiry: Inquiry, text: str) -> WalkStart:
    """The nodes that a topic names, or else those of the best hits for it."""
    named = inquiry.named(text)
    if named is not None:
        if named.whole and len(named.nodes) > 1:
            inquiry.warnings.append(f"{quoted(text)} names {len(named.nodes)} nodes: {', '.join(named.nodes)}")
        return WalkStart(text, 1.0, named.nodes, named=True)
    unknown = unknown_id(inquiry, text)
    if unknown:
        raise NotFound(unknown)
    if text != inquiry.request.query:
        request = replace(inquiry.request, query=text, topics=())
        inquiry = Inquiry(inquiry.view, request, read_query(text, inquiry.now), inquiry.now, inquiry.embedder, SEARCHED)
    late = [finding.key for finding in DueCollector().collect(inquiry)]
    found = {**_searched(inquiry), **dict.fromkeys(late, 1.0)}
    hits: dict[str, tuple[int, ...]] = {}
    scores: dict[str, float] = {}
    for record in inquiry.load([*late, *(key for key in found if key not in late)]):
        hits[record.node.id] = (*hits.get(record.node.id, ()), record.passage.key)
        scores.setdefault(record.node.id, found[record.passage.key])
    return WalkStart(text, 1.0, tuple(hits), hits=hits, scores=scores)


def unknown_id(inquiry: Inquiry, text: str) -> str:
    """Return the message for a text that looks like an id and does not exist; empty for any other text."""
    word = text.strip()
    if not _ID.fullmatch(word) or inquiry.view.search_words(f'"{word}"', limit=1):
        return ""
    return f"there is no node, citation or text {quoted(text)} in this workspace: find it with  weftwork search"


def _searched(inquiry: Inquiry) -> dict[int, float]:
    """The best hits by words and vectors with their scores, best first."""
    by_words = {finding.key: finding.score for finding in LexicalCollector().collect(inquiry)}
    alike = {finding.key: finding.score for finding in SemanticCollector().collect(inquiry)}
    others = [key for key in by_words if key not in alike]
    if inquiry.vector is not None and inquiry.embedder is not None:
        alike |= inquiry.view.similarities(inquiry.vector, others, model=inquiry.embedder.model)
    scores = {key: fuse(by_words.get(key, 0.0), alike.get(key, 0.0), inquiry.trust) for key in (*by_words, *alike)}
    best = sorted(scores, key=lambda key: (-scores[key], key))[:SEARCHED]
    return {key: min(1.0, scores[key]) for key in best if scores[key] >= NEARLY_AS_GOOD * scores[best[0]] > 0}
