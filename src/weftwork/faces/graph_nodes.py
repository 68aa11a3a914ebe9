"""The nodes of a context as the graph contract has them: written out, or only named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weftwork.compose.ordering import BY_SETTINGS
from weftwork.faces.graph_document import (
    ContextNode,
    FieldText,
    OverflowSummary,
    RelationshipPath,
    TopicReach,
)
from weftwork.render import FieldChoice
from weftwork.render.values import lead_of
from weftwork.score import Profile
from weftwork.store.protocol import View
from weftwork.types import Candidate, Context, FieldValue, Item, NodeInfo, Signals

CUT = "[...]"
FIRST_WORDS = 60
"""Characters of its own text that a node without a title is called by."""
_COMPONENTS = {"distance": "graphDistance", "likeness": "semanticSim", "recency_monthly": "recency"}


@dataclass(frozen=True, slots=True)
class _Way:
    """The distance of a node from the nearest start, the path, and the topics that reached it."""

    distance: int
    path: tuple[RelationshipPath, ...]
    topics: tuple[TopicReach, ...]


def written_nodes(context: Context, fields: FieldChoice, profile: Profile | None) -> tuple[ContextNode, ...]:
    """The nodes whose content is shown: pinned ones first, then the best first."""
    items: dict[str, list[Item]] = {}
    for excerpt in context.excerpts:
        for item in excerpt.items if excerpt.form != "line" else ():
            node = item.candidate.node
            if node.title or item.text.strip() or fields.of(node.fields):
                items.setdefault(node.id, []).append(item)
    best = {
        name: max((item.candidate for item in members), key=lambda candidate: (candidate.asked, candidate.score))
        for name, members in items.items()
    }
    order = sorted(best, key=lambda name: (not best[name].asked, -best[name].score, name))
    written = [_node(best[name], items[name], _way(best[name], best, context.query), fields, profile) for name in order]
    return (*_bare_starts(context, best, fields), *written)


def _bare_starts(context: Context, shown: Mapping[str, Candidate], fields: FieldChoice) -> Iterator[ContextNode]:
    """Documents that were asked for and have no words of their own, so that only what is below them is shown."""
    named = {
        decision.node
        for decision in context.trace
        if decision.start == decision.node and not {"words", "vector"} & {each.kind for each in decision.findings}
    }
    for excerpt in context.excerpts:
        node = excerpt.document
        if node.id in named and node.id not in shown and excerpt.form != "line":
            yield ContextNode(
                id=node.id,
                name=_name(node, "", excerpt.trail),
                type=node.type,
                content="",
                tags=node.tags,
                fields={name: _text(value) for name, value in fields.of(node.fields).items()},
                score=1.0,
                components={"asked": 1.0},
                distance=0,
                path=(),
                topics=(TopicReach(context.query, 0),),
                citations=(excerpt.citation,),
                tokens=0,
            )


def named_nodes(context: Context, view: View, written: Sequence[ContextNode]) -> tuple[OverflowSummary, ...]:
    """The nodes with a line in the text, and all others that were reached, the best first."""
    written_ids = {node.id for node in written}
    leads = [
        lead_of(excerpt) for excerpt in (*context.excerpts, *context.overflow) if excerpt.form == "line" or not written
    ]
    named = {
        lead.node.id: _summary(lead.node, lead.passage.text, lead.trail, lead.score)
        for lead in leads
        if lead.node.id not in written_ids
    }
    scores = {
        decision.node: decision.score
        for decision in reversed(context.trace)
        if decision.node not in written_ids | named.keys() and not decision.reason.startswith(BY_SETTINGS)
    }
    keys = view.passages(list(scores))
    for record in view.load([key for passages in keys.values() for key in passages]):
        node = record.node
        named[node.id] = _summary(node, record.passage.text, record.trail, scores[node.id])
    return tuple(sorted(named.values(), key=lambda node: (-node.score, node.id)))


def _node(
    best: Candidate,
    items: Sequence[Item],
    way: _Way,
    fields: FieldChoice,
    profile: Profile | None,
) -> ContextNode:
    node = best.node
    parts = (
        {name: value for name, value in best.signals.items() if value is not None}
        if profile is None
        else components(best.signals, profile)
    )
    named = profile is not None and best.asked and best.distance == 0
    if named:
        # The formula has no value at distance 0: the node that was asked for scores 1.0, as in the contract's example.
        parts["asked"] = max(0.0, 1.0 - sum(parts.values()))
    return ContextNode(
        id=node.id,
        name=_name(node, best.passage.text, best.trail),
        type=node.type,
        content=_content(items),
        tags=node.tags,
        fields={name: _text(value) for name, value in fields.of(node.fields).items()},
        score=1.0 if named else best.score,
        components=parts,
        distance=way.distance,
        path=way.path,
        topics=way.topics,
        citations=tuple(item.candidate.passage.citation for item in items),
        tokens=sum(item.candidate.passage.tokens for item in items),
        sampled_hubs=best.hubs,
    )


def _summary(node: NodeInfo, text: str, trail: Sequence[str], score: float) -> OverflowSummary:
    return OverflowSummary(node.id, _name(node, text, trail), node.type, node.tags, score)


def _name(node: NodeInfo, text: str, trail: Sequence[str]) -> str:
    """The title of the node, or its first words, or else the nearest title above it."""
    words = " ".join(text.split())
    first = words if len(words) <= FIRST_WORDS else words[: FIRST_WORDS - 1].rpartition(" ")[0] + "…"
    titles = (title.strip() for title in (node.title, first, *trail))
    return next((title for title in titles if title), "Untitled")


def _content(items: Sequence[Item]) -> str:
    """The passages in reading order, with a mark for each gap between or after them."""
    parts: list[str] = []
    end = 0
    for item in items:
        passage = item.candidate.passage
        if passage.start > end:
            parts.append(f"{CUT}\n")
        parts.append(item.text)
        end = passage.end
    return "".join(parts).rstrip() + (f"\n{CUT}" if items[-1].candidate.more else "")


def _way(candidate: Candidate, shown: Mapping[str, Candidate], query: str) -> _Way:
    """The path to a node; a surrounding node is reached through its parents.

    Hits of the searches for the query are the starts of walks.
    """
    below: list[RelationshipPath] = []
    while candidate.distance is None and (above := shown.get(candidate.node.parent or "")) is not None:
        below.append(RelationshipPath("child", "out", above.node.id, candidate.node.id))
        candidate = above
    start = [candidate.reached[0].start] if candidate.reached else []
    nodes = (*start, *(step.node for step in candidate.path))
    walked = (
        RelationshipPath(step.edge, step.direction, before, step.node, step.label)
        for before, step in zip(nodes, candidate.path if start else (), strict=False)
    )
    distance = (candidate.distance or 0) + len(below)
    topics = tuple(TopicReach(reach.topic, reach.distance + len(below)) for reach in candidate.reached)
    return _Way(distance, (*walked, *reversed(below)), topics or (TopicReach(query, distance),))


def _text(value: FieldValue) -> FieldText:
    match value:
        case tuple():
            return value
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def components(signals: Signals, profile: Profile) -> dict[str, float]:
    """The contribution of each signal to a score: weight times value.

    Weights of signals that do not apply are shared out among the others.
    """
    weights: Mapping[str, float] = profile.weights
    if "likeness" not in signals and profile.without_embeddings is not None:
        weights = profile.without_embeddings
    applied = {name: value for name in weights if (value := signals.get(name)) is not None}
    whole = sum(weights[name] for name in applied)
    parts = {
        part: weights[name] * applied[name] / whole if name in applied else 0.0
        for name, part in _COMPONENTS.items()
        if name in applied or name != "likeness"
    }
    more = {name: value for name in ("boost", "overdue") if (value := signals.get(name)) is not None}
    return {**parts, **more}
