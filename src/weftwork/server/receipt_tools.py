"""Receipts for a model to read: what its user was given, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weftwork.receipts import Receipt
from weftwork.render.quote import inline
from weftwork.render.values import iso
from weftwork.server.output_cap import OutputCap
from weftwork.server.tool_answer import Answer, list_answer


def list_receipts(receipts: Sequence[Receipt], cap: OutputCap) -> Answer:
    """The latest receipts, a line each."""
    entries = [(_line(each), _entry(each)) for each in receipts]
    return list_answer(cap, "receipts", entries, "There are no receipts: nothing was handed out yet.")


def show_receipt(receipt: Receipt, cap: OutputCap) -> Answer:
    """One receipt with its sources."""
    used = [
        {
            "citation": each.citation,
            "node": each.node,
            "title": inline(each.title, 120),
            "why": inline(each.why, 200),
            "score": round(each.score, 4),
        }
        for each in receipt.used
    ]
    lines = [f"[{each['citation']}] {each['title']} score {each['score']:.2f}: {each['why']}" for each in used]
    cited = [] if receipt.answer is None else list(receipt.answer.cited)
    told = [f"The answer cited {', '.join(cited) or 'nothing'}."] if receipt.answer is not None else []

    def entry(count: int) -> tuple[str, dict[str, Any]]:
        left = [f"({len(lines) - count} more sources left out.)"] if count < len(lines) else []
        text = "\n".join([_line(receipt), *told, *lines[:count], *left])
        return text, {**_entry(receipt), "used": used[:count], "cited": cited}

    best = Answer("")
    for count in range(len(lines), -1, -1):
        best = list_answer(cap, "receipts", [entry(count)], "")
        if best.structured and best.structured["receipts"]:
            return best
    return best


def _entry(receipt: Receipt) -> dict[str, Any]:
    return {
        "id": receipt.id,
        "at": iso(receipt.at),
        "kind": receipt.kind,
        "surface": inline(receipt.surface, 60),
        "query": inline(receipt.query, 200),
        "tokens": receipt.tokens,
        "sources": len(receipt.used),
    }


def _line(receipt: Receipt) -> str:
    return (
        f"{receipt.id}  {iso(receipt.at)}  {receipt.kind} by {inline(receipt.surface, 60)}, {receipt.tokens} tokens,"
        f" {len(receipt.used)} source{'' if len(receipt.used) == 1 else 's'}: {inline(receipt.query, 200)}"
    )
