"""What was read before is read again as soon as it may be another, or for others."""

import random
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from weftwork import Edge, Node, Weft
from weftwork.errors import InvalidInput
from weftwork.store.sql.read_cache import CachedReads, CachedRecord, ReadCache, Written
from weftwork.types import NodeInfo, Passage, Record

NOW = datetime(2026, 3, 16, 9, 0, tzinfo=UTC)


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "a.weft", embedder=None, clock=lambda: NOW) as opened:
        opened.add(
            [
                Node(id="folder", type="folder", title="Plans"),
                Node(id="page", type="page", title="Roof", parent="folder", text="The roof is green."),
                Node(id="part", type="block", parent="page", text="It leaks in March.", position=1),
            ]
        )
        yield opened


def statements(weft, read):
    """The statements that a read runs, and what it returns."""
    ran = []
    with weft.store.view("main", "me") as view:
        view._reader.connection.set_trace_callback(ran.append)
        found = read(view)
        view._reader.connection.set_trace_callback(None)
    return ran, found


def records(view):
    return view.load([key for keys in view.passages(["page", "part"]).values() for key in keys])


def test_what_was_read_once_is_not_read_again(weft):
    first, found = statements(weft, lambda view: (records(view), view.outlines(["page"])))
    again, same = statements(weft, lambda view: (records(view), view.outlines(["page"])))
    assert same == found and len(found[0]) == 2
    assert again == [] and len(first) > 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            Node(id="folder", type="folder", title="Old plans"),
            ("Old plans", ["The roof is green.", "It leaks in March."]),
        ),
        (
            Node(id="part", type="block", parent="page", text="It holds.", position=1),
            ("Plans", ["The roof is green.", "It holds."]),
        ),
        (
            Node(id="more", type="block", parent="page", text="Ask Ana.", position=2),
            ("Plans", ["The roof is green.", "It leaks in March.", "Ask Ana."]),
        ),
    ],
)  # fmt: skip
def test_a_write_shows_in_records_and_outlines(weft, change, expected):
    def read(view):
        outline = view.outlines(["page"])["page"]
        loaded = view.load([key for node in outline.nodes for key in node.keys])
        assert outline.trail == loaded[0].trail
        return outline.trail[0], [record.passage.text for record in loaded]

    statements(weft, read)
    weft.add([change])
    assert statements(weft, read)[1] == expected


def test_a_removed_part_is_gone(weft):
    statements(weft, lambda view: (records(view), view.outlines(["page"])))
    weft.remove(["part"])
    _, (loaded, outlines) = statements(weft, lambda view: (records(view), view.outlines(["page"])))
    assert [record.node.id for record in loaded] == ["page"]
    assert [node.id for node in outlines["page"].nodes] == ["page"]


def test_what_one_viewer_read_is_not_there_for_another(weft):
    weft.add_user("ana")
    with weft.atomic() as batch:
        batch.set_access("part", frozenset({"me"}))

    def read(user):
        with weft.store.view("main", user) as view:
            keys = [key for keys in view.passages(["page", "part"]).values() for key in keys]
            whole = view.load([*keys, *everything])
            return (
                keys,
                [record.node.id for record in whole],
                [node.id for node in view.outlines(["page"])["page"].nodes],
            )

    everything: list[int] = []
    everything, mine, nodes = read("me")
    assert set(mine) == set(nodes) == {"page", "part"}
    assert read("ana")[1:] == (["page", "page"], ["page"])
    with weft.atomic() as batch:
        batch.set_access("part", frozenset({"ana", "me"}))
    assert set(read("ana")[1]) == {"page", "part"}


def test_parts_are_shown_only_while_they_are_valid(weft):
    tomorrow = NOW + timedelta(days=1)
    weft.add([Node(id="late", type="block", parent="page", text="From then on.", position=2, valid_from=tomorrow)])

    def names(as_of):
        return statements(weft, lambda view: [node.id for node in view.outlines(["page"], as_of=as_of)["page"].nodes])[
            1
        ]

    for _ in range(2):
        assert names(None) == names(tomorrow) == ["page", "part", "late"]
        assert names(NOW) == ["page", "part"]


def cached(key, text):
    passage = Passage(0, 0, len(text), text, 1, "", f"k{key}", key)
    return CachedRecord(Record(NodeInfo(id=str(key), type="block"), passage), key, False)


def test_the_scopes_together_keep_a_limit_of_bytes():
    cache = ReadCache(most_bytes=10_000)
    first, second = (cache.scope((1, 1, frozenset({acl}))) for acl in (1, 2))
    first.add_record(cached(1, "x" * 4_000))
    assert cache.scope((1, 1, frozenset({1}))) is first
    second.add_record(cached(2, "x" * 4_000))
    assert cache.scope((1, 1, frozenset({2}))) is second
    assert cache.scope((1, 1, frozenset({1}))) is not first, "the one that was not read for longest is let go"
    second.add_record(cached(3, "x" * 9_000))
    assert cache.scope((1, 1, frozenset({2}))).records == {}


def test_a_newer_version_lets_the_older_ones_of_its_workspace_go():
    cache = ReadCache()
    old, other = cache.scope((1, 1, frozenset())), cache.scope((2, 1, frozenset()))
    assert isinstance(old, CachedReads)
    newer = cache.scope((1, 2, frozenset()))
    assert cache.scope((2, 1, frozenset())) is other
    assert cache.scope((1, 1, frozenset())) is not old
    assert cache.scope((1, 2, frozenset())) is not newer, "an older copy of the store was put back in between"


def test_a_write_leaves_what_was_read_of_all_others(weft):
    weft.add([Node(id="far", type="page", title="Wall", text="The wall is red.")])

    def read(view):
        keys = [key for name in ("page", "part", "far") for key in view.passages([name])[name]]
        return view.load(keys), view.outlines(["page", "far"])

    statements(weft, read)
    weft.add([Node(id="part", type="block", parent="page", text="It is tight.", position=1)])
    weft.add([Node(id="new", type="block", parent="page", text="New words.", position=2)])
    ran, (found, outlines) = statements(weft, read)
    assert [record.passage.text for record in found] == ["The roof is green.", "It is tight.", "The wall is red."]
    assert [node.id for node in outlines["page"].nodes] == ["page", "part", "new"]
    # Of the record and the outlines, only those of the page and of its part are read again.
    asked = [statement for statement in ran if '"end"' in statement]
    assert len(asked) == 1 and "wall" not in "".join(ran).lower()
    with weft.store.view("main", "me") as view:
        assert {entry.record.node.id for entry in view._cached.records.values()} == {"page", "part", "far"}
    weft.remove(["new"])
    with weft.store.view("main", "me") as view:
        assert {entry.record.node.id for entry in view._cached.records.values()} == {"page", "part", "far"}
        assert [name for name, _ in view._cached.outlines] == ["far"]
        assert [node.id for node in view.outlines(["page"])["page"].nodes] == ["page", "part"]


@pytest.mark.parametrize(
    "write",
    [
        lambda weft: weft.add([Node(id="folder", type="folder", title="Other")]),
        lambda weft: weft.add([Node(id="page", type="page", title="House", parent="folder", text="It stands.")]),
        lambda weft: weft.add([Node(id="page", type="page", title="Roof", text="The roof is green.")]),
    ],
)
def test_what_hangs_from_something_written_is_read_again(weft, write):
    statements(weft, records)
    write(weft)
    with weft.store.view("main", "me") as view:
        assert view._cached.records == {}
    fresh = {record.node.id: record for record in statements(weft, records)[1]}
    with weft.store.view("main", "me") as view:
        assert fresh["part"].trail == tuple(node.title for node in view.ancestors("part", 9))


def test_a_citation_that_another_one_begins_like_is_read_again():
    reads = CachedReads()
    reads.add_record(cached(1, "one"))
    reads.add_record(cached(2, "two"))
    reads.add_record(CachedRecord(cached(3, "three").record, 3, shared=True))
    kept = reads.carried(Written(frozenset({9}), frozenset(), frozenset({"k2"})))
    assert list(kept.records) == [1]


def test_links_activity_and_usage_are_read_again_after_a_write_that_changes_no_node(weft):
    def read(view):
        return (
            view.edges(["page"], as_of=NOW),
            view.neighbours("page"),
            view.walk(["part"], depth=1, types=("reference",)),
            view.events("view", limit=5),
            view.usage(["page", "part"]),
        )

    first, before = statements(weft, read)
    again, same = statements(weft, read)
    assert len(first) > 5 and again == [] and same == before
    with weft.atomic() as batch:
        batch.link([Edge(source="part", target="page", type="reference")])
        batch.record("me", "part", "view", NOW)
        batch.count_use("me", ["page"])
    edges, neighbours, reached, events, usage = statements(weft, read)[1]
    assert [edge.source for edge in edges] == ["part"]
    assert [node.id for _, node in neighbours] == ["part"]
    assert [node.node for node in reached] == ["part", "page"]
    assert [event.node for event in events] == ["part"]
    assert usage["page"].used == 1


def test_links_are_followed_only_while_both_ends_are_valid(weft):
    tomorrow = NOW + timedelta(days=1)
    weft.add([Node(id="late", title="Late", valid_from=tomorrow)], [Edge(source="page", target="late")])

    def targets(as_of):
        return statements(weft, lambda view: [edge.target for edge in view.edges(["page"], as_of=as_of)])[1]

    for _ in range(2):
        assert targets(NOW) == []
        assert targets(tomorrow) == targets(None) == ["late"]
    assert targets(tomorrow - timedelta(seconds=1)) == []


def test_the_distance_in_the_tree_is_the_same_from_what_was_read_before(weft):
    def distance(view):
        return view.tree_distance("part", ["folder", "page", "part", "nowhere"])

    expected = {"folder": 2, "page": 1, "part": 0}
    assert statements(weft, distance)[1] == expected
    weft.add([Node(id="other", title="Other")])
    _, found = statements(weft, lambda view: (records(view), distance(view))[1])
    assert found == expected
    assert statements(weft, distance) == ([], expected)


@pytest.mark.parametrize("seed", range(4))
def test_after_any_writes_the_same_is_read_as_by_a_store_that_has_read_nothing(weft, tmp_path, seed):
    rng = random.Random(seed)
    weft.add_user("ana")
    names = [f"n{number}" for number in range(12)]
    lists = (None, frozenset({"me"}), frozenset({"*"}), frozenset({"ana"}))

    def write():
        name, parent = rng.choice(names), rng.choice([None, "folder", "page", *names])
        known = {node for node in names if exists(node)}
        kind = rng.choice(["put", "put", "put", "move", "access", "remove"])
        if kind == "put" or name not in known:
            above = parent if parent in known | {"folder", "page"} and parent != name else None
            text = f"Some words {rng.randrange(5)} of {name}."
            kind, title = rng.choice(["page", "block", "folder"]), rng.choice(["", "A", "B"])
            node = Node(id=name, type=kind, title=title, text=text, parent=above, position=rng.randrange(3))
            weft.add([replace(node, access=rng.choice(lists))])
        elif kind == "remove":
            weft.remove([name])
        else:
            with weft.atomic() as batch:
                if kind == "access":
                    batch.set_access(name, rng.choice(lists))
                else:
                    batch.move(name, parent if parent in known | {"folder", "page"} else None, rng.randrange(3))

    def exists(node):
        with weft.store.view("main", "me") as mine, weft.store.view("main", "ana") as hers:
            return bool(mine.nodes([node]) or hers.nodes([node]))

    def everything(opened, user):
        with opened.store.view("main", user) as view:
            every = ["folder", "page", "part", *names]
            keys = [key for of_node in view.passages(every, limit=9).values() for key in of_node]
            return view.load(keys), view.outlines(every), view.tree_distance("part", every)

    for _ in range(25):
        with suppress(InvalidInput):
            write()
        with Weft.open(tmp_path / "a.weft", embedder=None, clock=lambda: NOW) as fresh:
            for user in ("me", "ana"):
                assert everything(weft, user) == everything(fresh, user)
