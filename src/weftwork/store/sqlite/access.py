"""Storage of access lists."""

from __future__ import annotations

from collections.abc import Mapping

from weftwork.store.sql.access import AccessLists
from weftwork.store.sql.codec import dump
from weftwork.store.sqlite import write_queries
from weftwork.store.sqlite.session import Session


class SqliteAccessLists(AccessLists):
    """The access lists of one workspace, within one transaction."""

    def __init__(self, session: Session, default: frozenset[str]) -> None:
        super().__init__(session, write_queries, default)

    def _intern(self, principals: frozenset[str]) -> int:
        text = dump(sorted(principals))
        rows = self._session.rows("SELECT id FROM acls WHERE workspace = :ws AND principals = :text", text=text)
        if not rows:
            rows = self._session.rows(
                "INSERT INTO acls (workspace, principals) VALUES (:ws, :text) RETURNING id", text=text
            )
            self._session.run(
                "INSERT INTO acl_principals (workspace, principal, acl) SELECT :ws, value, :acl FROM json_each(:names)",
                acl=rows[0][0],
                names=sorted(principals),
            )
        return int(rows[0][0])

    def _assign(self, lists: Mapping[int, int]) -> None:
        rows = [{"node": node, "acl": acl} for node, acl in lists.items()]
        self._session.run_many("UPDATE nodes SET acl = :acl WHERE pk = :node", rows)
        self._session.run_many("UPDATE passages SET acl = :acl WHERE node = :node", rows)
