"""What happened in a workspace: activity, use, feedback, changes, and what there is by now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from weftwork.store.protocol import USES_BY_ANOTHER
from weftwork.store.sqlite.codec import from_micros, ids, to_micros
from weftwork.store.sqlite.scope import Reader
from weftwork.types import Change, Event, Usage


def events(reader: Reader, user: str, kind: Literal["view", "edit"], limit: int, since: datetime | None) -> list[Event]:
    """A user's own latest events on nodes that they may still see, newest first."""
    rows = reader.rows(
        """SELECT n.id, p.key, a.at FROM activity a CROSS JOIN nodes n ON n.pk = a.node
           CROSS JOIN passages p ON p.node = n.pk AND p.ordinal = 0
           WHERE a.workspace = :ws AND a.user = :user AND a.kind = :kind AND a.at >= :since AND n.acl IN {visible}
           ORDER BY a.at DESC, n.pk LIMIT :limit""",
        user=user,
        kind=kind,
        since=to_micros(since) if since else -(2**62),
        limit=limit,
    )
    return [Event(name, key, kind, from_micros(at)) for name, key, at in rows]


def usage(reader: Reader, user: str, nodes: Sequence[str]) -> dict[str, Usage]:
    """Use and feedback of the visible nodes among these that have any."""
    rows = reader.rows(
        """SELECT n.id,
                  COALESCE((SELECT SUM(CASE user WHEN :user THEN used ELSE MIN(used, :most) END)
                            FROM usage WHERE node = n.pk), 0),
                  (SELECT COUNT(*) FROM feedback WHERE node = n.pk AND useful = 1),
                  (SELECT COUNT(*) FROM feedback WHERE node = n.pk AND useful = 0)
           FROM nodes n WHERE n.workspace = :ws AND n.acl IN {visible}
             AND n.id IN (SELECT value FROM json_each(:names))""",
        names=ids(nodes),
        user=user,
        most=USES_BY_ANOTHER,
    )
    return {name: Usage(*numbers) for name, *numbers in rows if any(numbers)}


def changes(reader: Reader, since: int) -> list[Change]:
    """What was written or removed after a version, as far as the viewer may (or might) see it."""
    rows = reader.rows(
        """SELECT id, version, deleted FROM changes
           WHERE workspace = :ws AND version > :since AND acl IN {visible} ORDER BY version, node""",
        since=since,
    )
    return [Change(name, version, bool(deleted)) for name, version, deleted in rows]


def counts(reader: Reader) -> dict[str, int]:
    """Totals of what the viewer may see: nodes by type, and edges, tags and passages."""
    found = {
        f"nodes.{kind}": number
        for kind, number in reader.rows(
            "SELECT type, COUNT(*) FROM nodes WHERE workspace = :ws AND acl IN {visible} GROUP BY type ORDER BY type"
        )
    }
    totals = {
        "nodes": "SELECT COUNT(*) FROM nodes WHERE workspace = :ws AND acl IN {visible}",
        "passages": "SELECT COALESCE(SUM(passages), 0) FROM acls WHERE workspace = :ws AND id IN {visible}",
        "edges": """SELECT COUNT(*) FROM edges e JOIN nodes a ON a.pk = e.source JOIN nodes b ON b.pk = e.target
                    WHERE e.workspace = :ws AND a.acl IN {visible} AND b.acl IN {visible}""",
        "tags": """SELECT COUNT(DISTINCT t.tag) FROM tags t JOIN nodes n ON n.pk = t.node
                   WHERE t.workspace = :ws AND n.acl IN {visible}""",
    }
    return {name: reader.rows(query)[0][0] for name, query in totals.items()} | found


def next_turn(reader: Reader, moment: datetime) -> datetime | None:
    """The first moment after this one at which a visible node begins or ceases to be valid."""
    found = [
        row[0]
        for column in ("valid_from", "valid_until")
        for row in reader.rows(
            f"""SELECT {column} FROM nodes WHERE workspace = :ws AND {column} > :moment AND acl IN {{visible}}
                ORDER BY {column} LIMIT 1""",
            moment=to_micros(moment),
        )
    ]
    return from_micros(min(found)) if found else None
