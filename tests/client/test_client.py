"""The client: the engine's methods, answered by a server."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from tests.server.http.serving import running

import weftwork as package
from weftwork import Budget, Client, Edge, Filters, Message, Node, Weft
from weftwork.client import RemoteMemories
from weftwork.client.transport import segment
from weftwork.delta import Delta
from weftwork.embed.hashing import HashingEmbedder
from weftwork.errors import AccessDenied, InvalidInput, NotFound, RemoteError
from weftwork.faces.memory import (
    AsyncMemories,
    ContextEngine,
    ContextEngineConfig,
    ContextOptions,
    Memories,
    RankingOptions,
    SearchOptions,
)
from weftwork.recipe import get_recipe
from weftwork.render import lean
from weftwork.request import Topic
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Limits, Local, Options
from weftwork.server.keys import make_key
from weftwork.types import Context
from weftwork.wire import decode, encode

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
ODD = ("a/b", "..", "a/../b", "x#page=1?y=%41", "ü 漢字", "//", "mit leer", "+&=")


def opened(path):
    return Weft.open(path, embedder="hashing", clock=lambda: NOW)


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("client") / "notes.weft") as engine:
        engine.add_user("ana", groups=["team"])
        engine.add([Node(id="secret", text="The rollers cost a fortune.", access=frozenset({"ana"}))])
        yield engine


@pytest.fixture(scope="module")
def url(weft):
    options = Options(local=Local(user="me", workspace="main"), limits=Limits(requests_per_minute=0))
    with running(make_app(weft, options)) as address:
        yield address


@pytest.fixture(scope="module")
def key(weft):
    return make_key(weft.store, user="me", workspaces=["main"], scope="admin", now=NOW)[1]


@pytest.fixture(scope="module")
def client(url, key):
    with Client(url, key=key) as remote:
        yield remote


def a_day_of_work(weft):
    """What a program does with an engine; it returns everything that it was told."""
    told = [
        weft.add(
            [
                Node(id="dome", type="page", title="Dome", text="The dome turns on rollers. " * 60, tags=("building",)),
                Node(
                    id="grease", parent="dome", text="Rollers need grease.", fields={"due": "2026-03-01", "n": ("a",)}
                ),
                Node(id="thread", type="thread", title="Maintenance"),
                Node(id="m1", type="message", parent="thread", position=1, text="Who greases the rollers?"),
                *(Node(id=name, text=f"Odd {number}", position=number) for number, name in enumerate(ODD)),
            ],
            [Edge(source="thread", target="dome", label="about", weight=0.5)],
        ),
        weft.add([Node(id="dome", type="page", title="Dome", text="The dome turns on twelve rollers.")], in_place=True),
    ]
    first = weft.context("grease the rollers", budget=300, remember=True)
    told += [
        first,
        weft.context(
            "rollers",
            budget=Budget(total=900, sections={"focus": 300}, share=False),
            recipe="workspace",
            lens="planning",
            focus="dome",
            thread="thread",
            history=(Message("user", "Hello?", NOW),),
            filters=Filters(
                types=frozenset({"page", "note"}), after=NOW - timedelta(days=1), exclude=frozenset({"m1"})
            ),
            include=("grease",),
            prefer_types=frozenset({"page"}),
            boosts={"building": 0.2},
            depth=2,
            show_fields=False,
            key_fields=("due",),
            truncation="keep_end",
        ),
        weft.context("rollers", recipe="graph", topics=(Topic("dome"), Topic("grease", 2.0)), edge_types=("child",)),
        weft.context("", focus="grease"),
        weft.preview("rollers", budget=200),
        weft.explain("rollers", budget=200),
        weft.search("rollers", limit=3),
        weft.search("greese", mode="words", filters=Filters(tags=frozenset({"building"}))),
        *(weft.node(name) for name in ("dome", "grease", *ODD)),
        weft.node(first.citations[0].id),
        *(weft.read(name, tokens=200) for name in ("dome", *ODD, first.citations[0].id)),
        weft.read("dome", ids=False).text,
        weft.feedback("dome", True),
        weft.feedback("grease", False, query="When is it due?"),
        weft.context("grease the rollers", budget=300, since=first.id),
        weft.stats(),
    ]
    told += [weft.remove(["m1", "unknown", ODD[0]]), weft.stats()]
    for call, error in (
        (lambda: weft.node("m1"), NotFound),
        (lambda: weft.context("x", budget=0), InvalidInput),
        (lambda: weft.context("x", recipe="nonsense"), InvalidInput),
        (lambda: weft.context("x", since="ctx-0000000000"), NotFound),
        (lambda: weft.add([Node(id=" ")]), InvalidInput),
        (lambda: weft.add([], [Edge(source="dome", target="nothing")]), NotFound),
        (lambda: weft.search("x", limit=0), InvalidInput),
        (lambda: weft.feedback("dome", "yes"), InvalidInput),
    ):
        with pytest.raises(error):
            call()
    return told


def same(value):
    """A value as a server tells it: contexts lean, and passages without the numbers that a store gives to them."""
    if isinstance(value, Context):
        return lean(value)
    if isinstance(value, Delta):
        return value.lean()
    return decode(type(value), encode(value)) if hasattr(value, "__dataclass_fields__") else value


def without_writer(value):
    """A server knows by the key who wrote a node."""
    if isinstance(value, dict):
        return {name: without_writer(each) for name, each in value.items() if name != "writer"}
    return [without_writer(each) for each in value] if isinstance(value, list) else value


def test_the_same_program_is_told_the_same_by_a_file_and_by_a_server(tmp_path, client):
    with opened(tmp_path / "local.weft") as weft:
        weft.add_user("ana", groups=["team"])
        weft.add([Node(id="secret", text="The rollers cost a fortune.", access=frozenset({"ana"}))])
        local = a_day_of_work(weft)
    remote = a_day_of_work(client)
    assert len(local) == len(remote)
    for one, two in zip(local, remote, strict=True):
        told = list(map(same, one)) if isinstance(one, list) else same(one)
        assert type(told) is type(two)
        assert without_writer(encode(told)) == without_writer(encode(two))


def test_a_context_is_whole_on_request(client):
    client.add([Node(id="rail", title="Rail", text="The dome turns on rollers.")])
    context = client.context("rollers", explain=True)
    assert isinstance(context, Context)
    assert "".join(piece.text for piece in context.pieces) == context.text
    assert context.trace and context.timings
    assert all(item.candidate.passage.key == 0 for item in context.items)
    delta = client.context("rollers", budget=100, since=context.id, explain=True)
    assert isinstance(delta, Delta)
    assert delta.merge({piece.name: piece.text for piece in context.pieces}) == delta.context.text


def test_a_context_is_lean_unless_more_is_asked_for(client, weft):
    client.add([Node(id="rail", title="Rail", text="The dome turns on rollers.")])
    context = client.context("rollers", budget=400)
    assert context == lean(weft.context("rollers", budget=400))
    assert context.excerpts and context.excerpts[0].title and context.citations
    assert not hasattr(context, "trace")
    weft.add([Node(id="axle", title="Axle", text="The axle has rollers of steel.")])
    delta = client.context("rollers", budget=400, since=context.id)
    assert delta == weft.context("rollers", budget=400, since=context.id).lean()
    assert any(excerpt.document == "axle" for excerpt in delta.added)
    assert {name for excerpt in delta.added for name in excerpt.citations} <= {each.id for each in delta.citations}
    assert not hasattr(delta, "merge")
    again = client.context("rollers", budget=400, since=delta.id)
    assert (again.added, again.changed, again.withdrawn) == ((), (), {})


def test_an_admin_acts_for_another_user_and_nobody_else_does(client, weft, url):
    assert client.node("secret", user="ana").text == "The rollers cost a fortune."
    with pytest.raises(NotFound):
        client.node("secret")
    _, token = make_key(weft.store, user="me", workspaces=["main"], scope="write", now=NOW)
    with Client(url, key=token) as writer, pytest.raises(AccessDenied, match="admin"):
        writer.node("secret", user="ana")


def test_memories_have_the_same_methods_over_the_wire(client, weft):
    remote, local = RemoteMemories(client), Memories(weft)
    tea = remote.remember("Ana prefers green tea.", metadata={"source": "chat"}, tags=("taste",), pinned=True)
    assert (tea.action, remote.get(tea.id)) == ("added", local.get(tea.id))
    black = remote.remember("Ana prefers black tea.", on_conflict="ask")
    assert (black.action, [each.memory.id for each in black.conflicts]) == ("asked", [tea.id])
    new = remote.update(tea.id, "Ana prefers black tea.")
    assert remote.update(new.id, confidence=0.5).confidence == 0.5
    assert remote.history(new.id) == local.history(tea.id) and len(remote.history(new.id)) == 2
    added = remote.add([{"id": "1", "role": "user", "content": "I moved to Lisbon in 2020.", "at": NOW}])
    assert [change.action for change in added.changes] == ["add"]
    assert remote.add([{"id": "1", "role": "user", "text": "I moved to Lisbon in 2020."}]).known == 1
    named = {"id": "2", "name": "Ben", "role": "user", "content": "I moved to Oslo in 2021."}
    assert remote.add([named], dry_run=True) == local.add([named], dry_run=True)
    assert remote.add([named], dry_run=True).changes[0].text == "Ben: I moved to Oslo in 2021."
    for options in ({}, {"metadata": {"source": "chat"}}, {"tags": ["taste"], "min_score": 0.1}, {"limit": 1}):
        assert remote.search("Ana tea", **options) == local.search("Ana tea", **options)
    assert remote.context("Ana tea", token_budget=100) == local.context("Ana tea", token_budget=100)
    assert asyncio.run(AsyncMemories(remote).search("Ana tea")) == asyncio.run(AsyncMemories(local).search("Ana tea"))
    assert remote.forget(metadata={"source": "chat"}) == 2
    assert remote.forget(filters=Filters(types=frozenset({"statement"}))) == 1
    assert remote.list(every=True) == ()
    with pytest.raises(InvalidInput, match="cannot be handed a model"):
        remote.add([], extract="a model")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no language model: set"):
        remote.add([{"role": "user", "text": "I moved to Lisbon in 2020."}], extract=True)


OWN = {"name": "own", "memoryFormat": "* {{content}} ({{score}})", "separator": "\n", "header": "Known:\n"}


@pytest.fixture(scope="module")
def engines(client, weft):
    memories = Memories(weft)
    tea = memories.remember("Ana prefers green tea.", type="preference", confidence=0.9, tags=["taste"], user="ana")
    memories.remember("Ana drinks two cups of tea each morning.", confidence=0.2, user="ana")
    memories.remember("Ana prefers no tea at all.", contradicts=[tea.id], user="ana")
    memories.remember("The user is called Ana.", pinned=True, user="ana")
    memories.relate(tea.id, memories.remember("The tin is empty.", user="ana").id, user="ana")
    remote = ContextEngine(ContextEngineConfig(storage_client=client, user="ana"))
    local = ContextEngine(ContextEngineConfig(storage_client=weft, user="ana"))
    for engine in (remote, local):
        engine.register_template("mine", OWN)
    yield remote, local
    memories.forget(filters=Filters(), user="ana")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"limit": 1, "include_relationships": True, "relationship_depth": 2},
        {"tags": ["taste"], "min_score": 0.1, "memory_types": ["preference"], "contradictions": "newer"},
        {"template": "mine", "token_budget": 60, "pinned_tokens": 0},
        {"template": OWN, "include_metadata": True, "ranker": "by_recency"},
        {"ranking": RankingOptions(similarity_weight=0, recency_weight=0, confidence_weight=1)},
        {"template": "no such", "user": "ana"},
        {"user": "nobody"},
        {"ranker": "no such"},
        {"limit": 0},
        {"token_budget": 1},
    ],
)
def test_an_engine_on_a_server_answers_as_one_on_the_store(engines, weft, options):
    remote, local = engines
    vector = weft.tools.embedder.embed("green tea").tolist()
    search = {name: value for name, value in options.items() if name in SearchOptions.__slots__}

    async def answers(engine):
        chosen, found = ContextOptions(**options), SearchOptions(**search)
        return [
            await engine.search("Ana tea", "main", found),
            await engine.search_by_vector(vector, "main", found),
            await engine.build_context("Ana tea", "main", chosen),
            await engine.build_context_by_vector(vector, "main", chosen),
            await engine.preview_context("Ana tea", "main", chosen),
        ]

    for here, there in zip(asyncio.run(answers(remote)), asyncio.run(answers(local)), strict=True):
        assert here.ok == there.ok
        if here.ok:
            assert here.value == there.value
        else:
            assert (here.error.type, here.error.available) == (there.error.type, there.error.available)


def test_what_an_engine_cannot_hand_to_a_server_is_refused_with_the_remedy(client, url):
    with pytest.raises(InvalidInput, match="cannot be given embedding_provider, decay: set them"):
        ContextEngine(
            ContextEngineConfig(storage_client=client, embedding_provider=HashingEmbedder(), decay={"fact": 2})
        )
    engine = ContextEngine(ContextEngineConfig(storage_client=client))
    engine.register_ranker("mine", lambda results: results)
    ranked = asyncio.run(engine.build_context("tea", "main", ContextOptions(ranker="mine")))
    assert (ranked.error.type, "ContextFormatter" in ranked.error.message) == ("validation_error", True)
    with Client(url, key="none") as stranger:
        refused = asyncio.run(ContextEngine(ContextEngineConfig(storage_client=stranger)).search("tea", "main"))
    assert (refused.error.type, "key" in refused.error.message) == ("storage_error", True)
    with Client("http://127.0.0.1:9", retries=0) as nowhere:
        gone = asyncio.run(ContextEngine(ContextEngineConfig(storage_client=nowhere)).search("tea", "main"))
    assert (gone.error.type, "could not be reached" in gone.error.message) == ("storage_error", True)


class Scripted:
    """A language model that finds one fact."""

    name = "scripted"

    def complete(self, messages):
        return '{"facts": [{"text": "Ana lives in Porto.", "type": "fact", "turns": [1], "confidence": 0.9}]}'


def test_a_server_extracts_with_its_own_model_and_takes_any_user_where_that_is_allowed(weft, key):
    options = Options(model=Scripted(), new_users=frozenset({"main"}), limits=Limits(requests_per_minute=0))
    with running(make_app(weft, options)) as address, Client(address, key=key) as client:
        remote = RemoteMemories(client)
        added = remote.add([{"id": "1", "role": "user", "text": "I moved to Porto."}], extract=True, user="visitor-7")
        assert [(change.action, change.memory.content) for change in added.changes] == [("add", "Ana lives in Porto.")]
        assert [found.memory.content for found in remote.search("Porto", user="visitor-7")] == ["Ana lives in Porto."]
        assert remote.list(user="visitor-8") == () and "visitor-8" in weft.store.users("main")
    weft.create_workspace("closed")
    try:
        admin = make_key(weft.store, user="me", workspaces=["closed"], scope="admin", now=NOW)[1]
        with (
            running(make_app(weft, options)) as address,
            Client(address, key=admin) as client,
            pytest.raises(NotFound, match="no user 'visitor-7'"),
        ):
            RemoteMemories(client).list(user="visitor-7", workspace="closed")
    finally:
        weft.store.drop_workspace("closed")


def test_memories_and_users_over_the_wire(client, weft):
    client.add_user("bo/b", groups=("team",))
    assert weft.store.users("main")["bo/b"] == ("team",)
    memory = client.remember("Ana likes tea.", tags=("taste",), valid_from=NOW)
    assert client.memories() == (memory,)
    client.forget(memory.id)
    assert client.memories() == ()
    assert client.workspaces() == ["main"]


def test_threads_over_the_wire(client, weft):
    client.add([Node(id="keys", type="file", title="keys.md", text="Ana has the keys.")])
    thread = client.threads.create("Keys", references=["keys"])
    assert weft.threads.references(thread.id)[0].id == "keys"
    first, second = client.threads.post(thread.id, "Who has them?", Message("assistant", "Ana."))
    assert [(m.id, m.position, m.title) for m in client.threads.messages(thread.id)] == [
        (first, 1, "user"),
        (second, 2, "assistant"),
    ]
    assert client.threads.messages(thread.id) == weft.threads.messages(thread.id)
    assert client.threads.rename(thread.id, "Who has the keys?").title == "Who has the keys?"
    assert thread.id in [each.id for each in client.threads.list()]
    assert client.threads.references(thread.id) == weft.threads.references(thread.id)
    assert client.threads.unreference(thread.id, "keys") == client.threads.reference(thread.id, "keys") == 1
    assert client.threads.count_use(["keys", "gone"]) == 1
    with weft.store.view("main", "me") as view:
        assert view.usage(["keys"])["keys"].used == 1
    assert client.threads.remove(thread.id) == 3
    with pytest.raises(NotFound):
        client.threads.messages(thread.id)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda threads, t: threads.create("a", references="keys"),
        lambda threads, t: threads.create("a", access="ben"),
        lambda threads, t: threads.create(5),
        lambda threads, t: threads.post(t),
        lambda threads, t: threads.post(t, " "),
        lambda threads, t: threads.post(t, 5),
        lambda threads, t: threads.reference(t, 5),
        lambda threads, t: threads.rename(t, None),
        lambda threads, t: threads.list("many"),
        lambda threads, t: threads.messages(t, 0),
        lambda threads, t: threads.count_use("keys"),
    ],
)
def test_wrong_input_to_threads_is_refused_over_the_wire_as_well(client, weft, wrong):
    thread = weft.threads.create("T").id
    threads = len(weft.threads.list())
    for each in (client.threads, weft.threads):
        with pytest.raises(InvalidInput):
            wrong(each, thread)
    assert (len(weft.threads.list()), weft.threads.messages(thread)) == (threads, [])
    weft.threads.remove(thread)


def test_a_document_is_uploaded_and_asked_about(client, tmp_path):
    path = tmp_path / "dome.html"
    path.write_text("<h1>Dome</h1><p>The heavy dome turns on twelve steel rollers.</p>", encoding="utf-8")
    job = client.upload(path)
    name, done = list(client.job_events(job["id"]))[-1]
    assert (name, done["state"], client.job(job["id"])["state"]) == ("done", "done", "done")
    answer = client.ask("What does the dome turn on?", mode="hybrid")
    assert answer["sources"][0]["filename"] == "dome.html"
    assert list(client.ask_events("What does the dome turn on?", mode="hybrid"))[-1] == ("done", answer)
    assert [node.id for node in client.children(done["node"])] == [f"{done['node']}#page=1"]


def test_errors_are_those_of_the_library(client, url, key):
    with Client(url) as nobody, pytest.raises(AccessDenied, match="key"):
        nobody.node("dome")
    with pytest.raises(NotFound, match="no workspace"):
        client.node("dome", workspace="nowhere")
    with pytest.raises(AccessDenied, match="command line"):
        client.create_workspace("more")
    with pytest.raises(InvalidInput, match="limit"):
        client.search("x", limit=100_000)
    with pytest.raises(InvalidInput, match="by its name"):
        client.context("x", recipe=replace(get_recipe("default"), lines=False))
    with pytest.raises(TypeError, match="no option"):
        client.context("x", budgett=5)
    with Client("http://127.0.0.1:9", retries=0) as nowhere, pytest.raises(RemoteError, match="could not be reached"):
        nowhere.node("dome")


@pytest.mark.parametrize("address", ["", "notes.weft", "ftp://x", "http://", "http://x:0", "http://[::1"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InvalidInput, match="address"):
        Client(address)


def test_a_key_that_is_none_is_refused_and_never_shown():
    with pytest.raises(InvalidInput) as caught:
        Client("http://127.0.0.1", key="weft_ü")
    assert "ü" not in str(caught.value)
    assert "weftwork_" not in repr(Client("http://127.0.0.1", key="weftwork_secret"))


class Script:
    """A server that answers as it is told, and notes what it was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.waited = []

    def __call__(self, request):
        self.asked.append((request.method, request.url.path))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self):
        client = Client("http://weft.test", "key", transport=httpx.MockTransport(self))
        client._transport._sleep = self.waited.append
        return client


def busy(status, **headers):
    return httpx.Response(status, headers=headers, json={"detail": "busy"})


NODE = httpx.Response(200, json=encode(Node(id="dome")))


def test_what_may_be_repeated_is_sent_again_when_the_server_says_so():
    script = Script(busy(429, **{"retry-after": "7"}), busy(503), httpx.ConnectError("gone"), NODE)
    assert script.client().node("dome").id == "dome"
    assert (len(script.asked), script.waited) == (4, [7.0, 1.0, 2.0])


def test_what_may_have_happened_is_not_sent_twice():
    script = Script(httpx.ReadError("gone"))
    with pytest.raises(RemoteError):
        script.client().remember("once")
    assert len(script.asked) == 1
    script = Script(busy(429, **{"retry-after": "1"}), busy(503))
    with pytest.raises(RemoteError, match="503"):
        script.client().remember("once")
    assert len(script.asked) == 2


def test_a_model_is_not_asked_again_because_it_takes_its_time():
    script = Script(httpx.ReadTimeout("slow"))
    with pytest.raises(RemoteError):
        script.client().ask("What does the dome turn on?")
    assert len(script.asked) == 1


def test_it_does_not_wait_for_ever():
    script = Script(busy(429, **{"retry-after": "3600"}))
    with pytest.raises(RemoteError, match="429"):
        script.client().node("dome")
    assert script.waited == []
    script = Script(*(busy(503) for _ in range(4)))
    with pytest.raises(RemoteError):
        script.client().node("dome")
    assert len(script.asked) == 4


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(404, text="<html>"),
        httpx.Response(500, json=[]),
        httpx.Response(502, json={"detail": 5}),
    ],
)
def test_what_no_weft_server_says_is_told_as_such(answer):
    with pytest.raises(RemoteError):
        Script(answer).client().node("dome")


def test_an_answer_of_another_shape_is_refused():
    with pytest.raises(InvalidInput, match="no Node"):
        Script(httpx.Response(200, json={"id": 5})).client().node("dome")


def test_a_name_is_one_part_of_an_address():
    assert segment("a/../b") == "a%2F%2E%2E%2Fb"


def test_the_package_offers_it():
    assert package.Client is Client
