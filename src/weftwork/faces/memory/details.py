"""Details of a memory, and the node that is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal, TypedDict

from weftwork.clock import aware
from weftwork.errors import InvalidInput
from weftwork.faces.memory.extraction import Fact
from weftwork.faces.memory.types import Memory, metadata_tags
from weftwork.identity import node_id
from weftwork.types import MEMORY, PINNED, UNSEEN, FieldValue, Node
from weftwork.write.prepare import check_node


class Details(TypedDict, total=False):
    """Optional details of a memory beside its text."""

    type: str
    confidence: float | None
    tags: Iterable[str]
    metadata: Mapping[str, FieldValue]
    """Values for programs: searches can be restricted by them, and no context shows them."""
    pinned: bool
    """True for a memory that is to stand in every context of its user."""
    created_at: datetime | None
    """When it was said; now if nothing is said."""
    conversation: str | None
    valid_from: datetime | None
    """Start of its validity; `created_at` if nothing is said."""
    valid_until: datetime | None
    access: Iterable[str] | None
    """The principals that may see it beside its writer: names, "group:team", or "*" for the whole workspace."""
    contradicts: Iterable[str]
    """Ids of memories that it contradicts."""


def node_of(text: str, user: str, details: Details, now: datetime) -> Node:
    """A memory as a node, checked before anything is locked or embedded."""
    check_details(details)
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"a memory needs a text, got {text!r}")
    kind = details.get("type", "fact")
    said = moment(details, "created_at") or now
    start, end = moment(details, "valid_from"), moment(details, "valid_until")
    if start is None and end is not None and end <= said:
        raise InvalidInput(f"valid_until is over ({end:%Y-%m-%d}): say with valid_from since when it held")
    conversation, metadata = details.get("conversation"), _metadata(details)
    if not isinstance(conversation, str | None):
        raise InvalidInput(f"conversation must be text, got {conversation!r}")
    marks = (MEMORY, *((PINNED,) if details.get("pinned") else ()), *metadata_tags(metadata))
    node = Node(
        id=node_id(MEMORY, user, "\0".join((said.isoformat(), str(kind), conversation or "", text))),
        type=kind,
        text=text,
        tags=tuple(dict.fromkeys((*marks, *names(details.get("tags", ()), "tags")))),
        fields={**metadata, UNSEEN: tuple(metadata)} if metadata else {},
        confidence=details.get("confidence"),
        conversation=conversation,
        created_at=said,
        updated_at=said,
        valid_from=said if start is None else start,
        valid_until=end,
        owner=user,
        writer=user,
        access=frozenset(names(details.get("access") or (), "access")),
    )
    check_node(node)
    return node


def names(values: Iterable[str], what: str) -> tuple[str, ...]:
    """The values, if they are several texts."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{what} must be several texts, got {values!r}: put it into a list")
    return tuple(values)


def check_details(details: Details) -> None:
    """Refuse names that no memory has."""
    for name in details.keys() - Details.__annotations__.keys():
        raise TypeError(f"a memory has no {name!r}: use {', '.join(Details.__annotations__)}")


def _metadata(details: Details) -> Mapping[str, FieldValue]:
    metadata = details.get("metadata", {})
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata must be a mapping of names to values, got {metadata!r}")
    for name, value in metadata.items():
        if not isinstance(name, str) or name.startswith("_") or not isinstance(value, str | int | float | bool):
            raise InvalidInput(f"metadata cannot have {name!r}: {value!r}: use names as text, and texts or numbers")
    return metadata


def details_of(fact: Fact, details: Details) -> Details:
    """The details of a fact: those of its conversation, its own type and confidence, and its turns as metadata."""
    own = Details(type=fact.type, confidence=fact.confidence, created_at=fact.turns[-1].at)
    turns = {"turns": " ".join(turn.id for turn in fact.turns)}
    return {**own, **details, "metadata": {**_metadata(details), **turns}}


def fact_id(fact: Fact, user: str, conversation: str | None) -> str:
    """The id of a fact of these turns: the same whenever they are read."""
    return node_id(MEMORY, user, "\0".join((conversation or "", *(turn.id for turn in fact.turns), fact.text)))


def as_details(node: Node) -> Details:
    """The details of a stored memory, without its readers."""
    memory = Memory.from_node(node, node.text)
    return Details(
        type=memory.type,
        confidence=memory.confidence,
        tags=memory.tags,
        metadata=memory.metadata,
        pinned=memory.pinned,
        conversation=memory.conversation_id,
        created_at=memory.created_at,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
    )


def moment(details: Details, name: Literal["created_at", "valid_from", "valid_until"]) -> datetime | None:
    """One of the times, with its zone."""
    value = details.get(name)
    if value is not None and not isinstance(value, datetime):
        raise InvalidInput(f"{name} must be None or a time, got {value!r}")
    return None if value is None else aware(value)


def inherited(old: Node, details: Details, now: datetime) -> Details:
    """The details of a revision: those not given are inherited, except the start."""
    start = moment(details, "valid_from") or now
    end = old.valid_until if old.valid_until is not None and old.valid_until > start else None
    before = {**as_details(old), "created_at": None, "valid_from": None, "valid_until": end}
    return {**before, **details}  # type: ignore[typeddict-item]
