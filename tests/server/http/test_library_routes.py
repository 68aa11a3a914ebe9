"""Documents, sources, jobs and keys, as the page looks after them."""

import pytest

from weftwork.ingest.imports import add_path
from weftwork.ingest.report import Options

from .serving import calling, key_for, open_studio

AT = "/v1/workspaces/studio"


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "kiln.md").write_text("# Kiln\n\nThe kiln is fired on Fridays.\n", encoding="utf-8")
    (folder / "bad.md").write_bytes(b"\x00\xff\x00")
    return folder


def test_documents_are_what_people_open_and_may_see(client, keys):
    ana, ben = (client.get(f"{AT}/documents", headers=keys[name]).json() for name in ("read", "ben"))
    assert {each["title"] for each in ana["documents"]} == {"Mirror plan", "Salary"}
    assert [each["title"] for each in ben["documents"]] == ["Mirror plan"]
    assert (ana["total"], ben["total"]) == (2, 1)


def test_a_source_is_listed_without_its_path_read_again_and_removed(weft, notes):
    add_path(weft, notes, options=Options(workspace="studio", user="ana"))
    with calling(weft) as client:
        answer = client.get(f"{AT}/sources")
        (source,) = answer.json()["sources"]
        assert (source["name"], source["is_there"]) == ("notes", True)
        assert str(notes.parent) not in answer.text
        assert [each["what"] for each in source["skipped"]] == ["bad.md"]
        (notes / "kiln.md").write_text("# Kiln\n\nThe kiln is fired on Mondays.\n", encoding="utf-8")
        assert client.post(f"{AT}/sources/{source['id']}/read").json()["changed"] >= 1
        assert "Mondays" in weft.context("kiln", user="ana", workspace="studio").text
        assert client.delete(f"{AT}/sources/{source['id']}").json()["removed"] >= 1
        assert client.get(f"{AT}/sources").json() == {"sources": []}
        assert (notes / "kiln.md").is_file()


def test_keys_of_a_workspace_are_made_told_once_and_revoked(tmp_path):
    with open_studio(tmp_path / "studio.weft") as weft:
        admin = key_for(weft, scope="admin")
        both = key_for(weft, workspaces=("studio", "other"), scope="admin")
        with calling(weft) as client:
            body = {"user": "ben", "scope": "read", "name": "desk", "lasts": "90d"}
            made = client.post(f"{AT}/keys", json=body, headers=admin)
            assert made.status_code == 201
            own = {"Authorization": f"Bearer {made.json()['token']}"}
            assert client.get(f"{AT}/documents", headers=own).status_code == 200
            assert client.get(f"{AT}/keys", headers=own).status_code == 403
            listed = client.get(f"{AT}/keys", headers=admin)
            # A key that covers another workspace too is not told, and neither is any token.
            assert sorted(each["user"] for each in listed.json()["keys"]) == ["ana", "ben"]
            assert made.json()["token"] not in listed.text
            ended = client.delete(f"{AT}/keys/{made.json()['id']}", headers=admin)
            assert ended.json()["state"] == "revoked"
            assert client.get(f"{AT}/documents", headers=own).status_code == 401
            assert client.get(f"{AT}/documents", headers=both).status_code == 200
            assert client.post(f"{AT}/keys", json={"user": "nobody"}, headers=admin).status_code == 404


def test_the_first_key_of_a_server_without_any_is_an_admins(weft):
    with calling(weft) as client:
        refused = client.post(f"{AT}/keys", json={"user": "ben"})
        assert refused.status_code == 400 and "admin key first" in refused.text
        assert client.post(f"{AT}/keys", json={"user": "ana", "scope": "admin"}).status_code == 201
        assert client.get(f"{AT}/documents").status_code == 401


def test_jobs_are_listed_for_their_user_and_all_of_them_for_admins(weft):
    ben, admin = key_for(weft, user="ben", scope="write"), key_for(weft, scope="admin")
    with calling(weft) as client:
        client.post(f"{AT}/documents", files={"file": ("kiln.txt", b"The kiln.")}, headers=ben)
        (job,) = client.get(f"{AT}/jobs", headers=ben).json()["jobs"]
        assert job["name"] == "kiln.txt"
        assert [each["id"] for each in client.get(f"{AT}/jobs", headers=admin).json()["jobs"]] == [job["id"]]
        assert client.get(f"{AT}/jobs", headers=key_for(weft)).json()["jobs"] == []
