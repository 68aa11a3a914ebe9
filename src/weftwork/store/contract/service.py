"""The keys that open a server, and its jobs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from weftwork.errors import NotFound
from weftwork.store.contract.kit import DAY, NOW, WORKSPACE, opened
from weftwork.store.protocol import Store
from weftwork.store.service import MOST_JOBS, UNFINISHED, Job, Key


def key(number: str, **more: Any) -> Key:
    """A key that opens the contract's workspace."""
    given = {"digest": f"digest of {number}", "user": "ana", "workspaces": frozenset({WORKSPACE}), "scope": "read"}
    return Key(**{"id": number, "created_at": NOW, **given, **more})


def job(name: str, **more: Any) -> Job:
    """A job that waits."""
    given = {"workspace": WORKSPACE, "user": "ana", "state": "queued", "created_at": NOW, "updated_at": NOW}
    return Job(**{"id": name, **given, **more})


class ServiceContract:
    def test_a_key_is_found_by_its_digest_and_by_nothing_else(self, store: Store) -> None:
        opened(store)
        kept = key("k1", name="laptop", scope="admin", expires_at=NOW + DAY)
        store.put_key(kept)
        assert store.key(kept.digest) == kept
        assert store.key("k1") is None
        assert store.key("") is None
        assert store.key(kept.digest.upper()) is None

    def test_keys_are_listed_oldest_first_and_replaced_by_id(self, store: Store) -> None:
        opened(store)
        newer, older = key("a"), key("b", created_at=NOW - DAY)
        store.put_key(newer)
        store.put_key(older)
        revoked = replace(newer, revoked_at=NOW)
        store.put_key(revoked)
        assert store.keys() == [older, revoked]
        assert store.key(newer.digest) == revoked

    def test_a_key_for_a_workspace_that_does_not_exist_is_not_kept(self, store: Store) -> None:
        opened(store)
        with pytest.raises(NotFound):
            store.put_key(key("k1", workspaces=frozenset({WORKSPACE, "other"})))
        assert store.keys() == []

    def test_a_workspace_made_again_under_its_name_is_not_opened_by_the_keys_of_the_old_one(self, store: Store) -> None:
        opened(store).create_workspace("other", owner="ana")
        store.put_key(key("k1", workspaces=frozenset({WORKSPACE, "other"})))
        store.drop_workspace("other")
        store.create_workspace("other", owner="ana")
        (kept,) = store.keys()
        assert kept.workspaces == frozenset({WORKSPACE})

    def test_a_job_comes_back_as_it_was_put(self, store: Store) -> None:
        opened(store)
        kept = job("j1", details={"name": "räport.pdf", "pages": 3, "skipped": [{"what": "x"}], "parent": None})
        store.put_job(kept)
        assert store.job("j1") == kept
        assert store.job("j2") is None
        store.put_job(replace(kept, state="done", updated_at=NOW + DAY))
        assert store.job("j1") == replace(kept, state="done", updated_at=NOW + DAY)

    def test_jobs_are_listed_by_state_oldest_first(self, store: Store) -> None:
        opened(store)
        for name, state, created in (("a", "running", NOW), ("b", "queued", NOW - DAY), ("c", "failed", NOW)):
            store.put_job(job(name, state=state, created_at=created))
        assert [each.id for each in store.jobs(UNFINISHED)] == ["b", "a"]
        assert [each.id for each in store.jobs(("failed", "done"))] == ["c"]
        assert store.jobs(()) == []

    def test_jobs_go_with_their_workspace_and_need_one(self, store: Store) -> None:
        opened(store).create_workspace("other", owner="ana")
        store.put_job(job("j1", workspace="other"))
        store.drop_workspace("other")
        assert store.job("j1") is None
        with pytest.raises(NotFound):
            store.put_job(job("j1", workspace="other"))

    def test_neither_raises_the_version_of_a_workspace(self, store: Store) -> None:
        before = opened(store).version(WORKSPACE)
        store.put_key(key("k1"))
        store.put_job(job("j1"))
        assert store.version(WORKSPACE) == before

    def test_the_oldest_of_many_finished_jobs_are_forgotten_and_no_unfinished_one(self, store: Store) -> None:
        opened(store)
        store.put_job(job("waiting", created_at=NOW - DAY, updated_at=NOW - DAY))
        for number in range(MOST_JOBS + 2):
            store.put_job(job(f"j{number:04}", state="done", updated_at=NOW + number * DAY))
        assert store.job("j0001") is None
        assert len(store.jobs(("done",))) == MOST_JOBS
        assert store.job("waiting") is not None
