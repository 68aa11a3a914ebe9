"""Access lists: inherited on write and interned; a node carries the number of its effective list."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from weftwork.store.sql.codec import access_of
from weftwork.store.sql.queries import WriteQueries
from weftwork.store.sql.session import Session


class AccessLists(ABC):
    """The access lists of one workspace, within one transaction, each known by a number."""

    def __init__(self, session: Session, sql: WriteQueries, default: frozenset[str]) -> None:
        self._session = session
        self._sql = sql
        self._default = default
        self._numbers: dict[frozenset[str], int] = {}
        self._principals: dict[int, frozenset[str]] = {}
        self.changed: set[int] = set()
        """Stored nodes whose effective list changed."""

    def effective(self, access: frozenset[str] | None, owner: str | None, parent_acl: int | None) -> int:
        """The number of a node's effective list: its own or its parent's, plus the owner."""
        if access is not None:
            principals = access
        elif parent_acl is not None:
            principals = self._principals_of(parent_acl)
        else:
            principals = self._default
        return self._number(principals if owner is None else principals | {owner})

    def settle(self, node: int) -> list[int]:
        """Recompute the lists of a node and of its subtree; return the nodes below that changed."""
        ((access, owner, parent_acl, acl),) = self._session.rows(self._sql.ACCESS, node=node)
        effective = self.effective(access_of(access), owner, parent_acl)
        if effective == acl:
            return []
        self._assign({node: effective})
        self.changed.add(node)
        return self.spread([node])

    def spread(self, roots: Iterable[int]) -> list[int]:
        """Recompute the lists of the subtrees below these nodes; return the nodes that changed."""
        changed: list[int] = []
        frontier = list(roots)
        self.changed.update(frontier)
        while frontier:
            lists: dict[int, int] = {}
            for node, acl, access, owner, parent_acl in self._session.rows(self._sql.ACCESS_BELOW, nodes=frontier):
                effective = self.effective(access_of(access), owner, parent_acl)
                if effective != acl:
                    lists[node] = effective
            self._assign(lists)
            frontier = list(lists)
            changed += frontier
        self.changed.update(changed)
        return changed

    @abstractmethod
    def _intern(self, principals: frozenset[str]) -> int:
        """The number of a list, which is stored if it is new."""

    @abstractmethod
    def _assign(self, lists: Mapping[int, int]) -> None:
        """Set the lists of nodes, and of their passages."""

    def _principals_of(self, number: int) -> frozenset[str]:
        if number not in self._principals:
            ((principals,),) = self._session.rows(self._sql.PRINCIPALS, acl=number)
            self._principals[number] = frozenset(json.loads(principals))
        return self._principals[number]

    def _number(self, principals: frozenset[str]) -> int:
        if principals not in self._numbers:
            self._numbers[principals] = self._intern(principals)
            self._principals[self._numbers[principals]] = principals
        return self._numbers[principals]
