"""A request that was answered before is answered from memory, and never with what has been overtaken."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork import Edge, Message, Node, Weft
from weftwork.render import to_json
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools

from .asking import Ask, asks
from .sight import EMBEDDER
from .world import COMMON, PEOPLE, ROOT, World, plans

TOOLS = Tools(CharacterCounter(), EMBEDDER)
WORKSPACES = (f"workspace {number}" for number in itertools.count())


@pytest.fixture(scope="module")
def stores(folder):
    """The same file, opened twice, as two processes would."""
    path = folder / "cache.weft"
    both = [SqliteStore(path, clock=lambda: NOW) for _ in range(2)]
    yield both
    for store in both:
        store.close()


@settings(max_examples=some(100, part=6))
@given(plan=plans(most=8), requests=st.lists(asks, min_size=1, max_size=3), user=st.sampled_from((ROOT, *PEOPLE)))
def test_a_warm_engine_answers_like_one_that_has_just_been_opened(stores, plan, requests, user):
    mine, other = stores
    warm = Weft(mine, TOOLS, clock=lambda: NOW)
    with World(warm, next(WORKSPACES), plan) as world:

        def answers(weft):
            return [ask.answer(weft, world.workspace, user) for ask in requests]

        assert answers(warm) == answers(warm)
        for action in plan.actions:
            world.do(action)
            assert answers(warm) == answers(Weft(other, TOOLS, clock=lambda: NOW))


# From here on: one small workspace, Ben's question about its harbour, and what he must see after each kind of write.

NODES = (
    Node(id="harbour", title="Harbour", text="the harbour opens at six", owner=ROOT),
    Node(id="pier", title="Pier", text="the pier of the harbour", parent="harbour"),
    Node(id="crane", title="Crane", text="a crane at the harbour", position=1),
    Node(id="vault", title="Vault", text="the vault of the harbour", access=frozenset({ROOT, "group:guards"})),
)
PATH = Edge(source="harbour", target="pier", label="path")


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "harbour.weft", embedder=EMBEDDER, tokenizer="characters", clock=lambda: NOW) as weft:
        weft.add_user(ROOT)
        weft.add_user("ben")
        weft.add(NODES, [PATH])
        yield weft


def ask(weft, query="the harbour", **more):
    return weft.context(query, user="ben", **more)


def decision(context, node):
    return next((each for each in context.trace if each.node == node), None)


def signal(context, node, name):
    return decision(context, node).signals.get(name)


def reasons(context, node):
    return " ".join(finding.why for finding in decision(context, node).findings)


def batched(verb, *arguments):
    """A write through a batch."""

    def write(weft):
        with weft.atomic() as batch:
            getattr(batch, verb)(*arguments)

    return write


WRITES = {
    "a new node": (
        lambda weft: weft.add([Node(id="buoy", title="Buoy", text="a buoy in the harbour")]),
        lambda context: decision(context, "buoy") is not None,
    ),
    "a new text": (
        lambda weft: weft.add([Node(id="harbour", title="Harbour", text="the harbour is closed", owner=ROOT)]),
        lambda context: "the harbour is closed" in context.text and "opens at six" not in context.text,
    ),
    "a new title above": (
        lambda weft: weft.add([Node(id="harbour", title="Port", text="the harbour opens at six", owner=ROOT)]),
        lambda context: "Port" in context.text,
    ),
    "a new tag": (
        lambda weft: weft.add([Node(id="crane", title="Crane", text="a crane at the harbour", tags=("heavy",))]),
        lambda context: any("heavy" in item.candidate.node.tags for item in context.items),
    ),
    "an edge": (
        batched("link", [Edge(source="harbour", target="crane", label="moored")]),
        lambda context: "reference moored of the focus" in reasons(context, "crane"),
    ),
    "a removed edge": (
        batched("unlink", [PATH]),
        lambda context: "path of the focus" not in reasons(context, "pier"),
    ),
    "a move": (
        batched("move", "crane", "harbour", 3),
        lambda context: "child 2 of the focus" in reasons(context, "crane"),
    ),
    "an access list": (
        batched("set_access", "crane", frozenset({ROOT})),
        lambda context: decision(context, "crane") is None and "Crane" not in context.text,
    ),
    "a wider access list": (
        batched("set_access", "vault", None),
        lambda context: decision(context, "vault") is not None,
    ),
    "a group": (
        batched("add_user", "ben", ["guards"]),
        lambda context: decision(context, "vault") is not None,
    ),
    "an activity": (
        batched("record", "ben", "crane", "edit", NOW),
        lambda context: signal(context, "crane", "affinity") == 1.0 and "your edit" in reasons(context, "crane"),
    ),
    "a word of praise": (
        lambda weft: weft.feedback("crane", True, user="ben"),
        lambda context: signal(context, "crane", "feedback") == 1.0,
    ),
    "a use": (
        batched("count_use", ROOT, ["crane"]),
        lambda context: signal(context, "crane", "usage") == 0.1,
    ),
    "a removal": (
        lambda weft: weft.remove(["crane"]),
        lambda context: decision(context, "crane") is None and "Crane" not in context.text,
    ),
}


@pytest.mark.parametrize("write", WRITES)
def test_the_next_request_sees(weft, write):
    act, is_seen = WRITES[write]
    before = ask(weft, focus="harbour")
    assert not is_seen(before)
    assert ask(weft, focus="harbour") is before
    act(weft)
    assert is_seen(ask(weft, focus="harbour"))


def test_leaving_a_group_closes_what_it_opened_at_once(weft):
    weft.add_user("ben", groups=["guards"])
    assert decision(ask(weft), "vault") is not None
    weft.add_user("ben")
    assert decision(ask(weft), "vault") is None


def test_a_write_that_is_undone_leaves_no_trace_in_an_answer(weft):
    before = to_json(ask(weft))
    with pytest.raises(RuntimeError, match="changed my mind"), weft.atomic() as batch:
        batch.remove(["harbour"])
        raise RuntimeError("changed my mind")
    assert to_json(ask(weft)) == before


def test_a_workspace_that_is_made_anew_under_its_old_name_is_empty(weft):
    weft.create_workspace("second")
    weft.add(NODES, workspace="second")
    assert weft.context("harbour", workspace="second").trace
    weft.store.drop_workspace("second")
    weft.create_workspace("second")
    assert not weft.context("harbour", workspace="second").trace


def test_each_part_of_a_request_tells_it_from_another(weft):
    options: list[dict[str, Any]] = [
        {},
        {"query": "the crane"},
        {"budget": 60},
        {"focus": "harbour"},
        {"thread": "harbour"},
        {"include": ("pier",)},
        {"history": (Message("user", "when does it open?"),)},
        {"boosts": {"heavy": 0.5}, "prefer_types": frozenset({"note"})},
        {"recipe": Ask(query=COMMON, packer="ranked", template="plain").recipe},
    ]
    first = [to_json(ask(weft, **each)) for each in options]
    assert len(set(first)) == len(options)
    assert [to_json(ask(weft, **each)) for each in reversed(options)] == first[::-1]


def test_an_answer_grows_old_with_the_clock(tmp_path):
    moments = [NOW]
    with Weft.open(tmp_path / "ageing.weft", embedder=None, tokenizer="characters", clock=lambda: moments[-1]) as weft:
        weft.add([Node(id="harbour", text="the harbour", updated_at=NOW)])
        first = weft.context("harbour")
        moments.append(NOW + timedelta(seconds=59))
        assert weft.context("harbour") == first
        moments.append(NOW + timedelta(days=15))
        assert weft.context("harbour").trace[0].signals["recency_linear"] == 0.5


def test_threads_that_ask_at_once_get_the_same_bytes_as_one_alone(weft):
    requests: list[dict[str, Any]] = [
        {"query": "the harbour"},
        {"query": "a crane", "focus": "harbour"},
        {"query": "pier", "budget": 80},
    ]
    alone = [to_json(ask(weft, **each)) for each in requests]
    cold = Weft(weft.store, weft.tools, clock=lambda: NOW)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda each: to_json(ask(cold, **each)), requests * 8))
    assert together == alone * 8
