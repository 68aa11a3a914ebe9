"""Problems that a database can have and still answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weftwork.store.postgres.policies import APPLICATION
from weftwork.store.postgres.words import KEY

if TYPE_CHECKING:
    from psycopg import Connection

_TOTALS = """SELECT a.id, a.passages, COALESCE(p.found, 0) FROM acls a LEFT JOIN (
        SELECT acl, count(*) AS found, sum(words) AS words FROM passages WHERE workspace = %(ws)s GROUP BY acl
    ) p ON p.acl = a.id
    WHERE a.workspace = %(ws)s AND (a.passages <> COALESCE(p.found, 0) OR a.words <> COALESCE(p.words, 0))"""
_PARENTS = """SELECT count(*) FROM nodes t WHERE t.workspace = %(ws)s AND t.parent IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.workspace = %(ws)s AND n.pk = t.parent)"""
_WORDS = f"""SELECT count(*) FROM (
        SELECT {KEY} AS key, w.acl, count(*) AS terms FROM words w CROSS JOIN unnest(w.postings) AS o (posting)
        WHERE w.workspace = %(ws)s GROUP BY 1, 2
    ) w FULL JOIN (
        SELECT p.key, p.acl, (SELECT count(*) FROM unnest(p.lexemes) l WHERE l.positions IS NOT NULL) AS terms
        FROM passages p WHERE p.workspace = %(ws)s
    ) p ON p.key = w.key AND p.acl = w.acl WHERE COALESCE(w.terms, 0) <> COALESCE(p.terms, 0)"""
_WALL = "SELECT row_security_active('nodes')"


def problems(connection: Connection[Any], numbers: dict[str, int]) -> list[str]:
    """Problems of these workspaces, given by name and number, and of the database as a whole."""
    messages = []
    wall = connection.execute(_WALL).fetchone()
    if wall is None or not wall[0]:
        messages.append(
            f"row-level security does not hold for this login: make the role {APPLICATION} and grant it, "
            "see docs/postgres.md"
        )
    for name, number in numbers.items():
        messages += [f"{name}: {problem}" for problem in _of(connection, number)]
    return messages


def _of(connection: Connection[Any], number: int) -> list[str]:
    connection.execute("SELECT weftwork_enter(%s)", (number,))
    values = {"ws": number}
    messages = [
        f"access list {row[0]} counts {row[1]} passages where there are {row[2]}"
        for row in connection.execute(_TOTALS, values)
    ]
    for (count,) in connection.execute(_PARENTS, values):
        messages += [f"{count} nodes belong to a missing parent"] if count else []
    for (count,) in connection.execute(_WORDS.encode(), values):
        messages += [f"the words of {count} passages are not filed: add them again"] if count else []
    return messages
