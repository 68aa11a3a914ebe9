import re
from datetime import timedelta

import pytest

from weftwork import Weft
from weftwork.errors import InvalidInput
from weftwork.server.keys import digest_of, find_key, read_span


@pytest.fixture
def store(filled):
    return filled / "notes.weft"


def kept(store):
    with Weft.open(store) as weft:
        return weft.store.keys.all(), weft.now()


def test_a_key_is_printed_alone_and_found_by_its_hash(weft, store):
    made = weft("keys", "create", "--user", "ben", "--scope", "write", "--expires", "90d", "--name", "laptop")
    assert made.code == 0
    assert re.fullmatch(r"weftwork_[A-Za-z0-9_-]{43}\n", made.out)
    assert "not shown again" in made.err
    ((key,), now) = kept(store)
    assert key.digest == digest_of(made.out.strip())
    assert (key.user, key.scope, key.name, key.workspaces) == ("ben", "write", "laptop", frozenset({"main"}))
    assert key.expires_at - key.created_at == timedelta(days=90)
    with Weft.open(store) as opened:
        assert find_key(opened.store, made.out.strip(), now) == key


def test_scripts_get_json_and_lists_never_show_a_key(weft, store):
    assert weft("init", "--workspace", "second").code == 0
    made = weft("keys", "create", "--scope", "admin", "--also", "second", "--json").json
    assert made["workspaces"] == ["main", "second"]
    assert made["state"] == "active"
    listed = weft("keys", "list", "--json")
    assert listed.json == [{name: value for name, value in made.items() if name != "key"}]
    assert made["key"] not in listed.out
    line = weft("keys", "list").out
    assert line.split() == [made["id"], "active", "admin", "me", "main,second"]


def test_a_revoked_key_stays_revoked(weft, store):
    made = weft("keys", "create", "--scope", "read", "--json").json
    assert weft("keys", "revoke", made["id"]).out == f"{made['id']} of me is revoked\n"
    ((first,), now) = kept(store)
    assert weft("keys", "revoke", made["id"]).code == 0
    ((second,), _) = kept(store)
    assert first == second
    with Weft.open(store) as opened:
        assert find_key(opened.store, made["key"], now) is None
    assert weft("keys", "list").out.split()[1] == "revoked"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--user", "eve", "--scope", "read"), "weftwork users add eve"),
        (("--workspace", "nowhere", "--scope", "read"), "nowhere"),
        (("--scope", "root"), "'read', 'write', 'admin'"),
        ((), "--scope"),
        (("--scope", "read", "--expires", "soon"), "such as 90d"),
        (("--scope", "read", "--expires", "-1d"), "such as 90d"),
        (("--scope", "read", "--name", "a\nb"), "printable"),
    ],
)
def test_what_cannot_be_made_is_refused_with_the_fix(weft, store, arguments, told):
    made = weft("keys", "create", *arguments)
    assert made.code != 0
    assert made.out == ""
    assert told in made.err
    assert kept(store)[0] == []


def test_an_unknown_key_cannot_be_revoked(weft, store):
    ran = weft("keys", "revoke", "key-0")
    assert ran.code == 1
    assert "weftwork keys list" in ran.err


@pytest.mark.parametrize(("text", "hours"), [("12h", 12), ("90d", 90 * 24), ("4w", 4 * 7 * 24), ("1y", 365 * 24)])
def test_spans_of_time(text, hours):
    assert read_span(text) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["", "0d", "d", "90", "1.5d", "90 d", "99999d", "90D", "٣d"])
def test_what_is_no_span_of_time(text):
    with pytest.raises(InvalidInput):
        read_span(text)
