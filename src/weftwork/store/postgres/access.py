"""Storage of access lists, and their assignment to all rows of a node."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from weftwork.store.postgres import words, write_queries
from weftwork.store.postgres.session import Session
from weftwork.store.sql.access import AccessLists
from weftwork.store.sql.codec import dump


class PostgresAccessLists(AccessLists):
    """The access lists of one workspace, within one transaction."""

    _session: Session

    def __init__(self, session: Session, default: frozenset[str]) -> None:
        super().__init__(session, write_queries, default)

    def _intern(self, principals: frozenset[str]) -> int:
        text = dump(sorted(principals))
        digest = list_digest(text)
        rows = self._session.rows("SELECT id FROM acls WHERE workspace = %(ws)s AND digest = %(digest)s", digest=digest)
        if rows:
            return int(rows[0][0])
        number = take_numbers(self._session, "list", 1)
        self._session.run(
            "INSERT INTO acls (workspace, id, principals, digest) VALUES (%(ws)s, %(acl)s, %(text)s, %(digest)s)",
            acl=number,
            text=text,
            digest=digest,
        )
        self._session.run_many(
            "INSERT INTO acl_principals (workspace, principal, acl) VALUES (%(ws)s, %(principal)s, %(acl)s)",
            [{"principal": principal, "acl": number} for principal in sorted(principals)],
        )
        return number

    def _assign(self, lists: Mapping[int, int]) -> None:
        if not lists:
            return
        words.remove(self._session, lists)
        for table, column in (("nodes", "pk"), ("passages", "node")):
            self._session.run(
                f"""UPDATE {table} t SET acl = v.acl
                    FROM unnest(%(nodes)s::bigint[], %(acls)s::bigint[]) AS v (node, acl)
                    WHERE t.workspace = %(ws)s AND t.{column} = v.node""",
                nodes=list(lists),
                acls=list(lists.values()),
            )
        self._session.run(
            """UPDATE embeddings e SET acl = p.acl FROM passages p
               WHERE p.workspace = %(ws)s AND p.node = ANY (%(nodes)s::bigint[])
                 AND e.workspace = %(ws)s AND e.key = p.key""",
            nodes=list(lists),
        )
        words.file(self._session, lists)


def list_digest(principals: str) -> str:
    """The hash by which a list is looked up: the list itself may be too long for an index."""
    return blake2b(principals.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def take_numbers(session: Session, kind: str, count: int) -> int:
    """Reserve numbers of a kind and return the first; none is ever reused in a workspace."""
    rows = session.rows(
        f"UPDATE workspaces SET next_{kind} = next_{kind} + %(count)s WHERE workspace = %(ws)s RETURNING next_{kind}",
        count=count,
    )
    return int(rows[0][0]) - count
