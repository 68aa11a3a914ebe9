"""Filters of a request as conditions of a statement."""

from __future__ import annotations

from collections.abc import Mapping

from weftwork.store.sql.codec import optional_micros
from weftwork.types import Filters


def filter_clause(filters: Filters, conditions: Mapping[str, str]) -> tuple[str, dict[str, object]]:
    """The conditions of the filters that are set, each after AND, and the values of their parameters.

    A condition stands in `conditions` under the name of the one parameter that it takes.
    """
    values = filter_values(filters)
    return "".join(f" AND {conditions[name]}" for name in values), values


def filter_values(filters: Filters) -> dict[str, object]:
    """The filters that are set, by name, as values of parameters."""
    values: dict[str, object] = {
        "types": sorted(filters.types) or None,
        "tags": sorted(filters.tags) or None,
        "after": optional_micros(filters.after),
        "before": optional_micros(filters.before),
        "confidence": filters.min_confidence,
        "conversation": filters.conversation,
        "as_of": optional_micros(filters.as_of),
        "excluded": sorted(filters.exclude) or None,
        "excluded_types": sorted(filters.exclude_types) or None,
    }
    return {name: value for name, value in values.items() if value is not None}
