"""The embedding queue: texts without a vector, in the table `waiting`.

An idle worker fills the queue, once for each version of the workspace. Workers claim rows with SKIP LOCKED and delete
them in the transaction that stores the vectors. If a worker dies, its locks end with its connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weftwork.store.postgres.workspaces import head, number_of
from weftwork.store.sql.codec import text_to_embed
from weftwork.store.transfer import SURVEYED

if TYPE_CHECKING:
    from psycopg import Connection


def take(connection: Connection[Any], workspace: str, model: str, limit: int) -> dict[str, str]:
    """Lock some texts of the queue that no other worker has locked; may be empty."""
    number = number_of(connection, workspace)
    digests = _locked(connection, number, model, limit)
    if not digests:
        return {}
    rows = connection.execute(
        """SELECT DISTINCT ON (p.digest) p.digest, n.title, n.fields, p.text FROM passages p
           JOIN nodes n ON n.workspace = %(ws)s AND n.pk = p.node
           WHERE p.workspace = %(ws)s AND p.digest = ANY (%(digests)s::text[]) ORDER BY p.digest, p.key""",
        {"ws": number, "digests": digests},
    )
    texts = {digest: text_to_embed(title, fields, text) for digest, title, fields, text in rows}
    # Texts that are no longer in the workspace need no vector.
    settle(connection, workspace, model, [digest for digest in digests if digest not in texts])
    return texts


def count(connection: Connection[Any], workspace: str, model: str, most: int) -> int:
    """The length of the queue, locked texts included, up to `most`."""
    row = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM waiting WHERE workspace = %s AND model = %s LIMIT %s) AS found",
        (number_of(connection, workspace), model, most),
    ).fetchone()
    assert row is not None
    return int(row[0])


def is_surveyed(connection: Connection[Any], workspace: str, model: str) -> bool:
    """True if the queue was filled at the present version of the workspace."""
    workspace_head = head(connection, workspace)
    row = connection.execute(
        "SELECT mark FROM marks WHERE workspace = %s AND topic = %s AND name = %s",
        (workspace_head.number, SURVEYED, model),
    ).fetchone()
    return row is not None and row[0] == str(workspace_head.version)


def survey(connection: Connection[Any], workspace: str, model: str) -> None:
    """Fill the queue unless that was done at this version; locks the workspace."""
    workspace_head = head(connection, workspace, locked=True)
    if is_surveyed(connection, workspace, model):
        return
    values = {
        "ws": workspace_head.number, "model": model, "topic": SURVEYED, "mark": str(workspace_head.version)
    }  # fmt: skip
    connection.execute(
        """INSERT INTO waiting (workspace, model, digest)
           SELECT DISTINCT p.workspace, %(model)s, p.digest FROM passages p
           WHERE p.workspace = %(ws)s AND NOT EXISTS (
               SELECT 1 FROM embeddings e JOIN models m ON m.workspace = %(ws)s AND m.model = e.model
               WHERE e.workspace = %(ws)s AND e.key = p.key AND m.name = %(model)s)
           ON CONFLICT DO NOTHING""",
        values,
    )
    connection.execute(
        """INSERT INTO marks (workspace, topic, name, mark) VALUES (%(ws)s, %(topic)s, %(model)s, %(mark)s)
           ON CONFLICT (workspace, topic, name) DO UPDATE SET mark = excluded.mark""",
        values,
    )


def settle(connection: Connection[Any], workspace: str, model: str, digests: list[str]) -> None:
    """Remove texts from the queue."""
    connection.execute(
        "DELETE FROM waiting WHERE workspace = %s AND model = %s AND digest = ANY (%s::text[])",
        (number_of(connection, workspace), model, digests),
    )


def _locked(connection: Connection[Any], number: int, model: str, limit: int) -> list[str]:
    rows = connection.execute(
        """SELECT digest FROM waiting WHERE workspace = %s AND model = %s
           ORDER BY digest LIMIT %s FOR UPDATE SKIP LOCKED""",
        (number, model, limit),
    )
    return [row[0] for row in rows]
