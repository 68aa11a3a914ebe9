"""Memories on the command line."""

import json
from io import StringIO

import pytest


@pytest.fixture
def ready(weft):
    assert weft("init").code == 0
    assert weft("users", "add", "ben").code == 0


def listed(weft, *arguments):
    return [each["content"] for each in weft("memories", "--json", *arguments).json]


def test_a_memory_is_written_and_its_id_printed(weft, ready):
    ran = weft("remember", "We", "ship in May", "--type", "decision", "--confidence", "0.9", "--tag", "launch")
    assert (ran.code, ran.err) == (0, "")
    (memory,) = weft("memories", "--json").json
    assert ran.out == memory["id"] + "\n"
    assert (memory["content"], memory["type"], memory["confidence"]) == ("We ship in May", "decision", 0.9)
    assert (memory["tags"], memory["owner"], memory["access"], memory["valid_until"]) == (["launch"], "me", [], None)


def test_json_gives_the_memory_itself(weft, ready):
    written = weft("remember", "We ship in May", "--json").json
    assert written == weft("memories", "--json").json[0]
    assert written["type"] == "fact"


def test_it_is_ones_own_until_it_is_shared(weft, ready):
    weft("remember", "a secret")
    weft("remember", "for all", "--share", "*")
    weft("remember", "for ben", "--share", "ben")
    assert sorted(listed(weft, "--user", "ben")) == ["for all", "for ben"]
    assert len(listed(weft)) == 3


def test_one_that_supersedes_another_takes_its_place(weft, ready):
    old = weft("remember", "We ship in May", "--type", "decision", "--confidence", "0.9").out.strip()
    assert weft("remember", "We ship in June", "--supersedes", old).code == 0
    (new,) = weft("memories", "--json").json
    assert (new["content"], new["type"], new["confidence"]) == ("We ship in June", "decision", 0.9)
    assert listed(weft, "--all") == ["We ship in June", "We ship in May"]
    context = weft("context", "ship", "--recipe", "memory")
    assert "June" in context.out and "May" not in context.out


def test_two_that_contradict_each_other_are_shown_with_their_dates(weft, ready):
    old = weft("remember", "We ship in May", "--valid-from", "2026-01-01").out.strip()
    weft("remember", "We ship in June", "--contradicts", old, "--valid-from", "2026-02-01")
    out = weft("context", "when do we ship", "--recipe", "memory").out
    assert (
        "- We ship in June (2026-02-01, contradicts what was said on 2026-01-01)\n- We ship in May (2026-01-01" in out
    )


def test_the_past_can_be_asked_for(weft, ready):
    weft("remember", "The lab is closed", "--valid-from", "2026-01-01", "--valid-until", "2026-02-01T12:00")
    assert listed(weft) == []
    assert listed(weft, "--as-of", "2026-01-15") == listed(weft, "--as-of", "2026-02-01T11:59:59Z") != []
    assert listed(weft, "--as-of", "2026-02-01T12:00:00Z") == []
    assert listed(weft, "lab", "--as-of", "2026-01-15") == ["The lab is closed"]
    assert "lab" in weft("context", "lab", "--recipe", "memory", "--as-of", "2026-01-15").out
    assert "lab" in weft("context", "lab closed", "--recipe", "default", "--as-of", "2026-01-15").out
    assert "lab" not in weft("context", "lab closed", "--recipe", "default").out


def test_a_query_finds_the_most_similar_first(weft, ready):
    for text in ("green tea", "a ship at sea", "the ship leaves"):
        weft("remember", text)
    output = weft("memories", "the ship leaves", "--json", "--limit", "2").json
    assert output[0]["content"] == "the ship leaves"
    assert len(output) == 2 and output[0]["score"] > output[1]["score"]
    ran = weft("memories", "the", "ship", "leaves")
    assert ran.out.splitlines()[0].endswith("the ship leaves (fact)")


def test_types_are_filtered(weft, ready):
    weft("remember", "we ship", "--type", "decision")
    weft("remember", "it ships", "--type", "remark")
    assert listed(weft, "--type", "decision") == ["we ship"]
    assert listed(weft, "ship", "--type", "decision") == ["we ship"]


def test_forgetting_asks_first(weft, ready, monkeypatch):
    names = [weft("remember", text).out.strip() for text in ("one", "two", "three")]
    ran = weft("forget", names[0], names[1], "--yes")
    assert (ran.code, ran.out) == (0, "removed 2\n")
    assert "one" in ran.err
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    ran = weft("forget", names[2])
    assert (ran.code, ran.out) == (0, "")
    assert "nothing was removed" in ran.err
    assert listed(weft) == ["three"]


def test_forgetting_removes_nothing_where_nobody_can_answer(weft, ready, monkeypatch):
    name = weft("remember", "one").out.strip()
    monkeypatch.setattr("sys.stdin", StringIO())
    ran = weft("forget", name)
    assert (ran.code, ran.out) == (1, "")
    assert "nothing was removed without an answer: use --yes in a script" in ran.err
    assert listed(weft) == ["one"]


def test_what_is_absent_or_hidden_cannot_be_forgotten_nor_superseded(weft, ready):
    name = weft("remember", "a secret").out.strip()
    for arguments in (("forget", name, "--yes"), ("remember", "x", "--supersedes", name)):
        ran = weft(*arguments, "--user", "ben")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == f"error: there is no memory {name!r} that you may see: list yours with  weftwork memories\n"
    assert weft("forget", name, "nothing", "--yes").code == 1
    assert listed(weft) == ["a secret"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("remember",), 2, "Missing argument 'TEXT...'"),
        (("remember", " "), 1, "a memory needs a text"),
        (("remember", "x", "--confidence", "2"), 1, "must be between 0 and 1"),
        (("remember", "x", "--valid-until", "soon"), 2, "'soon' is not a date: write it like 2026-03-01"),
        (("remember", "x", "--valid-until", "2020-01-01"), 1, "say with valid_from since when it held"),
        (("remember", "x", "--contradicts", "nothing"), 1, "there is no memory 'nothing'"),
        (("memories", "--as-of", "2026-13-01"), 2, "is not a date"),
        (("memories", "--limit", "0"), 1, "limit must be"),
        (("memories", "x", "--limit", "0"), 1, "limit must be"),
        (("memories", "x", "--all"), 2, "--all lists without a query"),
        (("memories", "x", "--user", "nobody"), 1, "user 'nobody' does not exist"),
        (("forget",), 2, "Missing argument 'IDS...'"),
        (("context", "x", "--as-of", "later"), 2, "is not a date"),
    ],
)
def test_wrong_arguments_are_refused_and_change_nothing(weft, ready, arguments, code, message):
    ran = weft(*arguments)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err and "Traceback" not in ran.err
    assert listed(weft, "--all") == []


def test_the_recipe_is_restricted_to_memories_by_their_tag(weft, ready, here):
    (here / "ship.md").write_text("# Ship\n\nThe ship has a dome.\n")
    assert weft("add", "ship.md").code == 0
    weft("remember", "The dome leaks")
    out = weft("context", "dome", "--recipe", "memory", "--tag", "memory").out
    assert "The dome leaks" in out and "ship has" not in out


def test_what_fails_is_said_once(weft, ready, caplog):
    ran = weft("memories", "x", "--limit", "0")
    assert ran.err == "error: limit must be a whole number from 1 to 1000, got 0\n"
    assert caplog.records == []


def test_no_memories_is_said_on_standard_error(weft, ready):
    ran = weft("memories")
    assert (ran.code, ran.out, ran.err) == (0, "", "no memories\n")
    assert json.loads(weft("memories", "--json").out) == []


def test_the_decay_of_a_type_comes_from_the_settings(weft, ready, here):
    (here / "weftwork.toml").write_text('[recipes.memory.decay]\ndecision = "never"\nremark = 0.5\n')
    weft("remember", "we ship", "--type", "decision")
    assert "we ship" in weft("context", "ship", "--recipe", "memory").out
    for wrong in ('decision = "soon"', "decision = 0", "decision = true"):
        (here / "weftwork.toml").write_text(f"[recipes.memory.decay]\n{wrong}\n")
        ran = weft("context", "ship", "--recipe", "memory")
        assert (ran.code, ran.out) == (1, "")
        assert "the decay of 'decision' must be a number of days above 0" in ran.err
    (here / "weftwork.toml").write_text("[recipes.memory]\nfading = 3\n")
    assert "give a table [recipes.memory.decay]" in weft("context", "ship", "--recipe", "memory").err
