"""A context made visible: what the inspector shows of it, beside what the context says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weftwork.recipe import Recipe
from weftwork.render.values import lead_of, page_number
from weftwork.score.scoring import shares
from weftwork.store.protocol import View
from weftwork.types import PAGE, Context, Decision, Node, Step

SNIPPET = 90
"""Characters of the text that stand for a title where there is none."""


def inspect(view: View, context: Context, recipe: Recipe, focus: str | None) -> dict[str, Any]:
    """Everything that a drawing of the context needs."""
    nodes = {node.id: node for node in view.nodes(list(_mentioned(context, focus)))}
    in_sections = sum(section.tokens for section in context.sections)
    in_lines = sum(excerpt.tokens for excerpt in context.overflow)
    return {
        "id": context.id,
        "user": context.user,
        "tokens": context.tokens,
        "budget": context.budget,
        "lines_tokens": in_lines,
        "frame_tokens": max(0, context.tokens - in_sections - in_lines),
        "sections": [
            {"name": each.name, "title": each.title, "tokens": each.tokens, "budget": each.budget}
            for each in context.sections
        ],
        "pieces": _pieces(context),
        "candidates": [_candidate(each, nodes.get(each.node), recipe) for each in context.trace],
        "walk": _walk(context, focus, nodes),
        "warnings": context.warnings,
        "timings": context.timings,
    }


def _mentioned(context: Context, focus: str | None) -> dict[str, None]:
    """The ids of all nodes that are spoken of, each once."""
    named = [name for each in context.trace for name in (each.node, each.start, *(step.node for step in each.path))]
    return dict.fromkeys(name for name in (focus, *named) if name)


def _pieces(context: Context) -> list[dict[str, Any]]:
    """The text in stretches; an excerpt says which candidates it shows, the best of them, its form and its cost."""
    places = {(each.node, each.citation): place for place, each in enumerate(context.trace)}
    excerpts = iter((*context.excerpts, *context.overflow))
    pieces = []
    for piece in context.pieces:
        shown_piece: dict[str, Any] = {"text": piece.text}
        if piece.citation:
            excerpt = next(excerpts)
            shown = [(each.candidate.node.id, each.candidate.passage.citation) for each in excerpt.items]
            lead = lead_of(excerpt)
            shown_piece |= {
                "document": excerpt.document.id,
                "title": excerpt.document.title or snippet(lead.passage.text) or excerpt.document.id,
                "section": excerpt.section,
                "candidate": places[lead.node.id, lead.passage.citation],
                "candidates": [places[each] for each in shown if each in places],
                "score": excerpt.score,
                "form": excerpt.form,
                "truncated": excerpt.truncated,
                "tokens": excerpt.tokens,
            }
        pieces.append(shown_piece)
    return pieces


def _candidate(decision: Decision, node: Node | None, recipe: Recipe) -> dict[str, Any]:
    parts = shares(decision.signals, recipe.profile, decision.score)
    is_page = node is not None and node.type == PAGE
    return {
        "node": decision.node,
        "citation": decision.citation,
        "type": decision.type,
        "title": _name(decision.title, node),
        "section": decision.section,
        "tags": () if node is None else node.tags,
        "score": decision.score,
        "tokens": decision.tokens,
        "fate": decision.fate,
        "reason": decision.reason,
        "missing_tokens": decision.missing_tokens,
        "signals": decision.signals,
        "shares": {name: round(part, 6) for name, part in parts.items()},
        "findings": decision.findings,
        "page": page_number(node) if node is not None and is_page else None,
        "has_picture": node is not None and is_page and "thumbnail_path" in node.fields,
    }


def _name(title: str, node: Node | None) -> str:
    return title or ("" if node is None else snippet(node.text))


def snippet(text: str) -> str:
    """The beginning of a text in one line, for where there is no title."""
    words = " ".join(text[: 2 * SNIPPET].split())
    return words if len(words) <= SNIPPET else words[: SNIPPET - 1].rstrip() + "…"


def _walk(context: Context, focus: str | None, nodes: Mapping[str, Node]) -> dict[str, Any]:
    """The walk: nodes with their distance, and each step that led to one; the nearest first."""
    distances = {} if focus is None or focus not in nodes else {focus: 0}
    steps: dict[tuple[str, str], dict[str, str]] = {}
    for each in sorted(context.trace, key=lambda each: len(each.path)):
        here = each.start or focus
        if here is None or not (each.path or each.start):
            continue
        distances.setdefault(here, 0)
        for far, step in enumerate(each.path, start=1):
            distances.setdefault(step.node, far)
            steps.setdefault((here, step.node), _step(here, step))
            here = step.node
    return {
        "nodes": [
            {
                "id": name,
                "title": (_name(nodes[name].title, nodes[name]) if name in nodes else "") or name,
                "type": nodes[name].type if name in nodes else "",
                "distance": far,
            }
            for name, far in distances.items()
        ],
        "steps": list(steps.values()),
    }


def _step(here: str, step: Step) -> dict[str, str]:
    return {"from": here, "to": step.node, "edge": step.edge, "direction": step.direction, "label": step.label}
