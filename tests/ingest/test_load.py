import pytest

from weftwork.errors import NotFound
from weftwork.ingest import load
from weftwork.ingest.events import Person, Skipped
from weftwork.ingest.jsonlines import read_json_lines
from weftwork.ingest.load import BATCH
from weftwork.types import Edge, Node


def loaded(weft, *pieces):
    return load(weft, pieces, workspace="main")


def texts(weft, *names):
    with weft.store.view("main", "me") as view:
        return [node.text for node in view.nodes(names)]


def test_everything_is_added_and_counted(weft):
    report = loaded(weft, Person("ana", ("core",)), Node(id="a", text="x"), Node(id="b"), Edge(source="a", target="b"))
    assert (report.read, report.changed, report.edges, report.users, report.skipped) == (2, 2, 1, 1, [])
    assert weft.store.users("main") == {"ana": ("core",), "me": ()}
    assert weft.stats()["edges"] == 1


def test_adding_again_changes_only_what_differs(weft):
    pieces = [Node(id="a", text="x"), Node(id="b", text="y"), Edge(source="a", target="b")]
    loaded(weft, *pieces)
    again = loaded(weft, *pieces)
    assert (again.read, again.changed, again.edges) == (2, 0, 0)
    differing = loaded(weft, Node(id="a", text="new"), *pieces[1:])
    assert (differing.read, differing.changed, differing.edges) == (2, 1, 0)
    assert texts(weft, "a", "b") == ["new", "y"]


def test_a_node_may_come_before_its_parent_however_deep(weft):
    chain = [Node(id=f"n{n}", parent=f"n{n + 1}") for n in range(9)]
    report = loaded(weft, *chain, Node(id="n9"))
    assert (report.read, report.skipped) == (10, [])
    with weft.store.view("main", "me") as view:
        assert [ancestor.id for ancestor in view.ancestors("n0", 20)] == [f"n{n}" for n in range(1, 10)]


def test_a_parent_may_come_many_batches_later(weft):
    children = [Node(id=f"c{n}", parent="late") for n in range(BATCH + 5)]
    others = [Node(id=f"o{n}") for n in range(BATCH + 5)]
    report = loaded(weft, *children, *others, Node(id="late"))
    assert (report.read, report.skipped) == (2 * BATCH + 11, [])
    with weft.store.view("main", "me") as view:
        assert len(view.children("late", 1000)) == BATCH + 5


def test_a_parent_may_be_stored_already(weft):
    weft.add([Node(id="p")])
    assert loaded(weft, Node(id="c", parent="p")).skipped == []


def test_a_node_whose_parent_never_comes_is_reported_with_all_below_it(weft):
    report = loaded(weft, Node(id="a", parent="nowhere"), Node(id="b", parent="a"), Node(id="c"))
    assert (report.read, report.changed) == (1, 1)
    assert report.skipped == [
        Skipped("a", "its parent 'nowhere' does not exist"),
        Skipped("b", "its parent 'a' does not exist"),
    ]


def test_nodes_that_are_each_others_parents_are_reported(weft):
    report = loaded(weft, Node(id="a", parent="b"), Node(id="b", parent="a"), Node(id="c"))
    assert [skipped.what for skipped in report.skipped] == ["a", "b"]
    assert weft.stats()["nodes"] == 1


def test_an_edge_waits_for_its_nodes_and_is_reported_if_one_never_comes(weft):
    report = loaded(
        weft,
        Edge(source="a", target="b"),
        Edge(source="a", target="nowhere"),
        Edge(source="gone", target="b"),
        Node(id="a"),
        Node(id="b"),
    )
    assert report.edges == 1
    assert report.skipped == [
        Skipped("a → nowhere", "node 'nowhere' does not exist"),
        Skipped("gone → b", "node 'gone' does not exist"),
    ]


def test_many_edges_are_all_written(weft):
    nodes = [Node(id=f"n{n}") for n in range(30)]
    edges = [Edge(source=a.id, target=b.id) for a in nodes for b in nodes if a is not b]
    assert loaded(weft, *nodes, *edges).edges == 870
    assert weft.stats()["edges"] == 870


def test_what_a_reader_skipped_is_in_the_report(weft):
    skipped = Skipped("x.bin", "is not text")
    assert loaded(weft, skipped, Node(id="a")).skipped == [skipped]


def test_a_node_that_cannot_be_kept_is_reported_and_the_rest_is_added(weft):
    report = loaded(weft, Node(id="bad", confidence=7), Node(id="good"), Node(id="under", parent="bad"))
    assert report.read == 1
    assert [skipped.what for skipped in report.skipped] == ["bad", "under"]
    assert "must be between 0 and 1" in report.skipped[0].why


def test_a_user_that_cannot_be_added_is_reported_and_the_rest_is_added(weft):
    report = loaded(weft, Person("*"), Person("ben"), Node(id="a"))
    assert (report.users, report.read) == (1, 1)
    (skipped,) = report.skipped
    assert (skipped.what, "cannot be a user's name" in skipped.why) == ("user '*'", True)


def test_of_two_nodes_with_one_id_the_later_holds(weft):
    assert loaded(weft, Node(id="a", text="first"), Node(id="a", text="second")).skipped == []
    assert texts(weft, "a") == ["second"]


def test_progress_is_told_batch_by_batch(weft):
    counts = []
    load(weft, (Node(id=f"n{n}") for n in range(2 * BATCH + 3)), workspace="main", progress=counts.append)
    assert counts == [BATCH, BATCH, 3]


def test_what_was_written_before_a_reader_fails_is_kept(weft):
    def failing():
        yield from (Node(id=f"n{n:03}") for n in range(BATCH + 10))
        raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        load(weft, failing(), workspace="main")
    assert weft.stats()["nodes"] == BATCH


def test_an_unknown_workspace_is_refused(weft):
    with pytest.raises(NotFound, match="workspace 'nowhere' does not exist"):
        load(weft, [Node(id="a")], workspace="nowhere")


def test_text_that_is_not_utf_8_in_a_line_is_kept_with_the_bad_bytes_replaced(weft, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"id": "a", "text": "caf\xe9 menu"}\n')
    assert load(weft, read_json_lines(path), workspace="main").changed == 1
    assert texts(weft, "a") == ["caf\ufffd menu"]


def test_what_was_loaded_can_be_found_at_once(weft):
    loaded(weft, *(Node(id=f"n{n}", text=f"mirror {n}") for n in range(5)))
    assert len(weft.search("mirror")) == 5


def test_a_node_that_would_close_a_circle_keeps_no_other_out(weft):
    load(weft, [Node(id="a"), Node(id="b", parent="a")], workspace="main")
    report = load(weft, [Node(id="a", parent="b"), Node(id="c", text="sound")], workspace="main")
    assert [(skipped.what, "ancestor" in skipped.why) for skipped in report.skipped] == [("a", True)]
    assert texts(weft, "c") == ["sound"]
