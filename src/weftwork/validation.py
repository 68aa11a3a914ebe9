"""Validation of requests before anything is read for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from weftwork.clock import aware
from weftwork.errors import InvalidInput, UnknownName
from weftwork.pack import check_budget
from weftwork.provenance import TRUSTS
from weftwork.request import Message, Request, Topic
from weftwork.text.truncate import check_strategy
from weftwork.types import Filters, is_number

ACTIVITIES = ("view", "edit")
SHOWN = ("type", "tags", "score", "route", "origin")
SINGLE: tuple[tuple[str, type, str], ...] = (
    ("filters", Filters, "Filters(types=frozenset({'page'}))"),
    ("boosts", Mapping, "a weight for each tag or type, such as {'urgent': 0.5}"),
    ("decay", Mapping, "the days for each type, such as {'preference': 90}"),
)
SEVERAL: tuple[tuple[str, type, str], ...] = (
    ("history", Message, "messages such as (Message('user', 'What about the dome?'),)"),
    ("topics", Topic, "topics such as (Topic('the dome'), Topic('rollers', weight=2))"),
    ("include", str, "ids of nodes, such as ('dome',)"),
    ("prefer_types", str, "types, such as frozenset({'task'})"),
    ("edge_types", str, "types of edges, such as ('reference',)"),
    ("edge_order", str, "types of edges, such as ('reference', 'child')"),
    ("key_fields", str, "names of fields, such as ('due',)"),
    ("show", str, "details, such as frozenset({'tags'})"),
)
"""What a request holds one and several of, and how each is written."""


def check_request(request: Request) -> None:
    """Refuse a request that cannot be answered, before anything is read."""
    check_shapes(request)
    check_budget(request.budget)
    if not isinstance(request.query, str):
        raise InvalidInput(f"the query must be text, got {request.query!r}")
    if request.vector is not None:
        check_vector(request.vector)
    check_decay(request.decay)
    as_of = request.filters.as_of
    if as_of is not None and not isinstance(as_of, datetime):
        raise InvalidInput(f"as_of must be a time, got {as_of!r}")
    if request.depth is not None:
        check_depth(request.depth)
    check_strategy(request.truncation)
    least = request.min_support
    if least is not None and (isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1):
        raise InvalidInput(f"min_support must be a number from 0 to 1, got {least!r}: 0 shows whatever is nearest")
    if request.trust is not None and request.trust not in TRUSTS:
        raise UnknownName("trust", str(request.trust), TRUSTS)
    for name in request.show:
        if name not in SHOWN:
            raise UnknownName("detail to show", name, SHOWN)


def check_shapes(request: Request) -> None:
    """Refuse dicts, strings and single values where a call wants something else, with how to write it."""
    for name, kind, example in SINGLE:
        if not isinstance(getattr(request, name), kind):
            raise InvalidInput(f"{name} cannot be {_kind(getattr(request, name))}: give {example}")
    for name, kind, example in SEVERAL:
        values = getattr(request, name)
        wrong = values if isinstance(values, str | Mapping) or not isinstance(values, Collection) else None
        wrong = next((value for value in values if not isinstance(value, kind)), None) if wrong is None else wrong
        if wrong is not None:
            raise InvalidInput(f"{name} cannot hold {_kind(wrong)}: give {example}")


def _kind(value: object) -> str:
    """The value as an error names it: its type, and the beginning of what it is."""
    return f"a {type(value).__name__} such as {repr(value)[:60]}"


def valid_query(query: object) -> str:
    """The query as valid UTF-8: a terminal may hand in bytes that are not."""
    if not isinstance(query, str):
        raise InvalidInput(f"the query must be text, got {query!r}")
    return query.encode("utf-8", "replace").decode("utf-8")


def check_depth(depth: object) -> None:
    """Refuse a depth of a walk that is not from 1 to 5."""
    if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= 5:
        raise InvalidInput(f"depth must be from 1 to 5, got {depth!r}")


def check_vector(values: object) -> None:
    """Refuse a vector that is not a tuple of finite numbers: it is a part of the cache's key."""
    if not isinstance(values, tuple) or not all(map(is_number, values)):
        raise InvalidInput("the vector must be a tuple of finite numbers: embed the query again")


def check_decay(decay: Mapping[str, float]) -> None:
    """Refuse a decay that is not a positive number of days."""
    for name, days in decay.items():
        if isinstance(days, bool) or not isinstance(days, (int, float)) or not days > 0:
            raise InvalidInput(f"the decay of {name!r} must be a number of days above 0, got {days!r}")


def check_activity(kind: object) -> None:
    """Refuse a kind of activity that is neither a view nor an edit."""
    if kind not in ACTIVITIES:
        raise UnknownName("kind of activity", str(kind), ACTIVITIES)


def past_moment(at: object, now: datetime) -> datetime:
    """The moment of something that has happened: now, unless another is given."""
    if at is None:
        return now
    if not isinstance(at, datetime):
        raise InvalidInput(f"at must be a time, got {at!r}")
    if aware(at) > now:
        raise InvalidInput(f"{aware(at).isoformat()} is in the future: leave out at to mean now")
    return aware(at)


def dated(request: Request, moment: datetime) -> Request:
    """The request with the moment whose truth it asks for: the present, unless it names another."""
    as_of = aware(request.filters.as_of or moment)
    return replace(request, filters=replace(request.filters, as_of=as_of))
