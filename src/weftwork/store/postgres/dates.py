"""Finding nodes by a date in one of their fields."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from weftwork.store.postgres.scope import Reader, filter_clause
from weftwork.store.protocol import Closed
from weftwork.store.sqlite.codec import node_info
from weftwork.store.sqlite.dates import AHEAD, spellings
from weftwork.types import Filters, NodeInfo

MOMENT = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:\d{2})?)?$"
"""What counts as a day or a moment; PostgreSQL by itself would read much more."""


def past(
    reader: Reader, names: Sequence[str], now: datetime, closed: Closed, limit: int, filters: Filters
) -> list[NodeInfo]:
    """Visible nodes whose date has passed, the earliest first; one with several dates counts by its earliest."""
    clause, values = filter_clause(filters)
    # What is no day of the calendar is left out here, so that it takes no place of what is.
    rows = reader.rows(
        f"""SELECT {{info}} FROM (
                SELECT n.pk, min(f.value) AS earliest FROM fields f
                JOIN nodes n ON n.workspace = %(ws)s AND n.pk = f.node
                WHERE f.workspace = %(ws)s AND f.name = ANY (%(names)s::text[]) AND f.head < %(latest)s
                  AND CASE WHEN f.value !~ %(moment)s THEN false
                           WHEN length(f.value) = 10 THEN f.value < %(today)s AND pg_input_is_valid(f.value, 'date')
                           WHEN NOT pg_input_is_valid(f.value, 'timestamptz') THEN false
                           ELSE f.value::timestamptz < %(now)s::timestamptz END
                  AND n.acl = {{visible}}
                  AND NOT EXISTS (SELECT 1 FROM fields own WHERE own.workspace = %(ws)s AND own.node = n.pk
                      AND lower(own.name) = ANY (%(closing)s::text[])
                      AND lower(btrim(own.value)) = ANY (%(closed)s::text[])){clause}
                GROUP BY n.pk ORDER BY earliest, n.pk LIMIT %(limit)s
            ) found JOIN nodes n ON n.workspace = %(ws)s AND n.pk = found.pk ORDER BY found.earliest, n.pk""",
        names=spellings(names),
        latest=(now + AHEAD).date().isoformat(),
        today=now.date().isoformat(),
        now=now.isoformat(),
        moment=MOMENT,
        closing=list(closed.fields),
        closed=list(closed.values),
        limit=limit,
        **values,
    )
    return [node_info(row) for row in rows]
