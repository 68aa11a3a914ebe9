"""A context made visible: what the inspector shows of it, beside what the context says of itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from weftwork.recipe import Recipe
from weftwork.render import Templates
from weftwork.render.values import lead_of, page_number
from weftwork.score.scoring import shares
from weftwork.server.why import Evidence, sentence
from weftwork.store.protocol import View
from weftwork.text.snippet import matching_words
from weftwork.types import PAGE, Context, Decision, Excerpt, Node, Record

SNIPPET = 90
"""Characters of the text that stand for a title where there is none."""
SHOWN_TEXT = 700
"""Characters of the text of a candidate."""
LINKS_OF_EACH = 50

_Key = tuple[str, str]


def inspect(view: View, context: Context, recipe: Recipe, templates: Templates) -> dict[str, Any]:
    """Everything that a drawing of the context needs."""
    facts = _Facts(view, context, recipe, templates)
    in_sections = sum(section.tokens for section in context.sections)
    in_lines = sum(excerpt.tokens for excerpt in context.overflow)
    return {
        "id": context.id,
        "user": context.user,
        "workspace": context.workspace,
        "query": context.query,
        "tokens": context.tokens,
        "budget": context.budget,
        "support": context.support,
        "ended": context.ended,
        "lines_tokens": in_lines,
        "frame_tokens": max(0, context.tokens - in_sections - in_lines),
        "matches": facts.matches,
        "sections": [
            {"name": each.name, "title": each.title or each.name, "tokens": each.tokens, "budget": each.budget}
            for each in context.sections
        ],
        "pieces": _pieces(context, facts),
        "candidates": [facts.candidate(place, each) for place, each in enumerate(context.trace)],
        "warnings": context.warnings,
        "timings": context.timings,
    }


class _Facts:
    """All that is read beside the context, in one query each for all candidates."""

    def __init__(self, view: View, context: Context, recipe: Recipe, templates: Templates) -> None:
        self.recipe = recipe
        self.template = templates.get(recipe.template)
        self.trace = context.trace
        named = [name for each in context.trace for name in (each.node, each.start, *(step.node for step in each.path))]
        self.nodes = {node.id: node for node in view.nodes(list(dict.fromkeys(filter(None, named))))}
        cited = view.cited(list(dict.fromkeys(each.citation for each in context.trace)))
        self.records: dict[_Key, Record] = {(each.node.id, each.passage.citation): each for each in cited}
        texts = [f"{each.title}\n{self.text(each)}" for each in context.trace]
        self.words = matching_words(texts, context.query)
        self.matches = sorted({word for words in self.words for word in words})
        self.linked = _linked(view, context.trace, self.nodes)
        self.ranked = sum(bool(each.signals) for each in context.trace)

    def text(self, decision: Decision) -> str:
        """The text of a candidate's passage."""
        record = self.records.get((decision.node, decision.citation))
        node = self.nodes.get(decision.node)
        return record.passage.text if record is not None else node.text if node is not None else ""

    def candidate(self, place: int, decision: Decision) -> dict[str, Any]:
        """A candidate with its fate, its text, and the reasons for both."""
        parts = shares(decision.signals, self.recipe.profile, decision.score)
        node, text = self.nodes.get(decision.node), self.text(decision)
        is_page = node is not None and node.type == PAGE
        titles = {name: _name(other.title, other) for name, other in self.nodes.items()} if decision.path else {}
        evidence = Evidence(self.words[place], self.linked.get(decision.node, ()), titles)
        return {
            "node": decision.node,
            "citation": decision.citation,
            "type": decision.type,
            "title": _name(decision.title, node) or decision.node,
            "path": self._path(decision, node),
            "section": decision.section,
            "section_title": self.template.title_of(decision.section),
            "tags": () if node is None else node.tags,
            "text": text[:SHOWN_TEXT],
            "text_goes_on": len(text) > SHOWN_TEXT,
            "score": decision.score,
            "tokens": decision.tokens,
            "fate": decision.fate,
            "reason": decision.reason,
            "why": sentence(decision, place + 1, self.ranked, evidence),
            "missing_tokens": decision.missing_tokens,
            "signals": decision.signals,
            "shares": {name: round(part, 6) for name, part in parts.items()},
            "findings": decision.findings,
            "page": page_number(node) if node is not None and is_page else None,
            "has_picture": node is not None and is_page and "thumbnail_path" in node.fields,
        }

    def _path(self, decision: Decision, node: Node | None) -> list[str]:
        record = self.records.get((decision.node, decision.citation))
        trail = [each for each in reversed(record.trail) if each] if record is not None else []
        return trail or ([node.source] if node is not None and node.source else [])


def _linked(view: View, trace: Sequence[Decision], nodes: Mapping[str, Node]) -> dict[str, list[str]]:
    """Titles of the candidates that each candidate is linked with, the best first, if a link led there."""
    led = {each.node for each in trace if any(finding.kind == "link_rank" for finding in each.findings)}
    places: dict[str, int] = {}
    for place, each in enumerate(trace):
        places.setdefault(each.node, place)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for edge in view.edges(sorted(led), limit=LINKS_OF_EACH) if led else ():
        for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
            if here in led and there in places and there != here:
                found[here].add(there)
    return {
        here: [
            _name(nodes[name].title, nodes[name]) for name in sorted(others, key=places.__getitem__) if name in nodes
        ]
        for here, others in found.items()
    }


def _pieces(context: Context, facts: _Facts) -> list[dict[str, Any]]:
    """The text in stretches; an excerpt says which candidates it shows, the best of them, its form and its cost."""
    places = {(each.node, each.citation): place for place, each in enumerate(context.trace)}
    excerpts = iter((*context.excerpts, *context.overflow))
    pieces = []
    for piece in context.pieces:
        card = _card(next(excerpts), places, facts) if piece.citation else None
        pieces.append({"text": piece.text, "card": card})
    return pieces


def _card(excerpt: Excerpt, places: Mapping[_Key, int], facts: _Facts) -> dict[str, Any]:
    shown = [(each.candidate.node.id, each.candidate.passage.citation) for each in excerpt.items]
    lead = lead_of(excerpt)
    source = excerpt.document.source
    return {
        "document": excerpt.document.id,
        "type": excerpt.document.type,
        "title": excerpt.document.title or snippet(lead.passage.text) or excerpt.document.id,
        "path": [each for each in reversed(excerpt.trail) if each] or ([source] if source else []),
        "citation": excerpt.citation,
        "content": excerpt.content,
        "section": excerpt.section,
        "section_title": facts.template.title_of(excerpt.section),
        "candidate": places[lead.node.id, lead.passage.citation],
        "candidates": [places[each] for each in shown if each in places],
        "score": excerpt.score,
        "form": excerpt.form,
        "truncated": excerpt.truncated,
        "note": excerpt.note,
        "tokens": excerpt.tokens,
    }


def _name(title: str, node: Node | None) -> str:
    return title or ("" if node is None else snippet(node.text))


def snippet(text: str) -> str:
    """The beginning of a text in one line, for where there is no title."""
    words = " ".join(text[: 2 * SNIPPET].split())
    return words if len(words) <= SNIPPET else words[: SNIPPET - 1].rstrip() + "…"
