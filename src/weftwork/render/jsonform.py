"""A context as JSON: the same context always comes to the same bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from weftwork.provenance import trust_of
from weftwork.render.quote import writable
from weftwork.render.values import iso
from weftwork.types import Citation, Context, Decision, Excerpt, Finding, Item, Step


def to_dict(context: Context, *, trace: bool = True, timings: bool = False) -> dict[str, Any]:
    """The context in values that JSON has; the timings, which differ from run to run, only on request."""
    whole: dict[str, Any] = {
        "id": context.id,
        "query": context.query,
        "workspace": context.workspace,
        "user": context.user,
        "text": context.text,
        "tokens": context.tokens,
        "budget": context.budget,
        "ended": context.ended,
        "sections": [
            {
                "name": section.name,
                "title": section.title,
                "tokens": section.tokens,
                "budget": section.budget,
                "excerpts": [_excerpt(excerpt, context.user) for excerpt in section.excerpts],
            }
            for section in context.sections
        ],
        "overflow": [_excerpt(excerpt, context.user) for excerpt in context.overflow],
        "citations": context.citations,
        "warnings": context.warnings,
    }
    if trace:
        whole["decisions"] = context.trace
    if timings:
        whole["timings"] = context.timings
    plain: dict[str, Any] = _plain(whole)
    return plain


def to_json(context: Context, *, trace: bool = True, timings: bool = False, indent: int | None = 2) -> str:
    """The context as JSON text, with sorted keys."""
    return json.dumps(
        to_dict(context, trace=trace, timings=timings),
        ensure_ascii=False,
        allow_nan=False,
        sort_keys=True,
        indent=indent,
    )


def _excerpt(excerpt: Excerpt, reader: str) -> dict[str, Any]:
    """An excerpt; text that was cut is not in its content either."""
    document = excerpt.document
    return {
        "document": document.id,
        "type": document.type,
        "title": document.title,
        "path": tuple(reversed(excerpt.trail)),
        "source": document.source,
        "citation": excerpt.citation,
        "form": excerpt.form,
        "truncated": excerpt.truncated,
        "note": excerpt.note,
        "score": excerpt.score,
        "tokens": excerpt.tokens,
        "content": excerpt.content,
        "items": [_item(item, reader) for item in excerpt.items],
    }


def _item(item: Item, reader: str) -> dict[str, Any]:
    """A passage of an excerpt."""
    candidate = item.candidate
    node = candidate.node
    return {
        "node": node.id,
        "type": node.type,
        "title": node.title,
        "path": tuple(reversed(candidate.trail)),
        "tags": node.tags,
        "fields": node.fields,
        "source": node.source,
        "origin": node.origin,
        "writer": node.writer,
        "trust": trust_of(node.origin, node.writer or node.owner, reader),
        "confidence": node.confidence,
        "valid_from": node.valid_from,
        "valid_until": node.valid_until,
        "created_at": node.created_at,
        "updated_at": node.updated_at,
        "distance": candidate.distance,
        "citation": candidate.passage.citation,
        "score": candidate.score,
        "hit": item.hit,
        "truncated": item.truncated,
        "tokens": candidate.passage.tokens,
        "content": item.text,
    }


def _plain(value: Any) -> Any:
    """The value in types that JSON has."""
    match value:
        case Mapping():
            return {writable(key): _plain(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [_plain(part) for part in value]
        case Citation() | Decision() | Finding() | Step():
            return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return scalar(value, iso)


def scalar(value: Any, moment: Callable[[datetime], str]) -> Any:
    """The value with lone surrogates and non-finite floats replaced, and datetimes written by `moment`."""
    match value:
        case str():
            return writable(value)
        case datetime():
            return moment(value)
        case float() if not math.isfinite(value):
            return None
    return value
