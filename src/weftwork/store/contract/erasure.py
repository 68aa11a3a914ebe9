"""Erasure: what is stored of a user is told, and goes with all its traces."""

from __future__ import annotations

import json

from weftwork.store.contract.kit import DAY, EMBEDDER, NOW, WORKSPACE, node, opened, put
from weftwork.store.protocol import Store
from weftwork.store.receipts import ReceiptRow
from weftwork.store.server_state import AuditEntry, Job, Key

KINDS = ("groups", "access", "activity", "feedback", "usage", "receipts", "given", "contexts", "jobs", "keys", "audit")


def busy(store: Store) -> None:
    """Fill a store with one row of each kind for ben, and one for ana."""
    opened(store, ben=("red",))
    put(store, node("hers", "a lantern", owner="ana"), node("his", "a harbour", owner="ben", writer="ben"))
    put(store, node("t", type="thread"), node("open", "for all", writer="ben", access=frozenset({"ana", "ben"})))
    for number, user in enumerate(("ana", "ben")):
        with store.atomic(WORKSPACE) as batch:
            batch.record(user, "hers", "view", NOW)
            batch.give_feedback(user, "hers", True, NOW)
            batch.count_use(user, ["hers"])
        store.receipts.put(WORKSPACE, [ReceiptRow(f"rec-{user}", user, "", NOW, '{"used": ["hers"]}')], most=9)
        store.given.put(WORKSPACE, "t", user=user, given='{"used": ["hers"]}', at=NOW)
        store.keep_context(WORKSPACE, f"ctx-{user}", user=user, thread="", kept='{"hers": ["a", "b"]}')
        job: dict[str, object] = {"node": "hers"}
        store.jobs.put(Job(id=f"job-{user}", workspace=WORKSPACE, user=user, state="done",
                           created_at=NOW, updated_at=NOW, details=job))  # fmt: skip
        key = Key(id=f"key-{user}", digest=str(number), user=user, workspaces=frozenset({WORKSPACE}), scope="read",
                  created_at=NOW)  # fmt: skip
        store.keys.put(key)
        store.audit.add(AuditEntry(at=NOW, action="nodes.write", workspace=WORKSPACE, user=user))


class ErasureContract:
    def test_everything_stored_of_a_user_is_told_and_of_nobody_else(self, store: Store) -> None:
        busy(store)
        known = store.erasure.known(WORKSPACE, "ben")
        assert {kind: len(known[kind]) for kind in KINDS} == dict.fromkeys(KINDS, 1)
        assert [row["node"] for row in known["nodes"]] == ["his", "open"]
        assert known["activity"] == [{"node": "hers", "kind": "view", "at": NOW.isoformat()}]
        assert known["receipts"][0]["record"] == {"used": ["hers"]}
        assert "digest" not in known["keys"][0]
        assert "ana" not in json.dumps(known)
        assert not any(store.erasure.known(WORKSPACE, "nobody").values())

    def test_a_user_is_forgotten_and_others_stay_as_they_are(self, store: Store) -> None:
        busy(store)
        before = store.erasure.known(WORKSPACE, "ana")
        with store.atomic(WORKSPACE) as batch:
            batch.remove(["his"])
            batch.set_access("open", frozenset({"ana"}))
            batch.remove_user("ben")
            counts = store.erasure.forget_user(WORKSPACE, "ben")
        assert {kind: counts[kind] for kind in KINDS if kind in counts} == dict.fromkeys(KINDS[2:], 1)
        assert not any(store.erasure.known(WORKSPACE, "ben").values())
        assert store.erasure.known(WORKSPACE, "ana") == before

    def test_records_that_name_what_is_gone_go_and_no_others(self, store: Store) -> None:
        busy(store)
        store.receipts.put(WORKSPACE, [ReceiptRow("rec-2", "ana", "", NOW, '{"used": ["open"]}')], most=9)
        version = store.version(WORKSPACE)
        with store.atomic(WORKSPACE) as batch:
            batch.remove(["hers"])
        counts = store.erasure.forget_nodes(WORKSPACE, {"hers"})
        assert counts == {"receipts": 2, "given": 2, "contexts": 2, "jobs": 2}
        assert [row.id for row in store.receipts.list(WORKSPACE, limit=9)] == ["rec-2"]
        with store.view(WORKSPACE, "ana") as view:
            assert view.changes(version) == []  # not even its id is told

    def test_what_is_older_than_a_moment_is_found_unless_something_newer_hangs_below(self, store: Store) -> None:
        opened(store)
        old, new = NOW - 9 * DAY, NOW
        put(store, node("gone", type="chat", updated_at=old), node("alive", type="chat", updated_at=old))
        put(store, node("part", parent="gone", updated_at=old), node("reply", parent="alive", updated_at=new))
        put(store, node("page", updated_at=old))
        assert store.erasure.expired(WORKSPACE, "chat", NOW - DAY) == {"gone"}
        assert store.erasure.below(WORKSPACE, ["gone", "missing"]) == {"gone", "part"}

    def test_records_older_than_a_moment_are_removed(self, store: Store) -> None:
        busy(store)
        for kind in ("receipts", "contexts", "activity", "feedback", "jobs", "audit"):
            assert store.erasure.forget_before(WORKSPACE, kind, NOW) == 0
            assert store.erasure.forget_before(WORKSPACE, kind, NOW + DAY) == 2

    def test_a_store_that_was_written_anew_answers_as_before(self, store: Store) -> None:
        busy(store)
        store.erasure.compact(WORKSPACE)
        with store.view(WORKSPACE, "ana") as view:
            assert [hit.score > 0 for hit in view.search_words("lantern", limit=5)] == [True]
            vector = EMBEDDER.embed("a lantern")
            assert view.search_vector(vector, model=EMBEDDER.model, limit=5)
