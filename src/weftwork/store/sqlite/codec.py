"""Between Weftwork's values and the columns of a row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from weftwork.store.index.rows import Row
from weftwork.types import ABOUT, Entry, FieldValue, NodeInfo, Passage, seen_fields

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

INFO = """n.id, n.type, n.title, (SELECT p.id FROM nodes p WHERE p.pk = n.parent AND p.acl IN {visible}),
    n.position, n.tags, n.fields, n.confidence, n.conversation, n.created_at, n.updated_at, n.source,
    n.owner, n.access, n.valid_from, n.valid_until"""
"""Columns of a NodeInfo; the parent is named only to those who may see it."""
INFO_WIDTH = 16

PASSAGE = 'p.ordinal, p.start, p."end", p.text, p.tokens, p.digest, p.citation, p.key'

ROW = """p.key, p.node, p.acl, p.ordinal, n.type, n.title, n.source, p.text, n.tags, n.fields, n.updated_at,
    n.confidence, n.conversation, p.digest, n.valid_from, n.valid_until"""


def to_micros(moment: datetime) -> int:
    """Microseconds since the epoch; a time without a zone is taken as UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).__sub__(EPOCH) // MICROSECOND


def from_micros(value: int) -> datetime:
    """The time that a stored number stands for."""
    return EPOCH + timedelta(microseconds=value)


def dump(value: object) -> str:
    """Canonical JSON: the same bytes for the same value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def ids(values: Iterable[object]) -> str:
    """A JSON list, for `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(values))


def node_info(row: Sequence[Any]) -> NodeInfo:
    """A node from the columns of INFO."""
    return NodeInfo(
        id=row[0],
        type=row[1],
        title=row[2],
        parent=row[3],
        position=row[4],
        tags=tuple(json.loads(row[5])) if row[5] != "[]" else (),
        fields=fields_of(row[6]),
        confidence=row[7],
        conversation=row[8],
        created_at=from_micros(row[9]),
        updated_at=from_micros(row[10]),
        source=row[11],
        owner=row[12],
        access=None if row[13] is None else frozenset(json.loads(row[13])),
        valid_from=None if row[14] is None else from_micros(row[14]),
        valid_until=None if row[15] is None else from_micros(row[15]),
    )


def fields_of(text: str) -> Mapping[str, FieldValue]:
    """Fields as they are kept in a row."""
    if text == "{}":
        return {}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()}


def passage(row: Sequence[Any]) -> Passage:
    """A passage from the columns of PASSAGE."""
    return Passage(*row)


def index_row(row: Sequence[Any]) -> Row:
    """What the indexes take, from the columns of ROW."""
    return Row(
        key=row[0],
        node=row[1],
        acl=row[2],
        ordinal=row[3],
        type=row[4],
        title=row[5],
        source=row[6],
        text=row[7],
        tags=tuple(json.loads(row[8])) if row[8] != "[]" else (),
        fields=" ".join(searchable_fields(row[9])) if row[9] != "{}" else "",
        updated=row[10],
        confidence=row[11],
        conversation=row[12],
        digest=row[13],
        valid_from=row[14],
        valid_until=row[15],
    )


def searchable_fields(text: str) -> list[str]:
    """Names and values of fields as words."""
    pairs = field_pairs(seen_fields(json.loads(text)))
    return [value if name == ABOUT else f"{name} {value}" for name, value in pairs]


def field_pairs(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each field with each of its values as text; absent values are left out."""
    return [
        (name, _as_text(item))
        for name, value in fields.items()
        for item in (value if isinstance(value, (list, tuple)) else (value,))
        if item is not None
    ]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def digest_of(entry: Entry) -> str:
    """A hash of everything that was given for a node: equal means nothing to do."""
    node = entry.node
    parts: tuple[object, ...] = (
        node.type, node.title, node.parent, node.position, list(node.tags), dict(node.fields), node.confidence,
        node.conversation, node.created_at and to_micros(node.created_at),
        node.updated_at and to_micros(node.updated_at), node.source, node.owner,
        None if node.access is None else sorted(node.access),
        [(p.start, p.end, p.tokens, p.digest, p.citation) for p in entry.passages],
    )  # fmt: skip
    if node.valid_from or node.valid_until:  # others keep the hash that they had before there was such a thing
        parts += ([moment and to_micros(moment) for moment in (node.valid_from, node.valid_until)],)
    return hashlib.blake2b(dump(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
