"""The card of a context as an MCP App: people see in the chat what their assistant was given, and why."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from weftwork.render.quote import inline
from weftwork.server.output_cap import OutputCap
from weftwork.server.tool_answer import as_json
from weftwork.types import Context

EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"
URI = "ui://weftwork/context.html"
TOOL = "weftwork_context"
MOST_LEFT_OUT = 30


def card_html() -> str:
    """The page that a client shows in a frame of its own; it loads nothing, and sets all content as text."""
    return (files("weftwork.server") / "card.html").read_text(encoding="utf-8")


def card_of(context: Context, cap: OutputCap) -> dict[str, Any]:
    """Summarize a context for people: its sources with reasons, and what was left out; within the output cap."""
    reasons = {decision.citation: decision.reason for decision in context.trace}
    sources = [
        {
            "citation": excerpt.citation,
            "title": inline(excerpt.document.title or excerpt.document.id, 120),
            "type": inline(excerpt.document.type, 40),
            "tokens": excerpt.tokens,
            "score": round(excerpt.score, 3),
            "why": inline(reasons.get(excerpt.citation, ""), 200),
        }
        for excerpt in context.excerpts
    ]
    dropped = [
        {"title": inline(each.title or each.node, 120), "why": inline(each.reason, 200), "score": round(each.score, 3)}
        for each in context.trace
        if each.fate == "dropped"
    ][:MOST_LEFT_OUT]

    def card(count: int) -> dict[str, Any]:
        return {
            "query": inline(context.query, 300),
            "tokens": context.tokens,
            "budget": context.budget,
            "sources": sources[:count],
            "leftOut": dropped[: max(0, count - len(sources))],
        }

    most = cap.most(len(sources) + len(dropped), lambda count: cap.fits(as_json(card(count))))
    return card(most)
