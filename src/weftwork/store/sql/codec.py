"""Rows of a database as Weftwork's values, and back."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from weftwork.store.index.rows import Row, searchable_text
from weftwork.text.dates import iso_date
from weftwork.text.split import embedded_text
from weftwork.types import ABOUT, IDS, PAGE, Entry, FieldValue, Node, NodeInfo, Passage, seen_fields

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_MARKS = re.compile(r"^[\W_]+|[\W_]+$")
_LONGEST_DATE = 80
"""Characters of a field that are read as a date."""
NAMES = ("aliases", "alias", IDS)
"""The fields that hold names of their node."""
INFO_WIDTH = 18
"""Columns that `node_info` takes."""
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_ORDERED = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_Info = TypeVar("_Info", NodeInfo, Node)


def to_micros(moment: datetime) -> int:
    """Microseconds since the epoch; a time without a zone is taken as UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).__sub__(EPOCH) // MICROSECOND


def from_micros(value: int) -> datetime:
    """The time that a stored number stands for."""
    return EPOCH + timedelta(microseconds=value)


def optional_micros(moment: datetime | None) -> int | None:
    """Microseconds since the epoch, None for None."""
    return None if moment is None else to_micros(moment)


def optional_moment(value: int | None) -> datetime | None:
    """The time that a stored number stands for, None for NULL."""
    return None if value is None else from_micros(value)


def dump(value: object) -> str:
    """Canonical JSON: the same bytes for the same value."""
    return _CANONICAL.encode(value)


def dump_fields(fields: Mapping[str, object]) -> str:
    """Fields as JSON, in the order of their author."""
    return _ORDERED.encode(dict(fields)) if fields else "{}"


def node_info(row: Sequence[Any]) -> NodeInfo:
    """A node without its text, from its first INFO_WIDTH columns."""
    return _made(NodeInfo, row)


def whole_node(row: Sequence[Any]) -> Node:
    """A node from the columns of its info and its text, which is NULL if it has no passages."""
    return _made(Node, row, text=row[INFO_WIDTH] or "")


def _made(kind: type[_Info], row: Sequence[Any], **more: str) -> _Info:
    return kind(
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
        access=access_of(row[13]),
        valid_from=optional_moment(row[14]),
        valid_until=optional_moment(row[15]),
        writer=row[16],
        origin=row[17],
        **more,
    )


def page_node(row: Sequence[Any]) -> Node:
    """A document page from its id, its document, its text and its fields."""
    return Node(id=row[0], type=PAGE, parent=row[1], text=row[2] or "", fields=fields_of(row[3]))


def searchable_node(row: Sequence[Any]) -> Node:
    """The parts of a node that are searched with its passages, from id, title, tags and fields."""
    return Node(id=row[0], title=row[1], tags=tuple(json.loads(row[2])), fields=fields_of(row[3]))


def fields_of(text: str) -> Mapping[str, FieldValue]:
    """The fields of a node from their column."""
    if text == "{}":
        return {}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()}


def access_of(text: str | None) -> frozenset[str] | None:
    """A node's own access list from its column."""
    return None if text is None else frozenset(json.loads(text))


def access_text(access: frozenset[str] | None) -> str | None:
    """A node's own access list as its column has it."""
    return None if access is None else dump(sorted(access))


def index_row(row: Sequence[Any]) -> Row:
    """A passage as the indexes take it.

    Columns: key, node, access list, ordinal, type, title, source, text, tags, fields, updated_at, confidence,
    conversation, digest, valid_from, valid_until.
    """
    tags = json.loads(row[8]) if row[8] != "[]" else ()
    fields = _searchable_fields(json.loads(row[9])) if row[9] != "{}" else ""
    return Row(*(*row[:8], tuple(tags), fields, *row[10:]))


def searchable(node: Node, passage: Passage) -> str:
    """The text that is indexed for a passage: the same as `index_row(…).searchable`."""
    return searchable_text(node.title, passage.text, node.tags, _searchable_fields(node.fields))


def _searchable_fields(fields: Mapping[str, Any]) -> str:
    """Names and values of fields as words."""
    pairs = field_pairs(seen_fields(fields)) if fields else ()
    return " ".join([value if name == ABOUT else f"{name} {value}" for name, value in pairs])


def field_pairs(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The pairs of field and value as text; absent values are left out."""
    return [
        (name, _as_text(item))
        for name, value in fields.items()
        for item in (value if isinstance(value, (list, tuple)) else (value,))
        if item is not None
    ]


def indexed_pairs(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The same as they are compared: dates in ISO format, other texts in lower case without marks around them.

    Names of the node keep their marks: C is not C++.
    """
    return [(name, folded_name(value) if name in NAMES else _comparable(value)) for name, value in field_pairs(fields)]


def folded_name(name: str) -> str:
    """A name as it is looked up among those in fields."""
    return name.strip().lower()


def _comparable(value: str) -> str:
    if _ISO.match(value):
        return value
    words = _MARKS.sub("", value.replace("\u2019", "'")).lower()
    return iso_date(value[:_LONGEST_DATE]) or words or value.strip()


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def text_to_embed(title: str, fields: str, text: str) -> str:
    """The text that is embedded for a passage, from the columns of its node and its own."""
    return embedded_text(title, fields_of(fields), text)


def digest_of(entry: Entry) -> str:
    """A hash of everything that was given for a node: an equal one need not be written."""
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
    if node.origin != "written":
        parts += (node.origin,)
    return hashlib.blake2b(dump(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
