from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from importlib import resources

import pytest

from weftwork import Weft, sample
from weftwork.errors import NotFound
from weftwork.ingest.events import Person
from weftwork.ingest.jsonlines import parse
from weftwork.render import to_dict
from weftwork.types import Edge, Filters, Node

LINES = (resources.files("weftwork.sample") / "workspace.jsonl").read_text("utf-8").splitlines()
PIECES = [parse(line) for line in LINES]
NODES = {piece.id: piece for piece in PIECES if isinstance(piece, Node)}
EDGES = [piece for piece in PIECES if isinstance(piece, Edge)]

HIDDEN_FROM_BEN = {"terms", "terms-limit", "private", "private-pay", "private-cash", "private-loan"}
SENTENCES = [sentence for name in sorted(HIDDEN_FROM_BEN) for sentence in re.split(r"(?<=[.:;]) ", NODES[name].text)]


@pytest.fixture(scope="module")
def weft(tmp_path_factory) -> Iterator[Weft]:
    path = tmp_path_factory.mktemp("sample") / "studio.weft"
    with Weft.open(path, clock=lambda: sample.NOW) as opened:
        sample.load(opened)
        yield opened


def snapshot(weft: Weft) -> dict[str, object]:
    with weft.store.view(sample.WORKSPACE, "ana") as view:
        names = sorted(NODES)
        return {
            "version": weft.store.version(sample.WORKSPACE),
            "nodes": view.nodes(names),
            "usage": view.usage(names),
            "counts": view.counts(),
            "edits": view.events("edit", limit=50),
            "views": view.events("view", limit=50),
        }


def strings(value: object) -> Iterator[str]:
    """Every text in nested lists and dictionaries, keys included."""
    match value:
        case str():
            yield value
        case dict():
            for key, each in value.items():
                yield key
                yield from strings(each)
        case list() | tuple():
            for each in value:
                yield from strings(each)


def sees(node: Node, principals: set[str]) -> bool:
    """The rule of access, worked out from the data alone."""
    owners: set[str] = set()
    while True:
        owners |= {node.owner} - {None}
        if node.access is not None:
            return bool((node.access | owners) & principals)
        if node.parent is None:
            return True
        node = NODES[node.parent]


def test_everything_in_the_file_is_loaded(weft):
    counts = weft.stats(user="ana", workspace=sample.WORKSPACE)
    assert 60 <= len(NODES) <= 90
    assert (counts["nodes"], counts["edges"]) == (len(NODES), len(EDGES))
    assert weft.store.users(sample.WORKSPACE) == {"ana": ("core",), "ben": ("guests",)}


def test_loading_again_changes_nothing(weft):
    before = snapshot(weft)
    sample.load(weft)
    assert snapshot(weft) == before


def test_a_load_that_stopped_half_way_is_completed(tmp_path):
    with Weft.open(tmp_path / "half.weft", clock=lambda: sample.NOW) as weft:
        weft.create_workspace(sample.WORKSPACE, owner=sample.OWNER)
        weft.add([NODES["finch"]], workspace=sample.WORKSPACE)
        sample.load(weft)
        assert weft.stats(user="ana", workspace=sample.WORKSPACE)["nodes"] == len(NODES)
        with weft.store.view(sample.WORKSPACE, "ana") as view:
            assert len(view.events("view", limit=50)) == sum(user == "ana" for user, _, _ in sample.VIEWS)


def test_every_kind_of_node_is_there():
    kinds = Counter(node.type for node in NODES.values())
    expected = """page heading paragraph list_item meeting todo kanban_card database db_row fact decision
        preference thread message file person goal spec note""".split()
    assert [kind for kind in expected if not kinds[kind]] == []
    assert {edge.type for edge in EDGES} == {"relation", "reference", "field"}
    assert [piece.name for piece in PIECES if isinstance(piece, Person)] == ["ana", "ben"]


def test_tasks_are_overdue_done_or_due_later():
    today = sample.NOW.date().isoformat()
    tasks = [node.fields for node in NODES.values() if node.type in ("todo", "kanban_card")]
    assert {task["status"] for task in tasks} == {"open", "in progress", "done"}
    assert sum(str(task["due"]) < today and task["status"] != "done" for task in tasks) >= 3
    assert sum(task["status"] == "done" for task in tasks) >= 3
    assert any(str(task["due"]) > today for task in tasks)


def test_memories_say_how_sure_they_are_and_where_they_were_said():
    memories = [node for name, node in NODES.items() if name.startswith("mem-")]
    assert {node.type for node in memories} == {"fact", "decision", "preference"}
    assert all(node.confidence is not None and node.conversation for node in memories)


def test_messages_follow_each_other_in_their_thread(weft):
    with weft.store.view(sample.WORKSPACE, "ben") as view:
        messages = view.children("thread-ship", 20)
        referenced = [node.id for _, node in view.neighbours("thread-ship", types=("reference",), direction="out")]
    assert [message.fields["role"] for message in messages] == ["user", "assistant"] * 3
    assert "file-inspection" in referenced


def test_long_files_are_cut_into_several_passages(weft):
    with weft.store.view(sample.WORKSPACE, "ana") as view:
        keys = view.passages(["file-inspection", "file-manual", "file-code"], limit=10)
    assert len(keys["file-inspection"]) > 1
    assert len(keys["file-manual"]) > 1
    compile(NODES["file-code"].text, "collimation.py", "exec")


def test_nothing_happened_after_now():
    moments = [moment for node in NODES.values() for moment in (node.created_at, node.updated_at)]
    assert max(moments) < sample.NOW
    assert all(node.created_at <= node.updated_at for node in NODES.values())


def test_an_announcement_that_stands_in_two_places_is_shown_once_and_its_draft_beside_it(weft):
    context = weft.context("first Finch telescopes leave our workshop", user="ana", workspace=sample.WORKSPACE)
    fates = {decision.node: decision for decision in context.trace}
    assert NODES["letter-news"].text == NODES["news-new"].text
    assert (fates["letter-news"].fate, fates["letter-news"].reason) == (
        "dropped",
        f"a repeat of [{fates['news-new'].citation}]",
    )
    assert f"{NODES['news-new'].text} (also in: Letter to the libraries › The first Finch" in context.text
    # "Two weeks" are not "three weeks": one different word makes another fact of it.
    assert {fates["news-new"].fate, fates["news-old"].fate} == {"included"}
    assert NODES["news-old"].text in context.text


def test_a_note_that_gives_orders_stays_inside_its_fence(weft):
    context = weft.context("overdue mirrors", user="ana", workspace=sample.WORKSPACE, include=("mail-calder",))
    _, _, rest = context.text.partition("````\n")
    quoted, end, _ = rest.partition("\n````\n")
    assert end
    # A citation that the mail invents is marked as none of the context's.
    own = NODES["mail-calder"].text.replace("[d000000]", r"\[d000000]")
    assert quoted == f"{own}\n(reads like instructions to a model)"
    assert own != NODES["mail-calder"].text


def test_the_data_hides_from_ben_what_the_tests_below_look_for():
    hidden = {name for name, node in NODES.items() if not sees(node, {"ben", "group:guests", "*"})}
    assert hidden == HIDDEN_FROM_BEN
    assert all(sees(node, {"ana", "group:core", "*"}) for node in NODES.values())


@pytest.mark.parametrize("name", sorted(HIDDEN_FROM_BEN))
def test_ben_cannot_name_a_hidden_node(weft, name):
    with pytest.raises(NotFound):
        weft.node(name, user="ben", workspace=sample.WORKSPACE)
    with pytest.raises(NotFound):
        weft.context("pay", user="ben", workspace=sample.WORKSPACE, focus=name)


@pytest.mark.parametrize("query", [*(NODES[name].title for name in sorted(HIDDEN_FROM_BEN)), *SENTENCES])
def test_bens_contexts_contain_nothing_that_is_hidden(weft, query):
    context = weft.context(
        query, user="ben", workspace=sample.WORKSPACE, focus="finch", thread="thread-ship", budget=20_000,
        include=tuple(sorted(HIDDEN_FROM_BEN)),
    )  # fmt: skip
    found = to_dict(context)
    assert found.pop("query") == query
    texts = list(strings(found))
    titles = {NODES[name].title for name in HIDDEN_FROM_BEN}
    assert not {each for each in texts if each in HIDDEN_FROM_BEN or each in titles}
    assert [sentence for sentence in SENTENCES if any(sentence in each for each in texts)] == []


@pytest.mark.parametrize("mode", ["hybrid", "words", "vector"])
def test_bens_searches_find_nothing_that_is_hidden(weft, mode):
    for query in (*(NODES[name].title for name in sorted(HIDDEN_FROM_BEN)), *SENTENCES):
        anas = weft.search(query, user="ana", workspace=sample.WORKSPACE, limit=40, mode=mode)
        bens = weft.search(query, user="ben", workspace=sample.WORKSPACE, limit=40, mode=mode)
        assert HIDDEN_FROM_BEN & {result.node.id for result in anas}
        assert not HIDDEN_FROM_BEN & {result.node.id for result in bens}
        assert not {NODES[name].title for name in HIDDEN_FROM_BEN} & {t for result in bens for t in result.trail}


def test_ben_sees_the_one_page_of_a_private_tree_that_is_shared_with_him(weft):
    results = weft.search("diesel tolls receipts", user="ben", workspace=sample.WORKSPACE, mode="words")
    found = {result.node.id: result for result in results}
    assert found["private-ben"].trail == ()
    assert found["private-ben"].node.parent is None
    assert found["private-ben-form"].trail == ("Delivery costs for Ben",)


def test_the_graph_does_not_lead_ben_to_what_is_hidden(weft):
    with weft.store.view(sample.WORKSPACE, "ben") as view:
        reached = {each.node for each in view.walk(["finch", "sup-calder"], depth=5, limit=200)}
        listed = {node.id for node in view.select(Filters(), limit=200)}
    assert not HIDDEN_FROM_BEN & reached
    assert listed == set(NODES) - HIDDEN_FROM_BEN


def test_each_line_is_one_json_object_with_a_known_parent():
    assert all(isinstance(json.loads(line), dict) for line in LINES)
    assert {node.parent for node in NODES.values()} - {None} <= set(NODES)
    assert {end for edge in EDGES for end in (edge.source, edge.target)} <= set(NODES)
