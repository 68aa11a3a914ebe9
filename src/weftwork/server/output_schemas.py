"""The schemas of the structured content that tools answer with."""

from __future__ import annotations

from typing import Any

from weftwork.server.arguments import Schema

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TEXTS: Schema = {"type": "array", "items": TEXT}
MOMENT: Schema = {"type": "string", "format": "date-time"}


def _object(required: dict[str, Any], **optional: Schema) -> Schema:
    return {"type": "object", "properties": {**required, **optional}, "required": list(required)}


def _list(name: str, entry: Schema, **more: Schema) -> Schema:
    left = {"type": "integer", "description": "Entries left out to keep within the output cap"}
    return _object({name: {"type": "array", "items": entry}, "leftOut": left, **more})


FOUND = _list(
    "results",
    _object(
        {
            "citation": TEXT,
            "id": TEXT,
            "type": TEXT,
            "title": TEXT,
            "path": TEXTS,
            "score": NUMBER,
            "excerpt": TEXT,
            "uri": TEXT,
        }
    ),
)
SOURCES = _list(
    "sources",
    _object(
        {"id": TEXT, "title": TEXT, "type": TEXT, "source": TEXT, "nodes": WHOLE, "uri": TEXT},
        updated=MOMENT,
    ),
    total={"type": "integer", "description": "Sources that fit the arguments"},
)
MEMORIES = _list(
    "memories",
    _object(
        {"id": TEXT, "text": TEXT, "type": TEXT, "tags": TEXTS, "uri": TEXT},
        confidence=NUMBER,
        owner=TEXT,
        validFrom=MOMENT,
        validUntil=MOMENT,
        created=MOMENT,
        score=NUMBER,
    ),
)
REMEMBERED = _object({"id": TEXT, "uri": TEXT})
FORGOTTEN = _object({"removed": WHOLE})
RECEIPTS = _list(
    "receipts",
    _object(
        {"id": TEXT, "at": MOMENT, "kind": TEXT, "surface": TEXT, "query": TEXT, "tokens": WHOLE, "sources": WHOLE},
        used={
            "type": "array",
            "items": _object({"citation": TEXT, "node": TEXT, "title": TEXT, "why": TEXT, "score": NUMBER}),
        },
        cited=TEXTS,
    ),
)
