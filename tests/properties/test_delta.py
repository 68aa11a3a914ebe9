"""An earlier context and the differences since make up the fresh one, and quote nothing that became hidden."""

import itertools
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork import Edge, Node, Weft, WeftError
from weftwork.delta import GONE, UNCHOSEN
from weftwork.errors import NotFound
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools

from .asking import asks
from .sight import EMBEDDER
from .world import MARKER, PEOPLE, ROOT, World, plans

TOOLS = Tools(CharacterCounter(), EMBEDDER)
WORKSPACES = (f"workspace {number}" for number in itertools.count())


@pytest.fixture(scope="module")
def store(folder):
    store = SqliteStore(folder / "delta.weft", clock=lambda: NOW)
    yield store
    store.close()


@settings(max_examples=some(80, part=6))
@given(plan=plans(most=8), ask=asks, user=st.sampled_from((ROOT, *PEOPLE)), warm=st.booleans())
def test_the_union_of_deltas_is_the_fresh_context_and_tells_nothing_hidden(store, plan, ask, user, warm):
    weft = Weft(store, TOOLS, clock=lambda: NOW)
    ask = replace(ask, thread=None)
    with World(weft, next(WORKSPACES), plan) as world:
        first = _put(ask, weft, world, user, remember=not warm)
        if first is None:
            return
        known, since = {piece.name: piece.text for piece in first.pieces}, first.id
        assert "".join(piece.text for piece in first.pieces) == first.text
        for action in plan.actions:
            world.do(action)
            # Another process knows the earlier context by what was kept only.
            teller = weft if warm else Weft(store, TOOLS, clock=lambda: NOW)
            delta = _put(ask, teller, world, user, since=since)
            if delta is None:
                return
            fresh = ask.put_to(Weft(store, TOOLS, clock=lambda: NOW), world.workspace, user)
            assert delta.merge(known) == fresh.text == delta.context.text
            assert delta.tokens == TOOLS.counter.count(delta.text) <= ask.budget
            # A template may show the query, which is the user's own.
            secrets = world.secrets(user) - set(MARKER.findall(ask.query))
            assert not secrets & set(MARKER.findall(_words(delta)))
            lean = delta.lean()
            # A warning names ids that the request included, which are the user's own.
            assert not secrets & set(MARKER.findall(repr(replace(lean, warnings=()))))
            shown = {name for excerpt in (*lean.added, *lean.changed) for name in excerpt.citations}
            assert shown <= {citation.id for citation in lean.citations}
            assert lean.withdrawn.keys() == {each.citation for each in delta.withdrawn}
            known, since = delta.apply(known), delta.context.id


def _put(ask, weft, world, user, **more):
    """The answer, or None where the request is refused: its focus may be hidden or gone."""
    try:
        return ask.put_to(weft, world.workspace, user, **more)
    except WeftError:
        return None


def _words(delta):
    told = asdict(replace(delta, context=None))
    # Names of withdrawn pieces repeat the ids that this user was given before.
    told["withdrawn"] = [{"citation": each.citation, "reason": each.reason} for each in delta.withdrawn]
    return repr(told)


# From here on: one small workspace, and what each kind of write comes to.

NODES = (
    Node(id="harbour", title="Harbour", text="the harbour opens at six"),
    Node(id="crane", title="Crane", text="a crane at the harbour", position=1),
    Node(id="boat", title="Boat", text="a boat " + "sails far away from here " * 20, position=2),
)


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "harbour.weft", embedder=None, tokenizer="characters", clock=lambda: NOW) as weft:
        weft.add_user("ben")
        weft.add(NODES, [Edge(source="harbour", target="boat")])
        yield weft


def ask(weft, **more):
    return weft.context("harbour", user="ben", focus="harbour", **more)


def test_nothing_changed(weft):
    first = ask(weft)
    delta = ask(weft, since=first.id)
    assert (delta.added, delta.changed, delta.withdrawn, delta.frame) == ((), (), (), ())
    assert delta.text == f"No changes to the quoted sources since {first.id}.\n"
    assert not delta.whole
    assert delta.context.id == first.id


def test_added_changed_and_withdrawn_are_told_apart(weft):
    first = ask(weft)
    old = {item.candidate.node.id: item.candidate.passage.citation for item in first.items}
    buoy = Node(id="buoy", title="Buoy", text="a buoy in the harbour")
    weft.add([buoy, replace(NODES[0], text="the harbour is shut")])
    with weft.atomic() as batch:
        batch.set_access("crane", frozenset({"me"}))
    delta = ask(weft, since=first.id)
    assert [piece.name for piece in delta.added] == ["semantic: buoy"]
    assert [piece.name for piece in delta.changed] == ["focus: harbour"]
    assert delta.replaced == {"focus: harbour": old["harbour"]}
    assert [(each.citation, each.reason) for each in delta.withdrawn] == [(old["crane"], GONE)]
    new = next(item.candidate.passage.citation for item in delta.context.items if item.candidate.node.id == "harbour")
    assert f"- [{old['crane']}]\n- [{old['harbour']}], now [{new}]\n" in delta.text
    assert "the harbour is shut" in delta.text
    assert "a crane" not in delta.text
    assert "sails far away" not in delta.text
    assert delta.tokens < delta.context.tokens


def test_what_is_still_there_but_not_chosen_is_withdrawn_with_another_reason(weft):
    first = ask(weft)
    delta = ask(weft, since=first.id, budget=30)
    assert UNCHOSEN in {each.reason for each in delta.withdrawn}
    assert GONE not in {each.reason for each in delta.withdrawn}


def test_a_difference_longer_than_the_context_is_the_context(weft):
    first = ask(weft, budget=200)
    weft.add([replace(node, text=node.text[:30] + "!") for node in NODES])
    delta = ask(weft, since=first.id, budget=200)
    assert delta.whole
    assert delta.text == f"These sources replace those of {first.id}.\n\n{delta.context.text}"
    assert delta.tokens <= 200


def test_where_the_text_shows_no_ids_the_whole_takes_the_place_of_the_earlier_one(weft):
    first = weft.context("harbour", user="ben", recipe="conversation")
    weft.remove(["crane"])
    delta = weft.context("harbour", user="ben", recipe="conversation", since=first.id)
    assert delta.whole
    assert delta.text.startswith(f"These sources replace those of {first.id}.\n\nRelevant context")
    assert "crane" not in delta.text


def test_a_budget_that_is_full_leaves_no_room_to_say_so(weft):
    first = ask(weft, budget=200)
    weft.add([replace(node, text=node.text[:30] + "!") for node in NODES])
    full = ask(weft, budget=200).tokens
    delta = ask(weft, since=first.id, budget=full)
    assert delta.tokens <= full


def test_another_users_or_threads_context_is_not_known(weft):
    first = weft.context("harbour", user="me")
    for more in ({"user": "ben"}, {"user": "me", "thread": "boat"}):
        with pytest.raises(NotFound, match=r"no context 'ctx-.*' of this user and thread is remembered"):
            weft.context("harbour", since=first.id, **more)


def test_another_process_knows_a_context_that_was_kept(weft, tmp_path):
    first = ask(weft, remember=True)
    lost = weft.context("boat", user="ben")
    with Weft.open(tmp_path / "harbour.weft", embedder=None, tokenizer="characters", clock=lambda: NOW) as other:
        assert ask(other, since=first.id).context == first
        with pytest.raises(NotFound):
            other.context("boat", user="ben", since=lost.id)


def test_only_the_latest_of_each_user_are_kept(weft):
    for number in range(210):
        weft.store.keep_context("main", f"ctx-{number:03}", user="ben", thread="", kept="{}")
    weft.store.keep_context("main", "ctx-other", user="me", thread="", kept="{}")
    kept = [n for n in range(210) if weft.store.kept_context("main", f"ctx-{n:03}", user="ben", thread="") is not None]
    assert len(kept) == 200
    assert weft.store.kept_context("main", "ctx-other", user="me", thread="") == "{}"
