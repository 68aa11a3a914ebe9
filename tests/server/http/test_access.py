"""Who is let in, as whom, and what the others are told."""

from datetime import timedelta
from functools import lru_cache

import pytest
from fastapi import APIRouter

from weftwork.server.http.access import Admin, AnyCaller, Reader, Writer, home_of
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Options
from weftwork.server.keys import PREFIX, digest_of, find_key, make_key, revoke_key

from .serving import NOW, STUDIO, calling, key_for, local_client

ROUTE = "/test/{workspace}"
router = APIRouter()


@router.get(ROUTE + "/read")
def may_read(workspace: str, caller: Reader) -> str:
    return caller.user


@router.get(ROUTE + "/write")
def may_write(workspace: str, caller: Writer) -> str:
    return caller.user


@router.get(ROUTE + "/admin")
def may_admin(workspace: str, caller: Admin) -> str:
    return caller.user


@router.get("/test-home")
def at_home(caller: AnyCaller) -> str:
    return home_of(caller, "read")


@lru_cache(maxsize=1)
def client_of(weft, local):
    app = make_app(weft, Options(local=local))
    app.include_router(router)
    return local_client(app)


def ask(weft, path, headers=None, local=STUDIO):
    return client_of(weft, local).get(path, headers=headers)


@pytest.mark.parametrize("scope", ["read", "write", "admin"])
def test_a_scope_includes_those_below_it_and_no_other(shared, keys, scope):
    order = ["read", "write", "admin"]
    codes = [ask(shared, f"/test/studio/{each}", keys[scope]).status_code for each in order]
    assert codes == [200 if order.index(each) <= order.index(scope) else 403 for each in order]


def test_the_key_says_who_asks(shared, keys):
    assert ask(shared, "/test/studio/read", keys["ben"]).json() == "ben"


def test_no_key_and_every_kind_of_wrong_key_get_the_same_answer(shared, keys):
    expired = key_for(shared, lasts=timedelta(hours=1))
    revoked = key_for(shared)
    later = shared.now() + timedelta(hours=1)
    token = revoked["Authorization"].partition(" ")[2]
    revoke_key(shared.store, shared.store.keys.get(digest_of(token)).id, NOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared, "_clock", lambda: later)
        answers = [
            ask(shared, "/test/studio/read", headers)
            for headers in (
                {},
                expired,
                revoked,
                {"Authorization": f"Bearer {PREFIX}{'x' * 43}"},
                {"Authorization": f"Bearer {PREFIX}"},
                {"Authorization": "Bearer"},
                {"Authorization": ""},
                {"Authorization": f"Basic {token}"},
                {"Authorization": f"Bearer {keys['read']['Authorization'].partition(' ')[2]}x"},
                {"Authorization": b"Bearer weftwork_\xff\xfe"},
            )
        ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({(answer.content, str(sorted(answer.headers.items()))) for answer in answers}) == 1
    assert answers[0].headers["WWW-Authenticate"].startswith("Bearer")


def test_an_expiring_key_holds_until_its_last_moment(weft):
    _, token = make_key(weft.store, user="ana", workspaces=["studio"], scope="read", now=NOW, lasts=timedelta(days=90))
    assert find_key(weft.store, token, NOW + timedelta(days=90, microseconds=-1)) is not None
    assert find_key(weft.store, token, NOW + timedelta(days=90)) is None


def test_only_a_hash_of_the_key_is_in_the_store(weft, tmp_path):
    _, token = make_key(weft.store, user="ana", workspaces=["studio"], scope="read", now=NOW)
    weft.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert digest_of(token).encode() in kept
    assert token.encode() not in kept
    assert token.removeprefix(PREFIX).encode() not in kept


def test_a_workspace_of_others_and_one_that_does_not_exist_are_told_apart_by_nothing(weft):
    key = key_for(weft, user="ben", scope="read")
    before = [ask(weft, f"/test/fresh/{scope}", key) for scope in ("read", "write", "admin")]
    weft.create_workspace("fresh", owner="ben")
    after = [ask(weft, f"/test/fresh/{scope}", key) for scope in ("read", "write", "admin")]
    assert {answer.status_code for answer in before} == {404}
    assert [answer.content for answer in before] == [answer.content for answer in after]


def test_an_administrator_may_act_for_another_user_of_their_workspaces_and_nobody_else_may(shared, keys):
    asked = {"Weftwork-User": "ben"}
    assert ask(shared, "/test/studio/read", keys["admin"] | asked).json() == "ben"
    for scope in ("read", "write"):
        assert ask(shared, "/test/studio/read", keys[scope] | asked).status_code == 403
    assert ask(shared, "/test/studio/read", keys["admin"] | {"Weftwork-User": "nobody"}).status_code == 404
    assert ask(shared, "/test/studio/read", keys["read"] | {"Weftwork-User": "ana"}).json() == "ana"


def test_acting_for_a_user_opens_only_workspaces_that_have_them(weft):
    admin = key_for(weft, workspaces=("studio", "other"), scope="admin") | {"Weftwork-User": "ben"}
    assert ask(weft, "/test/studio/read", admin).json() == "ben"
    assert ask(weft, "/test/other/read", admin).status_code == 404


def test_names_in_headers_may_be_of_any_script(weft):
    weft.add_user("Žofie", workspace="studio")
    admin = key_for(weft, scope="admin")
    assert ask(weft, "/test/studio/read", admin | {"Weftwork-User": "%C5%BDofie"}).json() == "Žofie"


def test_a_key_of_several_workspaces_has_to_name_one_where_the_path_does_not(shared, keys):
    assert ask(shared, "/test-home", keys["read"]).json() == "studio"
    assert ask(shared, "/test-home", keys["both"]).status_code == 400
    assert ask(shared, "/test-home", keys["both"] | {"Weftwork-Workspace": "other"}).json() == "other"
    assert ask(shared, "/test-home", keys["read"] | {"Weftwork-Workspace": "other"}).status_code == 404


def test_without_any_key_the_configured_user_asks(weft):
    assert ask(weft, "/test/studio/admin").json() == "ana"
    assert ask(weft, "/test/studio/read", {"Weftwork-User": "ben"}).json() == "ben"
    assert ask(weft, "/test/nowhere/read").status_code == 404


def test_a_wrong_key_is_refused_even_where_none_is_needed(weft):
    assert ask(weft, "/test/studio/read", {"Authorization": "Bearer x"}).status_code == 401


def test_the_first_key_ends_keyless_service_at_once_and_revoking_it_does_not_bring_that_back(weft):
    with calling(weft) as client:
        assert client.get("/openapi.json").status_code == 200
        key, _ = make_key(weft.store, user="ana", workspaces=["studio"], scope="read", now=NOW)
        assert client.get("/openapi.json").status_code == 401
        revoke_key(weft.store, key.id, NOW)
        assert client.get("/openapi.json").status_code == 401


def test_a_server_that_asks_everyone_for_a_key_does_so_without_any_in_its_store(weft):
    assert ask(weft, "/test/studio/read", local=None).status_code == 401
