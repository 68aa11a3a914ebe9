"""Two servers on one store, as several processes are: what one of them knows, the other one does."""

import pytest

from weftwork import Weft

from .serving import NOW, calling, key_for, open_studio

STUDIO = "/v1/workspaces/studio"
QUESTION = {"query": "When does the mirror ship?", "budget": 500}


@pytest.fixture
def servers(tmp_path):
    """Clients of two servers, each with an engine of its own, and a header that both take."""
    path = tmp_path / "studio.weft"
    with open_studio(path) as one, Weft.open(path, embedder="hashing", clock=lambda: NOW) as other:
        headers = key_for(one, scope="admin")
        with calling(one) as first, calling(other) as second:
            yield first, second, headers


def test_a_key_that_one_revokes_is_refused_by_the_other_at_once(servers):
    first, second, headers = servers
    made = first.post(f"{STUDIO}/keys", json={"user": "ben"}, headers=headers)
    bens = {"Authorization": f"Bearer {made.json()['token']}"}
    assert second.post(f"{STUDIO}/context/build", json=QUESTION, headers=bens).status_code == 200
    assert first.delete(f"{STUDIO}/keys/{made.json()['id']}", headers=headers).is_success
    assert second.post(f"{STUDIO}/context/build", json=QUESTION, headers=bens).status_code == 401


def test_a_context_that_one_has_kept_is_not_answered_after_the_other_has_written(servers):
    first, second, headers = servers

    def answers(server):
        return server.post(f"{STUDIO}/context/build", json=QUESTION, headers=headers).json()["text"]

    before = answers(first)
    assert answers(second) == before
    node = {"id": "late", "type": "page", "title": "Mirror", "text": "The mirror ships in April after all."}
    assert second.post(f"{STUDIO}/nodes", json={"nodes": [node]}, headers=headers).is_success
    assert "April" not in before
    assert "April" in answers(first) and answers(second) == answers(first)


def test_the_receipts_and_jobs_of_one_are_told_by_the_other(servers):
    first, second, headers = servers
    assert first.post(f"{STUDIO}/context/build", json=QUESTION, headers=headers).is_success
    assert len(first.get(f"{STUDIO}/receipts", headers=headers).json()["receipts"]) == 1
    (receipt,) = second.get(f"{STUDIO}/receipts", headers=headers).json()["receipts"]
    assert receipt["query"] == QUESTION["query"]
    file = {"file": ("note.md", b"Birch is light.", "text/markdown")}
    job = first.post(f"{STUDIO}/documents", files=file, headers=headers).json()["id"]
    assert second.get(f"{STUDIO}/jobs/{job}", headers=headers).json()["id"] == job
