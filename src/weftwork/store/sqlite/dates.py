"""Finding nodes by a date in one of their fields."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from weftwork.store.protocol import Closed
from weftwork.store.sqlite.codec import ids, node_info
from weftwork.store.sqlite.scope import Reader, filter_clause
from weftwork.types import Filters, NodeInfo

AHEAD = timedelta(days=2)
"""A text that is later than this cannot be a moment that has passed, whatever its zone."""


def past(
    reader: Reader, names: Sequence[str], now: datetime, closed: Closed, limit: int, filters: Filters
) -> list[NodeInfo]:
    """Visible nodes whose date has passed, the earliest first; one with several dates counts by its earliest."""
    clause, values = filter_clause(filters)
    # What is no day of the calendar is left out here, so that it takes no place of what is.
    rows = reader.rows(
        f"""SELECT {{info}} FROM json_each(:names) names
            CROSS JOIN fields ON fields.workspace = :ws AND fields.name = names.value AND fields.value < :latest
            CROSS JOIN nodes n ON n.pk = fields.node
            WHERE CASE length(fields.value) WHEN 10 THEN fields.value < :today
                  ELSE julianday(fields.value) < julianday(:now) END
              AND n.acl IN {{visible}}
              AND NOT EXISTS (SELECT 1 FROM fields own WHERE own.node = n.pk
                  AND lower(own.name) IN (SELECT value FROM json_each(:closing))
                  AND lower(trim(own.value)) IN (SELECT value FROM json_each(:closed)))
              AND date(substr(fields.value, 1, 10), '+0 days') = substr(fields.value, 1, 10){clause}
            GROUP BY n.pk ORDER BY MIN(fields.value), n.pk LIMIT :limit""",
        names=ids(spellings(names)),
        latest=(now + AHEAD).date().isoformat(),
        today=now.date().isoformat(),
        now=now.isoformat(),
        closing=ids(closed.fields),
        closed=ids(closed.values),
        limit=limit,
        **values,
    )
    return [node_info(row) for row in rows]


def spellings(names: Sequence[str]) -> list[str]:
    """The usual ways to write each name: the index tells upper case from lower."""
    found = (spelling for name in names for spelling in (name, name.capitalize(), name.title(), name.upper()))
    return list(dict.fromkeys(found))
