"""The keys that open a server, and its jobs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from weftwork.errors import NotFound
from weftwork.store.contract.kit import DAY, NOW, WORKSPACE, node, opened, put
from weftwork.store.protocol import Store
from weftwork.store.server_state import MOST_JOBS, UNFINISHED, AuditEntry, Job, Key


def key(number: str, **more: Any) -> Key:
    """A key that opens the contract's workspace."""
    defaults = {"digest": f"digest of {number}", "user": "ana", "workspaces": frozenset({WORKSPACE}), "scope": "read"}
    return Key(**{"id": number, "created_at": NOW, **defaults, **more})


def job(name: str, **more: Any) -> Job:
    """A job that waits."""
    defaults = {"workspace": WORKSPACE, "user": "ana", "state": "queued", "created_at": NOW, "updated_at": NOW}
    return Job(**{"id": name, **defaults, **more})


class ServerStateContract:
    def test_a_key_is_found_by_its_digest_and_by_nothing_else(self, store: Store) -> None:
        opened(store)
        laptop = key("k1", name="laptop", scope="admin", expires_at=NOW + DAY)
        store.keys.put(laptop)
        assert store.keys.get(laptop.digest) == laptop
        assert store.keys.get("k1") is None
        assert store.keys.get("") is None
        assert store.keys.get(laptop.digest.upper()) is None

    def test_keys_are_listed_oldest_first_and_replaced_by_id(self, store: Store) -> None:
        opened(store)
        newer, older = key("a"), key("b", created_at=NOW - DAY)
        store.keys.put(newer)
        store.keys.put(older)
        revoked = replace(newer, revoked_at=NOW)
        store.keys.put(revoked)
        assert store.keys.all() == [older, revoked]
        assert store.keys.get(newer.digest) == revoked

    def test_a_key_for_a_workspace_that_does_not_exist_is_not_kept(self, store: Store) -> None:
        opened(store)
        with pytest.raises(NotFound):
            store.keys.put(key("k1", workspaces=frozenset({WORKSPACE, "other"})))
        assert store.keys.all() == []

    def test_a_workspace_made_again_under_its_name_is_not_opened_by_the_keys_of_the_old_one(self, store: Store) -> None:
        opened(store).create_workspace("other", owner="ana")
        store.keys.put(key("k1", workspaces=frozenset({WORKSPACE, "other"})))
        store.drop_workspace("other")
        store.create_workspace("other", owner="ana")
        (remaining,) = store.keys.all()
        assert remaining.workspaces == frozenset({WORKSPACE})

    def test_a_job_comes_back_as_it_was_put(self, store: Store) -> None:
        opened(store)
        waiting = job("j1", details={"name": "räport.pdf", "pages": 3, "skipped": [{"what": "x"}], "parent": None})
        store.jobs.put(waiting)
        assert store.jobs.get("j1") == waiting
        assert store.jobs.get("j2") is None
        store.jobs.put(replace(waiting, state="done", updated_at=NOW + DAY))
        assert store.jobs.get("j1") == replace(waiting, state="done", updated_at=NOW + DAY)

    def test_jobs_are_listed_by_state_oldest_first(self, store: Store) -> None:
        opened(store)
        for name, state, created in (("a", "running", NOW), ("b", "queued", NOW - DAY), ("c", "failed", NOW)):
            store.jobs.put(job(name, state=state, created_at=created))
        assert [listed.id for listed in store.jobs.in_states(UNFINISHED)] == ["b", "a"]
        assert [listed.id for listed in store.jobs.in_states(("failed", "done"))] == ["c"]
        assert store.jobs.in_states(()) == []

    def test_jobs_go_with_their_workspace_and_need_one(self, store: Store) -> None:
        opened(store).create_workspace("other", owner="ana")
        store.jobs.put(job("j1", workspace="other"))
        store.drop_workspace("other")
        assert store.jobs.get("j1") is None
        with pytest.raises(NotFound):
            store.jobs.put(job("j1", workspace="other"))

    def test_neither_raises_the_version_of_a_workspace(self, store: Store) -> None:
        before = opened(store).version(WORKSPACE)
        store.keys.put(key("k1"))
        store.jobs.put(job("j1"))
        assert store.version(WORKSPACE) == before

    def test_the_oldest_of_many_finished_jobs_are_forgotten_and_no_unfinished_one(self, store: Store) -> None:
        opened(store)
        store.jobs.put(job("waiting", created_at=NOW - DAY, updated_at=NOW - DAY))
        for number in range(MOST_JOBS + 2):
            store.jobs.put(job(f"j{number:04}", state="done", updated_at=NOW + number * DAY))
        assert store.jobs.get("j0001") is None
        assert len(store.jobs.in_states(("done",))) == MOST_JOBS
        assert store.jobs.get("waiting") is not None

    def test_the_use_of_a_key_is_noted_and_changes_nothing_else(self, store: Store) -> None:
        opened(store).keys.put(key("k1"))
        store.keys.note_use("k1", NOW + DAY)
        assert store.keys.get(key("k1").digest) == replace(key("k1"), used_at=NOW + DAY)

    def test_jobs_of_a_workspace_are_listed_latest_first_for_one_user_or_all(self, store: Store) -> None:
        opened(store)
        for name, user, created in (("a", "ana", NOW), ("b", "ben", NOW + DAY), ("c", "ana", NOW + 2 * DAY)):
            store.jobs.put(job(name, user=user, created_at=created))
        assert [listed.id for listed in store.jobs.of(WORKSPACE)] == ["c", "b", "a"]
        assert [listed.id for listed in store.jobs.of(WORKSPACE, "ana")] == ["c", "a"]

    def test_the_audit_log_is_read_in_order_from_any_place_and_outlives_a_workspace(self, store: Store) -> None:
        opened(store).create_workspace("other", owner="ana")
        for place, workspace in enumerate((WORKSPACE, "other", "")):
            details = {"nodes": ["a"], "place": place}
            entry = AuditEntry(at=NOW + place * DAY, action="nodes.write", workspace=workspace, details=details)
            store.audit.add(entry)
        store.drop_workspace("other")
        everything = store.audit.entries()
        assert [(each.workspace, each.details["place"]) for each in everything] == [
            (WORKSPACE, 0),
            ("other", 1),
            ("", 2),
        ]
        assert store.audit.entries(after=everything[0].id, limit=1) == everything[1:2]
        assert store.audit.entries(workspace="other") == everything[1:2]
        assert store.audit.drop_before(NOW + DAY) == 1
        assert store.audit.entries() == everything[1:]

    def test_nodes_below_a_trust_are_those_of_other_origins_and_writers(self, store: Store) -> None:
        put(
            opened(store),
            node("mine", writer="ana"),
            node("bens", writer="ben"),
            node("file", origin="connector", writer="ana"),
            node("site", origin="web", access=frozenset({"ana"})),
        )
        with store.view(WORKSPACE, "ana") as view:
            assert view.below_trust("external") == []
            assert view.below_trust("imported") == ["site"]
            assert view.below_trust("workspace") == ["file", "site"]
            assert view.below_trust("own") == ["bens", "file", "site"]
            assert [(each.origin, each.writer) for each in view.nodes(["file"])] == [("connector", "ana")]
