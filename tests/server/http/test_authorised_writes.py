"""What a key may write: as its user, to what they see and nobody else owns."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weftwork import Edge, Node
from weftwork.errors import NotFound, NotPermitted, WeftError
from weftwork.server.http.authorised_writes import AuthorisedWriter
from weftwork.server.http.options import Limits
from weftwork.server.http.problems import problem_of
from weftwork.write.permit import namespace

from .serving import calling, key_for, open_studio

STUDIO = "/v1/workspaces/studio"


@pytest.fixture
def ben(weft):
    weft.add(
        [
            Node(id="anas", type="page", title="Ana's", text="Ana wrote this.", owner="ana", access=frozenset({"*"})),
            Node(id="listed", text="A list, no owner.", access=frozenset({"ana", "ben"})),
            Node(id="under", parent="private", text="Ben's below what he cannot see.", owner="ben", position=3),
            Node(id="tree", text="Top"),
            Node(id="tree/seen", parent="tree", text="Seen"),
            Node(id="tree/hidden", parent="tree", text="Hidden", access=frozenset({"ana"}), position=7),
            Node(id="tree/hidden/below", parent="tree/hidden", text="Hidden as well"),
        ],
        workspace="studio",
    )
    return AuthorisedWriter(weft, "studio", "ben")


def seen(weft, name, user="ana"):
    return weft.node(name, user=user, workspace="studio")


def refused(status, call, *arguments, **more):
    with pytest.raises({403: NotPermitted, 404: NotFound}[status]) as caught:
        call(*arguments, **more)
    assert problem_of(caught.value).status == status


def test_what_nobody_owns_is_changed_by_whoever_sees_it(weft, ben):
    ben.add([Node(id="plan", type="page", title="Plan", text="In April.")])
    node = seen(weft, "plan")
    assert (node.text, node.owner, node.access) == ("In April.", None, None)


def test_what_another_owns_is_not_changed_moved_removed_linked_or_opened(weft, ben):
    before = seen(weft, "anas")
    refused(403, ben.add, [Node(id="anas", text="No.")])
    refused(403, ben.add, [Node(id="anas", text="No.")], in_place=True)
    refused(403, ben.move, "anas", "plan", 0)
    refused(403, ben.remove, ["anas"])
    refused(403, ben.link, [Edge(source="anas", target="plan")])
    refused(403, ben.set_access, "anas", frozenset({"ben"}))
    assert seen(weft, "anas") == before


def test_what_another_owns_may_be_referred_to_and_added_to(weft, ben):
    ben.add([Node(id="ben/reply", parent="anas", text="I agree.")], [Edge(source="ben/reply", target="anas")])
    assert seen(weft, "ben/reply").parent == "anas"


def test_what_was_written_is_told_and_found(weft, ben):
    added = ben.add([Node(id="ben/a", text="A heliostat."), Node(id="plan", text="No more.")])
    assert (added.nodes, added.embedded) == (2, 2)
    swapped = ben.add([Node(id="plan", text="A heliostat."), Node(id="ben/a", text="No more."), Node(id="ben/b")])
    assert swapped.nodes == 3
    found = weft.search("A heliostat.", user="ben", workspace="studio", mode="vector")
    assert found[0].node.id == "plan"
    assert ben.add([Node(id="ben/b")]).nodes == 0


def test_new_nodes_belong_to_their_writer_under_ids_that_nobody_else_can_take(weft, ben):
    ben.add([Node(id="ben/note", text="Mine.")])
    assert seen(weft, "ben/note").owner == "ben"
    refused(404, ben.add, [Node(id="note", text="Whose?")])
    refused(404, ben.add, [Node(id="ana/note", text="Hers?")])
    refused(403, ben.add, [Node(id="ben/other", text="Hers?", owner="ana")])


def test_an_id_that_is_hidden_and_one_that_is_free_get_the_same_words(weft, ben):
    said = []
    for name in ("private", "nothing"):
        with pytest.raises(NotFound) as caught:
            ben.add([Node(id=name, text="?")])
        said.append(str(caught.value).replace(name, "…"))
    assert said[0] == said[1]
    assert seen(weft, "private").text == "Ana earns a secret sum."


def test_no_name_of_a_user_is_the_beginning_of_another_ones_ids():
    assert not namespace("a/b").startswith(namespace("a"))
    assert not namespace("a").startswith(namespace("a/b"))
    assert not namespace("a%2Fb").startswith(namespace("a/b")[:-1])


def test_a_refused_node_keeps_the_whole_call_out(weft, ben):
    refused(404, ben.add, [Node(id="ben/one", text="1"), Node(id="plan", text="2"), Node(id="free", text="3")])
    assert seen(weft, "plan").text == "The mirror cell ships in March."
    with pytest.raises(NotFound):
        seen(weft, "ben/one")


def test_who_may_see_what_nobody_owns_is_not_for_a_writer_to_say(weft, ben):
    refused(403, ben.set_access, "plan", frozenset({"ben"}))
    refused(403, ben.add, [Node(id="plan", text="Closed.", access=frozenset({"ben"}))])
    refused(403, ben.add, [Node(id="plan", text="Taken.", owner="ben")])
    refused(403, ben.add, [Node(id="listed", text="Opened to all.")])
    ben.add([Node(id="listed", text="Only the text.")], keep_access=True)
    assert (seen(weft, "listed").text, seen(weft, "listed").access) == ("Only the text.", frozenset({"ana", "ben"}))


def test_an_owner_says_who_may_see_it_and_stays_among_them(weft, ben):
    ben.add([Node(id="ben/note", text="Mine.", access=frozenset({"ana"}))])
    ben.set_access("ben/note", frozenset())
    assert seen(weft, "ben/note", "ben").access == frozenset()
    with pytest.raises(NotFound):
        seen(weft, "ben/note", "ana")
    ben.add([Node(id="ben/note", text="Still mine.")])
    assert seen(weft, "ben/note", "ana").owner == "ben"


def test_a_node_below_a_hidden_one_stays_there_when_its_text_changes(weft, ben):
    mine = seen(weft, "under", "ben")
    assert mine.parent is None
    ben.add([Node(id="under", text="New text.", owner="ben", position=3)])
    assert (seen(weft, "under").parent, seen(weft, "under").text) == ("private", "New text.")


def test_removing_leaves_what_is_hidden_one_level_higher_and_does_not_count_it(weft, ben):
    assert ben.remove(["tree", "private", "nothing"]) == 2
    hidden = seen(weft, "tree/hidden")
    assert (hidden.parent, hidden.access) == (None, frozenset({"ana"}))
    assert seen(weft, "tree/hidden/below").parent == "tree/hidden"
    assert seen(weft, "private").text == "Ana earns a secret sum."
    with pytest.raises(NotFound):
        seen(weft, "tree/hidden", "ben")


@pytest.mark.parametrize("order", [["tree/seen", "tree"], ["tree", "tree/seen"], ["tree"]])
def test_what_is_hidden_stays_in_whichever_order_the_nodes_above_it_go(weft, ben, order):
    deep = Node(id="deep", parent="tree/seen", text="Deep.", access=frozenset({"ana"}))
    weft.add([deep, Node(id="top")], workspace="studio")
    with weft.atomic("studio") as batch:
        batch.move("tree", "top")
    assert ben.remove(order) == 2
    assert (seen(weft, "deep").parent, seen(weft, "tree/hidden").parent) == ("top", "top")


def test_removing_what_has_anothers_below_it_is_refused_and_changes_nothing(weft, ben):
    weft.add([Node(id="deep", parent="tree/seen", owner="ana", text="Ana's.")], workspace="studio")
    refused(403, ben.remove, ["tree"])
    assert seen(weft, "tree/hidden").parent == "tree"


def test_an_admin_writes_whatever_there_is(weft, ben):
    admin = AuthorisedWriter(weft, "studio", "ben", admin=True)
    admin.add([Node(id="anywhere", text="x"), Node(id="private", text="y")], [Edge(source="anas", target="private")])
    admin.move("anas", "private", 1)
    admin.set_access("anas", frozenset({"ana"}))
    assert seen(weft, "anas").parent == "private"
    assert admin.remove(["private"]) == 3


NAMES = st.sampled_from(
    ["plan", "private", "anas", "listed", "under", "tree", "tree/seen", "tree/hidden", "ben/x", "new"]
)
LISTS = st.none() | st.frozensets(st.sampled_from(["ana", "ben", "*"]), max_size=2)
WRITES = st.one_of(
    st.tuples(
        st.just("add"),
        st.builds(
            Node,
            id=NAMES,
            text=st.sampled_from(["one", "two"]),
            parent=st.none() | NAMES,
            owner=st.sampled_from([None, "ana", "ben"]),
            access=LISTS,
        ),
        st.booleans(),
        st.booleans(),
    ),
    st.tuples(st.just("remove"), NAMES),
    st.tuples(st.just("move"), NAMES, st.none() | NAMES),
    st.tuples(st.just("access"), NAMES, LISTS),
    st.tuples(st.just("link"), NAMES, NAMES),
    st.tuples(st.just("unlink"), NAMES, NAMES),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes=st.lists(WRITES, min_size=1, max_size=6))
def test_whatever_is_written_what_is_hidden_or_owned_by_others_stays_as_it_was(weft, ben, writes):
    for write in writes:
        names = ("private", "tree/hidden", "tree/hidden/below", "anas")
        with weft.store.view("studio", "ana") as view:
            before = {node.id: (node.text, node.owner, node.access) for node in view.nodes(names)}
            edges = {edge for edge, _ in view.neighbours("private", limit=10)}
        try:
            match write:
                case "add", node, in_place, keep:
                    ben.add([node], in_place=in_place, keep_access=keep)
                case "remove", name:
                    ben.remove([name])
                case "move", name, parent:
                    ben.move(name, parent, 0)
                case "access", name, access:
                    ben.set_access(name, access)
                case "link", one, two:
                    ben.link([Edge(source=one, target=two)])
                case "unlink", one, two:
                    ben.unlink([Edge(source=one, target=two)])
        except WeftError:
            pass
        with weft.store.view("studio", "ana") as view:
            assert {node.id: (node.text, node.owner, node.access) for node in view.nodes(names)} == before
            assert {edge for edge, _ in view.neighbours("private", limit=10)} == edges


def test_over_http_ids_are_made_for_nodes_without_one(weft):
    key = key_for(weft, user="ben", scope="write")
    with calling(weft, limits=Limits(requests_per_minute=0)) as client:
        sent = client.post(f"{STUDIO}/nodes", headers=key, json={"nodes": [{"text": "a"}, {"text": "a"}]}).json()
        assert len(set(sent["ids"])) == 2
        assert all(name.startswith("ben/") for name in sent["ids"])
        taken = client.post(f"{STUDIO}/nodes", headers=key, json={"nodes": [{"id": "private"}]})
        free = client.post(f"{STUDIO}/nodes", headers=key, json={"nodes": [{"id": "nothing"}]})
        assert (taken.status_code, taken.text.replace("private", "nothing")) == (404, free.text)


def test_two_users_write_at_the_same_time_without_losing_anything(tmp_path):
    with open_studio(tmp_path / "many.weft") as weft:
        writers = [AuthorisedWriter(weft, "studio", user) for user in ("ana", "ben")]

        def add(number):
            writer = writers[number % 2]
            return writer.add([Node(id=f"{writer.user}/{number}", text=f"note {number}")]).nodes

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(add, range(40))) == 40


def test_no_page_is_given_the_picture_of_another_that_may_be_hidden(weft, ben):
    files = weft.store.files("studio")
    with files.incoming("doc") as incoming:
        for number in (1, 2):
            incoming.write(f"page-000{number}.jpg", b"\xff\xd8\xff" + bytes([number]))
        with files.published("doc", "v1", incoming):
            named = [files.relative("doc", "v1", f"page-000{number}.jpg") for number in (1, 2)]
            first = Node(id="doc#1", type="document_page", parent="doc", text="One", fields={"image_path": named[0]})
            hidden = replace(first, id="doc#2", fields={"image_path": named[1]}, access=frozenset({"ana"}))
            weft.add([Node(id="doc", type="document"), first, hidden], workspace="studio")
    forged = replace(first, fields={"image_path": named[1]})
    refused(403, ben.add, [replace(forged, id="ben/x")])
    refused(403, ben.add, [forged])
    refused(403, ben.add, [forged], in_place=True)
    refused(403, ben.add, [replace(first, id="ben/x", fields={"thumbnail_path": named[1]})])
    ben.add([replace(first, text="One, revised")])
    assert seen(weft, "doc#1", "ben").fields["image_path"] == named[0]
    assert (
        AuthorisedWriter(weft, "studio", "ben", admin=True).add([replace(forged, text="By an administrator")]).nodes
        == 1
    )
