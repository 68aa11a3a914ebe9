"""The rules of who may change what: one decision and one wording, whichever surface asks."""

import pytest

from weftwork import Node, Weft
from weftwork.errors import NotFound, NotPermitted
from weftwork.faces.memory import Memories
from weftwork.faces.thread import FileRepository
from weftwork.server.http.authorised_writes import AuthorisedWriter
from weftwork.write.permit import Kind, own_list, permitted

KIND = Kind("page", "look again", lambda node: node.type == "page")


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "notes.weft", embedder=None, tokenizer="characters") as opened:
        opened.add_user("ben")
        opened.add(
            [
                Node(id="open", type="page"),
                Node(id="mine", type="page", owner="me"),
                Node(id="hidden", type="page", access=frozenset({"me"})),
                Node(id="remark", type="note"),
            ]
        )
        yield opened


@pytest.fixture
def bens(weft):
    with permitted(weft.store, "main", "ben", KIND) as permit:
        yield permit


def ids(nodes):
    return [node.id for node in nodes]


def test_what_is_seen_and_nobody_elses_is_changed(bens):
    assert ids(bens.changeable(["open"])) == ["open"]
    assert ids(bens.visible(["mine", "open", "remark"])) == ["mine", "open", "remark"]


@pytest.mark.parametrize("name", ["hidden", "absent", "remark"])
def test_what_is_hidden_absent_or_of_another_kind_gets_the_same_answer(bens, name):
    with pytest.raises(NotFound, match=f"^there is no page '{name}' that you may see: look again$"):
        bens.changeable(["open", name])


def test_an_administrator_changes_whatever_there_is(weft):
    with permitted(weft.store, "main", "ben", KIND, admin=True) as permit:
        assert ids(permit.changeable(["mine", "hidden"])) == ["mine"]
        with pytest.raises(NotFound):
            permit.changeable(["absent"])


def test_every_surface_refuses_what_is_anothers_in_the_same_words(weft):
    memory = Memories(weft).remember("ours", access=["*"]).id
    file = FileRepository(weft).add("a.md", "ours", access=["*"])
    writer = AuthorisedWriter(weft, "main", "ben")
    for kind, name, change in (
        ("node", "mine", lambda: writer.move("mine", None, 0)),
        ("memory", memory, lambda: Memories(weft).forget(memory, user="ben")),
        ("file", file, lambda: FileRepository(weft, "ben").delete(file)),
    ):
        with pytest.raises(NotPermitted) as caught:
            change()
        assert str(caught.value) == f"{kind} {name!r} belongs to 'me': only they, or an admin key, may change it"


def test_an_id_is_taken_from_its_own_user_or_free(weft, bens):
    assert bens.replaceable("free") is None
    for name in ("open", "mine", "hidden"):
        with pytest.raises(NotPermitted, match=f"there is a page '{name}' already that is not yours: rename yours"):
            bens.replaceable(name)
    with permitted(weft.store, "main", "me", KIND) as permit:
        assert permit.replaceable("mine").id == "mine"


def test_a_file_is_not_laid_over_what_is_hidden(weft):
    name = FileRepository(weft, "ben").add("a.md", "one")
    weft.add([Node(id=name, text="hidden", access=frozenset({"me"}))])
    with pytest.raises(NotPermitted, match="rename yours"):
        FileRepository(weft, "ben").add("a.md", "two")
    assert weft.node(name).text == "hidden"


@pytest.mark.parametrize(
    ("node", "readers"),
    [
        (Node(id="n"), None),
        (Node(id="n", parent="p", owner="me"), None),
        (Node(id="n", owner="me"), frozenset()),
        (Node(id="n", access=frozenset({"ben"})), frozenset({"ben"})),
    ],
)
def test_a_node_has_its_own_readers_or_inherits_them(node, readers):
    assert own_list(node) == readers


@pytest.mark.parametrize(("below", "left"), [(False, {"seen": "top", "secret": "top"}), (True, {"secret": "top"})])
def test_what_stays_hangs_where_the_removed_hung_and_is_seen_by_nobody_new(weft, below, left):
    weft.add([Node(id="top"), Node(id="gone", parent="top", owner="ben", access=frozenset({"me"}))])
    weft.add([Node(id="seen", parent="gone"), Node(id="secret", parent="gone", access=frozenset({"me"}))])
    weft.add_user("cleo")
    with weft.atomic() as batch, permitted(weft.store, "main", "ben", KIND) as permit:
        assert permit.remove(batch, permit.view.nodes(["gone"]), below=below) == (2 if below else 1)
    with weft.store.view("main", "me") as view:
        assert {node.id: node.parent for node in view.nodes(["gone", "seen", "secret"])} == left
    with weft.store.view("main", "cleo") as view:
        assert view.nodes(["seen", "secret"]) == []
