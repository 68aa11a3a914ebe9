"""Options of a context are named and typed; a misspelt one fails when it is checked and when it is called."""

import asyncio
import inspect
from dataclasses import fields
from typing import Any, get_type_hints

import pytest

from weftwork import Budget, Client, Filters, Message, Node, Weft
from weftwork.asynchronous import AsyncClient, AsyncWeft
from weftwork.errors import InvalidInput
from weftwork.options import RequestOptions
from weftwork.recipe import get_recipe
from weftwork.request import Request


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("options") / "a.weft", embedder="hashing") as engine:
        engine.add([Node(id="dome", title="Dome <b>", text="The <script> dome turns on rollers.")])
        yield engine


def test_the_options_are_the_fields_of_a_request_with_their_types():
    own = {"query", "workspace", "user", "budget"}
    assert get_type_hints(RequestOptions) == {
        name: hint for name, hint in get_type_hints(Request).items() if name not in own
    }


@pytest.mark.parametrize("call", [Weft.context, Weft.preview, Weft.explain, Client.context, Client.explain])
def test_every_option_is_in_the_signature(call):
    named = inspect.signature(call).parameters
    assert {each.name for each in fields(Request)} <= named.keys()
    assert named["focus"].annotation == str | None
    assert not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in named.values())


def test_a_misspelt_option_fails_with_the_nearest_name(weft: Any):
    client: Any = Client("http://localhost:1")
    for call, wrong, near in (
        (weft.context, "focsu", "focus"),
        (weft.context, "colour", None),
        (weft.preview, "bugdet", "budget"),
        (weft.explain, "filter", "filters"),
        (client.context, "recpie", "recipe"),
        (client.preview, "min_suport", "min_support"),
    ):
        hint = f"did you mean '{near}'" if near else "use one of boosts, budget"
        with pytest.raises(TypeError, match=rf"has no option '{wrong}': {hint}"):
            call("dome", **{wrong: "x"})


def test_a_misspelt_option_of_a_turn_posts_nothing(weft: Any):
    client: Any = Client("http://localhost:1")
    thread = weft.threads.create("Options").id
    for call, wrong, near in (
        (weft.turn, "bugdet", "budget"),
        (client.turn, "rule", "rules"),
        (weft.reply, "usr", "user"),
        (weft.turns.tool, "workspce", "workspace"),
        (client.receipts.erase, "worspace", "workspace"),
    ):
        with pytest.raises(TypeError, match=rf"has no option '{wrong}': did you mean '{near}'"):
            call(thread, "hello", **{wrong: "x"})
    with pytest.raises(InvalidInput, match="a user is named by text, got 5"):
        weft.turn(thread, "hello", user=5)
    assert not weft.threads.messages(thread)


def test_a_misspelt_option_fails_when_types_are_checked(weft: Weft) -> None:
    """`make lint` fails if mypy finds nothing wrong in one of these lines: an unused `ignore` is an error."""
    client, later = Client("http://localhost:1"), AsyncWeft(weft)
    for call in (
        lambda: weft.context("q", focsu="dome"),  # type: ignore[call-overload]
        lambda: weft.preview("q", bugdet=3),  # type: ignore[call-arg]
        lambda: weft.request("q", get_recipe("default"), user="me", thred="t"),  # type: ignore[call-arg]
        lambda: client.context("q", recpie="memory"),  # type: ignore[call-overload]
        lambda: asyncio.run(later.context("q", threed="t")),  # type: ignore[call-overload]
        lambda: asyncio.run(later.search("q", limits=3)),  # type: ignore[call-arg]
        lambda: asyncio.run(later.explain("q", lense="x")),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError, match=r"did you mean|unexpected keyword"):
            call()
    with pytest.raises(InvalidInput):
        weft.context("q", filters={"types": ["page"]})  # type: ignore[call-overload]
    with pytest.raises(InvalidInput):
        client.context("q", recipe=get_recipe("default"))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("options", "fix"),
    [
        ({"filters": {"types": ["page"]}}, r"filters cannot be a dict .*: give Filters\(types="),
        ({"history": ({"role": "user", "content": "x"},)}, r"history cannot hold a dict .*: give messages such as"),
        ({"history": {"role": "user"}}, "history cannot hold a dict"),
        ({"include": "dome"}, r"include cannot hold a str .*: give ids of nodes, such as \('dome',\)"),
        ({"topics": ("dome",)}, r"topics cannot hold a str .*Topic\('the dome'\)"),
        ({"boosts": ["urgent"]}, "boosts cannot be a list .*: give a weight for each tag"),
        ({"prefer_types": "task"}, "prefer_types cannot hold a str"),
        ({"budget": {"total": 100}}, "the token budget is .*: give a whole number"),
    ],
)
def test_what_has_another_shape_is_refused_with_how_to_write_it(weft, options, fix):
    with pytest.raises(InvalidInput, match=fix):
        weft.context("dome", **options)


def test_what_has_the_right_shape_is_answered(weft):
    context = weft.context(
        "dome", budget=Budget(total=300), filters=Filters(), history=(Message("user", "x"),), include=("dome",)
    )
    assert context.items


def test_a_context_is_one_line_at_a_prompt_and_a_box_in_a_notebook(weft):
    context = weft.context("dome", budget=300)
    assert repr(context) == (
        f"<Context {context.id} for 'dome': {context.tokens} of 300 tokens, 1 documents, 1 citations>"
    )
    page = context._repr_html_()
    assert "The &lt;script&gt; dome turns on rollers." in page and "<script>" not in page
    assert f"{context.tokens} of 300 tokens" in page
    assert len(repr(weft.context("dome " * 200))) < 200


PARTS_OF_THE_PIPELINE = {"assemble", "atomic", "default_budget", "now", "rank", "request", "since"}


@pytest.mark.parametrize(
    ("blocking", "later", "left_out"), [(Weft, AsyncWeft, PARTS_OF_THE_PIPELINE), (Client, AsyncClient, set())]
)
def test_the_asynchronous_classes_have_the_same_methods(blocking, later, left_out):
    def named(kind):
        return {name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))}

    assert named(blocking) - left_out == named(later)
