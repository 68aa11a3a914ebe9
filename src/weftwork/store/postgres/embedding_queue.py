"""Which texts wait for a vector, and which worker has taken them on.

Whoever is out of work looks for passages without a vector of the model and enters their texts into `waiting`, once for
each state of the workspace. A worker locks some rows there and skips those that others have locked; it deletes them in
the transaction that writes the vectors. If it dies, its connection ends, and with it the lock: the next one takes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weftwork.store.postgres.workspaces import head, identity, number_of
from weftwork.store.sqlite.codec import fields_of
from weftwork.store.sqlite.embedding_queue import Waiting
from weftwork.store.transfer import SURVEYED
from weftwork.text.split import embedded_text

if TYPE_CHECKING:
    from psycopg import Connection


def take(connection: Connection[Any], workspace: str, model: str, limit: int) -> Waiting:
    """Lock some of the texts that wait and that nobody else has; none if nothing is left, or others have it all."""
    number, owner = number_of(connection, workspace), identity(connection, workspace)
    digests = _locked(connection, owner, model, limit)
    if not digests:
        return {}
    rows = connection.execute(
        """SELECT DISTINCT ON (p.digest) p.digest, n.title, n.fields, p.text FROM passages p
           JOIN nodes n ON n.workspace = %(ws)s AND n.pk = p.node
           WHERE p.workspace = %(ws)s AND p.digest = ANY (%(digests)s::text[]) ORDER BY p.digest, p.key""",
        {"ws": number, "digests": digests},
    )
    texts = {digest: embedded_text(title, fields_of(fields), text) for digest, title, fields, text in rows}
    # What is no longer in the workspace needs no vector.
    settle(connection, workspace, model, [digest for digest in digests if digest not in texts])
    return texts


def count(connection: Connection[Any], workspace: str, model: str, most: int) -> int:
    """How many texts have been entered and wait, or are being worked on, up to a number."""
    row = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM waiting WHERE workspace = %s AND model = %s LIMIT %s) AS found",
        (identity(connection, workspace), model, most),
    ).fetchone()
    assert row is not None
    return int(row[0])


def is_surveyed(connection: Connection[Any], workspace: str, model: str) -> bool:
    """Whether nothing was written since all that waits was entered."""
    found = head(connection, workspace)
    row = connection.execute(
        "SELECT mark FROM marks WHERE workspace = %s AND topic = %s AND name = %s", (found.number, SURVEYED, model)
    ).fetchone()
    return row is not None and row[0] == str(found.version)


def survey(connection: Connection[Any], workspace: str, model: str) -> None:
    """Enter what has no vector, unless that was done since the last write; nobody writes meanwhile."""
    found = head(connection, workspace, locked=True)
    if is_surveyed(connection, workspace, model):
        return
    values = {
        "ws": found.number, "owner": identity(connection, workspace), "model": model, "topic": SURVEYED,
        "mark": str(found.version),
    }  # fmt: skip
    connection.execute(
        """INSERT INTO waiting (workspace, model, digest)
           SELECT DISTINCT %(owner)s::bigint, %(model)s, p.digest FROM passages p
           WHERE p.workspace = %(ws)s AND NOT EXISTS (
               SELECT 1 FROM embeddings e JOIN models m ON m.workspace = %(ws)s AND m.model = e.model
               WHERE e.workspace = %(ws)s AND e.key = p.key AND m.name = %(model)s)
           ON CONFLICT DO NOTHING""",
        values,
    )
    connection.execute("DELETE FROM marks WHERE workspace = %(ws)s AND topic = %(topic)s AND name = %(model)s", values)
    connection.execute(
        "INSERT INTO marks (workspace, topic, name, mark) VALUES (%(ws)s, %(topic)s, %(model)s, %(mark)s)", values
    )


def settle(connection: Connection[Any], workspace: str, model: str, digests: list[str]) -> None:
    """Take texts that have their vectors off the list."""
    connection.execute(
        "DELETE FROM waiting WHERE workspace = %s AND model = %s AND digest = ANY (%s::text[])",
        (identity(connection, workspace), model, digests),
    )


def _locked(connection: Connection[Any], owner: int, model: str, limit: int) -> list[str]:
    rows = connection.execute(
        """SELECT digest FROM waiting WHERE workspace = %s AND model = %s
           ORDER BY digest LIMIT %s FOR UPDATE SKIP LOCKED""",
        (owner, model, limit),
    )
    return [row[0] for row in rows]
