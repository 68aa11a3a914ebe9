"""Erasure: a user, what came from a path, or what is older than it may be kept, with its traces and its bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from weftwork.engine import Weft
from weftwork.errors import InvalidInput, NotFound, StoreError
from weftwork.store.protocol import Batch, Store
from weftwork.store.server_state import AuditEntry
from weftwork.wire import encode
from weftwork.write.permit import Kind, permitted

KIND = Kind("node", "list them with  weftwork search")
RECORDS = ("receipts", "contexts", "activity", "feedback", "jobs", "audit")
"""Kinds that retention may name beside types of nodes."""
BATCH = 500
WAITING = "erasure"
"""The mark of a workspace of which something was erased, until the store is written anew."""


@dataclass(frozen=True, slots=True)
class Erased:
    """The report of an erasure."""

    workspace: str
    counts: Mapping[str, int] = field(default_factory=dict)
    """What was removed, by kind."""
    left: Sequence[str] = ()
    """What is still there, each with what to do about it."""


def erase_user(weft: Weft, user: str, *, workspace: str, by: str) -> Erased:
    """Remove a user, all that they own, and all that is stored of what they did."""
    if user == by:
        raise InvalidInput(f"{user!r} cannot erase themselves: name another user with --user")
    store = weft.store
    known = store.erasure.known(workspace, user)
    is_member = user in store.users(workspace)
    if not is_member and not any(known.values()):
        if finish_erasure(store, workspace):  # they were erased before, and the process was killed then
            return Erased(workspace)
        raise NotFound(f"nothing is stored of {user!r} in {workspace!r}")
    if not is_member:
        weft.add_user(user, workspace=workspace)  # who left may own nodes still, which only a member's view shows
    own = sorted(row["node"] for row in known["nodes"] if row.get("owner") == user)
    edited = sum(row.get("owner") is None for row in known["nodes"])

    def remove(batch: Batch) -> Counter[str]:
        with permitted(store, workspace, user, KIND) as permit:
            permit.remove(batch, permit.view.nodes(own), below=True)
        lists = store.erasure.lists_with(workspace, user)
        for name, access in lists.items():
            batch.set_access(name, access - {user})
        batch.remove_user(user)
        return Counter(store.erasure.forget_user(workspace, user)) + Counter({"user": 1, "names on lists": len(lists)})

    left = [f"{edited} nodes that nobody owns and {user!r} wrote last: read and remove them"] if edited else []
    return _erased(weft, workspace, own, remove, by=by, left=left, of="user")


def erase_nodes(
    weft: Weft, ids: Collection[str], remove: Callable[[Batch], object], *, workspace: str, by: str, of: str
) -> Erased:
    """Remove nodes by a function, with all traces of what it removes of these and below them."""

    def counted(batch: Batch) -> Counter[str]:
        remove(batch)
        return Counter()

    return _erased(weft, workspace, ids, counted, by=by, of=of)


def erase_expired(weft: Weft, days: Mapping[str, int], *, workspace: str, by: str) -> Erased:
    """Remove nodes and records that are older than retention allows, by type of node or kind of record."""
    now, erasure = weft.now(), weft.store.erasure
    limits = {kind: _before(now, kind, most) for kind, most in days.items()}
    ids = {
        name
        for kind, limit in limits.items()
        if kind not in RECORDS
        for name in erasure.expired(workspace, kind, limit)
    }

    def remove(batch: Batch) -> Counter[str]:
        batch.remove(ids)
        kinds = [kind for kind in RECORDS if kind in limits]
        return Counter({kind: erasure.forget_before(workspace, kind, limits[kind]) for kind in kinds})

    return _erased(weft, workspace, ids, remove, by=by, of="expired")


def about_user(weft: Weft, user: str, *, workspace: str) -> dict[str, Any]:
    """Return everything that is stored of a user, with the content of the nodes that they own."""
    weft.receipts.write_pending()
    known: dict[str, Any] = dict(weft.store.erasure.known(workspace, user))
    own = sorted(row["node"] for row in known["nodes"] if row.get("owner") == user)
    content: list[object] = []
    if user in weft.store.users(workspace):
        with weft.store.view(workspace, user) as view:
            for start in range(0, len(own), BATCH):
                content += map(encode, view.nodes(own[start : start + BATCH]))
    elif not any(known.values()):
        raise NotFound(f"nothing is stored of {user!r} in {workspace!r}")
    return {"user": user, "workspace": workspace, "content": content, **known}


def _erased(
    weft: Weft,
    workspace: str,
    ids: Collection[str],
    remove: Callable[[Batch], Counter[str]],
    *,
    by: str,
    of: str,
    left: Sequence[str] = (),
) -> Erased:
    """Remove in one transaction, forget the traces of what is gone, and write the store anew."""
    store, erasure = weft.store, weft.store.erasure
    weft.receipts.write_pending()
    candidates = erasure.below(workspace, ids)
    citations = erasure.citations(workspace, candidates)
    with weft.atomic(workspace) as batch:
        counts = remove(batch)
        gone = candidates - erasure.below(workspace, candidates)
        traces = gone | (citations - erasure.citations(workspace, candidates))
        counts += Counter({"nodes": len(gone)}) + Counter(erasure.forget_nodes(workspace, traces))
        batch.mark(WAITING, {WAITING: "compact"})
    details = {"of": of, "nodes": len(gone)}
    store.audit.add(
        AuditEntry(at=weft.now(), action="erase", workspace=workspace, user=by, key="command", details=details)
    )
    remains = list(left)
    try:
        finish_erasure(store, workspace)
    except StoreError as error:
        remains.append(f"bytes of it, since the store was not written anew ({error}): run  weftwork doctor")
    return Erased(workspace, dict(sorted(counts.items())), tuple(remains))


def finish_erasure(store: Store, workspace: str) -> bool:
    """Write the store anew if something was erased and its bytes may be left; return False if there was nothing."""
    if not store.marks(workspace, WAITING):
        return False
    store.erasure.compact(workspace)
    with store.atomic(workspace) as batch:
        batch.mark(WAITING, {WAITING: None})
    return True


def _before(now: datetime, kind: str, days: object) -> datetime:
    if isinstance(days, bool) or not isinstance(days, int) or days < 1:
        raise InvalidInput(f"retention of {kind!r} must be a whole number of days of at least 1, got {days!r}")
    return now - timedelta(days=days)
