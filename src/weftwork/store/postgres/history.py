"""What happened in a workspace: activity, use, feedback, changes, and what there is by now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from weftwork.store.postgres.scope import Reader
from weftwork.store.protocol import USES_BY_ANOTHER
from weftwork.store.sqlite.codec import from_micros, to_micros
from weftwork.types import Change, Event, Usage


def events(reader: Reader, user: str, kind: Literal["view", "edit"], limit: int, since: datetime | None) -> list[Event]:
    """A user's own latest events on nodes that they may still see, newest first."""
    rows = reader.rows(
        """SELECT n.id, p.key, a.at FROM activity a JOIN nodes n ON n.workspace = %(ws)s AND n.pk = a.node
           JOIN passages p ON p.workspace = %(ws)s AND p.node = n.pk AND p.ordinal = 0
           WHERE a.workspace = %(ws)s AND a.who = %(user)s AND a.kind = %(kind)s AND a.at >= %(since)s
             AND n.acl = {visible}
           ORDER BY a.at DESC, n.pk LIMIT %(limit)s""",
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
                  COALESCE((SELECT sum(CASE WHEN u.who = %(user)s THEN u.used ELSE LEAST(u.used, %(most)s) END)
                            FROM usage u WHERE u.workspace = %(ws)s AND u.node = n.pk), 0)::bigint,
                  (SELECT count(*) FROM feedback f WHERE f.workspace = %(ws)s AND f.node = n.pk AND f.useful),
                  (SELECT count(*) FROM feedback f WHERE f.workspace = %(ws)s AND f.node = n.pk AND NOT f.useful)
           FROM nodes n WHERE n.workspace = %(ws)s AND n.acl = {visible} AND n.id = ANY (%(names)s::text[])""",
        names=list(nodes),
        user=user,
        most=USES_BY_ANOTHER,
    )
    return {name: Usage(*numbers) for name, *numbers in rows if any(numbers)}


def changes(reader: Reader, since: int) -> list[Change]:
    """What was written or removed after a version, as far as the viewer may (or might) see it."""
    rows = reader.rows(
        """SELECT id, version, deleted FROM changes
           WHERE workspace = %(ws)s AND version > %(since)s AND acl = {visible} ORDER BY version, node""",
        since=since,
    )
    return [Change(name, version, deleted) for name, version, deleted in rows]


def counts(reader: Reader) -> dict[str, int]:
    """Totals of what the viewer may see: nodes by type, and edges, tags and passages."""
    kinds = reader.rows(
        "SELECT type, count(*) FROM nodes WHERE workspace = %(ws)s AND acl = {visible} GROUP BY type ORDER BY type"
    )
    edges = """SELECT count(*) FROM edges e
        JOIN nodes a ON a.workspace = %(ws)s AND a.pk = e.source AND a.acl = {visible}
        JOIN nodes b ON b.workspace = %(ws)s AND b.pk = e.target AND b.acl = {visible} WHERE e.workspace = %(ws)s"""
    tags = """SELECT count(DISTINCT t.tag) FROM tags t
        JOIN nodes n ON n.workspace = %(ws)s AND n.pk = t.node AND n.acl = {visible} WHERE t.workspace = %(ws)s"""
    return {
        "nodes": sum(number for _, number in kinds),
        "passages": reader.passages,
        "edges": reader.rows(edges)[0][0],
        "tags": reader.rows(tags)[0][0],
    } | {f"nodes.{kind}": number for kind, number in kinds}


def next_turn(reader: Reader, moment: datetime) -> datetime | None:
    """The first moment after this one at which a visible node begins or ceases to be valid."""
    parts = (
        f"""(SELECT {column} AS turn FROM nodes WHERE workspace = %(ws)s AND {column} > %(moment)s AND acl = {{visible}}
             ORDER BY {column} LIMIT 1)"""
        for column in ("valid_from", "valid_until")
    )
    found = reader.rows(f"SELECT min(turn) FROM ({' UNION ALL '.join(parts)}) turns", moment=to_micros(moment))[0][0]
    return None if found is None else from_micros(found)
