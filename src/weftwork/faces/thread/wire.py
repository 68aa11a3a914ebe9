"""A prime context as the contract's endpoint answers with it, in JSON's names."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from weftwork.faces.thread.values import ContextItem, PrimeContext


def to_response(prime: PrimeContext) -> dict[str, Any]:
    """The body of the answer to `POST /build`: the context under `data`, counts under `meta`."""
    return {
        "data": {
            "totalTokens": prime.total_tokens,
            "items": [_item(item) for item in prime.items],
            "citations": [_named(asdict(citation)) for citation in prime.citations],
            "stats": _named(asdict(prime.stats)),
            "text": prime.text,
        },
        "meta": {
            "tokenUsage": prime.total_tokens,
            "sourceCount": len(prime.items),
            "citationCount": len(prime.citations),
        },
    }


def _item(item: ContextItem) -> dict[str, Any]:
    metadata = item.metadata
    return _named(asdict(item)) | {
        "metadata": _named(asdict(metadata))
        | {
            "createdAt": None if metadata.created_at is None else metadata.created_at.isoformat(),
            "matchedKeywords": list(metadata.matched_keywords),
        }
    }


def _named(values: dict[str, Any]) -> dict[str, Any]:
    return {_camel(name): value for name, value in values.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
