"""Wrong input is refused with its value and with what to do instead, and changes nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from tests.command import run

from weftwork import Edge, Filters, Node
from weftwork.errors import BudgetError, CycleError, DimensionError, InvalidInput, NotFound, UnknownName, WeftError
from weftwork.recipe import get_recipe

from .making import EMBEDDER, opened, state, write_lines

HALF = "\ud800"
EDGE_OF_TIME = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store.weft"
    with opened(path) as weft:
        weft.add_user("ana")
        weft.add(
            [
                Node(id="root", title="Root", text="apple"),
                Node(id="leaf", title="Leaf", text="pear", parent="root"),
                Node(id="twig", title="Twig", text="plum", parent="leaf"),
            ]
        )
        weft.catch_up()
    return path


def recipe(**change):
    return replace(get_recipe("default"), **change)


def atomically(call):
    def act(weft):
        with weft.atomic() as batch:
            batch.put([])
            batch.add_user("a user of the same batch")
            call(batch)

    return act


def put_vector(vector):
    return lambda batch: batch.put_vectors(EMBEDDER.model, {"some text": np.asarray(vector)})


def search_vector(weft):
    with weft.store.view("main", "me") as view:
        view.search_vector(EMBEDDER.embed("x")[:10], model=EMBEDDER.model, limit=1)


def added(**values):
    return lambda weft: weft.add([Node(id="new", title="would be added too"), Node(**{"id": "wrong", **values})])


WRONG = {
    "an unknown workspace": (NotFound, ("nowhere", "weftwork init"), lambda w: w.search("x", workspace="nowhere")),
    "an unknown workspace to write": (NotFound, ("nowhere", "weftwork init"), lambda w: w.add([], workspace="nowhere")),
    "an unknown user": (NotFound, ("nobody", "weftwork users add"), lambda w: w.context("x", user="nobody")),
    "an unknown user of feedback": (NotFound, ("nobody", "add"), lambda w: w.feedback("root", True, user="nobody")),
    "an unknown user of an event": (
        NotFound,
        ("nobody", "weftwork users add"),
        atomically(lambda batch: batch.record("nobody", "root", "view", datetime.now(UTC))),
    ),
    "an unknown node": (NotFound, ("nothing", "weftwork search"), lambda w: w.node("nothing")),
    "an unknown focus": (NotFound, ("nothing", "weftwork search"), lambda w: w.context("x", focus="nothing")),
    "an unknown recipe": (UnknownName, ("soup", "default"), lambda w: w.context("x", recipe="soup")),
    "an unknown template": (
        UnknownName, ("fancy", "default"), lambda w: w.context("apple", recipe=recipe(template="fancy"))),
    "an unknown packer": (
        UnknownName, ("magic", "greedy"), lambda w: w.context("apple", recipe=recipe(packer="magic"))),
    "an unknown truncation": (UnknownName, ("chop", "extractive"), lambda w: w.context("x", truncation="chop")),
    "an unknown way to search": (UnknownName, ("psychic", "hybrid"), lambda w: w.search("x", mode="psychic")),
    "a limit of zero": (InvalidInput, ("limit", "0", "at least 1"), lambda w: w.search("x", limit=0)),
    "a depth of nine": (InvalidInput, ("depth", "9", "1 to 5"), lambda w: w.context("x", depth=9)),
    "a query that is no text": (InvalidInput, ("None", "must be text"), lambda w: w.search(None)),
    "a user whose name is half a character": (InvalidInput, ("\\ud800", "correct"), lambda w: w.search("x", user=HALF)),
    "a new user whose name is half a character": (InvalidInput, ("\\ud800", "correct"), lambda w: w.add_user(HALF)),
    "a user with the name of everyone": (InvalidInput, ("'*'", "use a name"), lambda w: w.add_user("*")),
    "a workspace that exists": (InvalidInput, ("'main'", "choose another"), lambda w: w.create_workspace("main")),
    "a workspace without a name": (InvalidInput, ("needs a name",), lambda w: w.create_workspace(" ")),
    "a vector of the wrong dimension": (
        DimensionError, ("(10,)", "(64,)", "same model"), atomically(put_vector(EMBEDDER.embed("x")[:10]))),
    "a vector that is a number": (DimensionError, ("()", "same model"), atomically(put_vector(1.0))),
    "a search for a vector of the wrong dimension": (DimensionError, ("(64,)", "(10,)", "same model"), search_vector),
    "a node that is its own parent": (CycleError, ("'wrong'", "another parent"), added(parent="wrong")),
    "a parent below the node": (
        CycleError, ("'root'", "another parent"), lambda w: w.add([Node(id="root", parent="twig")])),
    "a move below itself": (CycleError, ("'root'", "parent"), atomically(lambda batch: batch.move("root", "twig"))),
    "two nodes that are each other's parents": (
        CycleError, ("'a'", "another parent"), lambda w: w.add([Node(id="a", parent="b"), Node(id="b", parent="a")])),
    "a parent that does not exist": (InvalidInput, ("'nothing'", "add it before"), added(parent="nothing")),
    "a move of nothing": (NotFound, ("'nothing'", "check its id"), atomically(lambda b: b.move("nothing", None))),
    "access to nothing": (NotFound, ("'nothing'", "check"), atomically(lambda b: b.set_access("nothing", None))),
    "an edge to nothing": (
        NotFound, ("'nothing'", "add it before"), lambda w: w.add([], [Edge(source="root", target="nothing")])),
    "an edge without weight": (
        InvalidInput,
        ("nan", "give a number"),
        lambda w: w.add([], [Edge(source="root", target="leaf", weight=float("nan"))]),
    ),
    "a node twice": (InvalidInput, ("'a'", "own id"), lambda w: w.add([Node(id="a"), Node(id="a")])),
    "a node without an id": (InvalidInput, ("''", "printable"), added(id="")),
    "a node without a type": (InvalidInput, ("'wrong'", "'page'"), added(type="")),
    "bytes as text": (InvalidInput, ("'wrong'", "must be text"), added(text=b"x")),
    "a confidence of two": (InvalidInput, ("'wrong'", "between 0 and 1", "2"), added(confidence=2)),
    "a confidence in words": (InvalidInput, ("'wrong'", "between 0 and 1", "high"), added(confidence="high")),
    "tags that are one text": (InvalidInput, ("'wrong'", "texts", "'todo'"), added(tags="todo")),
    "access for one text": (InvalidInput, ("'wrong'", "several names", "'ana'"), added(access="ana")),
    "access for a number": (InvalidInput, ("'wrong'", "several names", "7"), added(access=frozenset({7}))),
    "an owner who is a number": (InvalidInput, ("'wrong'", "owner", "7"), added(owner=7)),
    "an owner who is half a character": (InvalidInput, ("\\ud800", "correct"), added(owner=HALF)),
    "fields that are a list": (InvalidInput, ("'wrong'", "mapping"), added(fields=["x"])),
    "a time in words": (InvalidInput, ("'wrong'", "updated_at", "'today'"), added(updated_at="today")),
    "a time before the calendar": (InvalidInput, ("'wrong'", "created_at", "year"), added(created_at=EDGE_OF_TIME)),
    **{
        f"a budget of {budget!r}": (
            BudgetError,
            (repr(budget), "whole number of at least 1"),
            lambda w, budget=budget: w.context("apple", budget=budget),
        )
        for budget in (0, -1, 1.5, "100", True, float("nan"))
    },
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input_is_refused_with_what_to_do_and_changes_nothing(store, what):
    kind, parts, act = WRONG[what]
    before = state(store)
    with opened(store) as weft:
        version = weft.store.version("main")
        with pytest.raises(WeftError) as refused:
            act(weft)
        assert type(refused.value) is kind
        assert all(part in str(refused.value) for part in parts), str(refused.value)
        assert weft.store.version("main") == version
    assert state(store) == before


COMMANDS = {
    "an unknown workspace": (1, ("nowhere", "weftwork init"), ["search", "x", "--workspace", "nowhere"]),
    "an unknown workspace to add to": (1, ("nowhere", "weftwork init"), ["add", "SOURCE", "--workspace", "nowhere"]),
    "an unknown user": (1, ("nobody", "weftwork users add"), ["context", "x", "--user", "nobody"]),
    "a user of bytes that are no text": (1, ("correct its characters",), ["stats", "--user", "\udcff"]),
    "a workspace of bytes that are no text": (1, ("correct its characters",), ["stats", "--workspace", "\udcff"]),
    "an unknown recipe": (1, ("soup", "default"), ["context", "x", "--recipe", "soup"]),
    "an unknown focus": (1, ("nothing", "weftwork search"), ["context", "x", "--focus", "nothing"]),
    "an unknown way to search": (2, ("psychic", "hybrid"), ["search", "x", "--mode", "psychic"]),
    "a budget of zero": (1, ("0", "whole number of at least 1"), ["context", "x", "--max-tokens", "0"]),
    "a budget below zero": (1, ("-5", "whole number of at least 1"), ["context", "x", "--max-tokens", "-5"]),
    "a budget with a fraction": (2, ("1.5", "integer"), ["context", "x", "--max-tokens", "1.5"]),
    "a budget in words": (2, ("many", "integer"), ["explain", "x", "--max-tokens", "many"]),
    "a limit of zero": (1, ("0", "at least 1"), ["search", "x", "--limit", "0"]),
    "a source that is missing": (1, ("missing.jsonl", "give a file"), ["add", "SOURCE", "missing.jsonl"]),
    "a user with the name of everyone": (1, ("'*'", "use a name"), ["users", "add", "*"]),
    "an unknown command": (2, ("fly", "--help"), ["fly"]),
    "an unknown option": (2, ("--loud",), ["search", "x", "--loud"]),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_a_command_with_wrong_input_says_so_on_standard_error_only(store, tmp_path, what):
    code, parts, words = COMMANDS[what]
    source = write_lines(tmp_path / "source.jsonl", [{"id": "new", "title": "New"}])
    before = state(store)
    words = [source if word == "SOURCE" else word for word in words]
    place = () if what == "an unknown command" else ("--store", store)
    found, out, err = run(*words, *place, cwd=tmp_path)
    assert (found, out) == (code, ""), err
    assert all(part in err for part in parts), err
    assert "Traceback" not in err
    assert state(store) == before


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ("store = ", ("not valid TOML", "correct it or remove it")),
        ("colour = 'red'", ("'colour'", "use store, ", "workspace, user")),
        ("budget = 'large'", ("budget", "int", "'large'")),
        ("[templates.fancy]\nitem = '{{nonsense}}'", ("'fancy'", "nonsense", "may use")),
        ("[templates.fancy]\nheader = 'x'", ("'fancy'", "no 'item'")),
        ("tokenizer = 'abacus'", ("'abacus'", "use one of")),
    ],
    ids=["no TOML", "unknown", "of another type", "unknown variable", "no item", "unknown tokenizer"],
)
def test_wrong_settings_are_told_with_their_names(store, settings, parts):
    store.with_name("weftwork.toml").write_text(settings)
    code, out, err = run("search", "apple", "--store", store, cwd=store.parent)
    assert (code, out) == (1, "")
    assert all(part in err for part in parts), err
    assert "Traceback" not in err


def test_a_batch_that_is_refused_half_way_leaves_nothing_behind(store):
    before = state(store)
    with opened(store) as weft:
        with pytest.raises(CycleError), weft.atomic() as batch:
            batch.remove(["twig"])
            batch.set_access("leaf", frozenset({"ana"}))
            batch.move("root", "leaf")
        assert [each.node.id for each in weft.search("plum", mode="words")] == ["twig"]
        assert weft.stats(user="ana")["nodes"] == 3
    assert state(store) == before


def test_filters_that_match_nothing_are_no_error(store):
    with opened(store) as weft:
        nothing = Filters(types=frozenset({HALF}), tags=frozenset({"none"}), conversation=HALF)
        assert weft.search("apple", filters=nothing) == []
        assert weft.context(f"[[{HALF}]] {HALF}", filters=nothing).tokens >= 0
