"""Writing: whole batches, replacements, removals, and refusals that change nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from weftwork.errors import CycleError, InvalidInput, NotFound
from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, found, node, opened, put
from weftwork.store.protocol import Store
from weftwork.text.tokens import CharacterCounter
from weftwork.types import Edge
from weftwork.write.prepare import prepare


def _read(store: Store, *names: str) -> list[str]:
    with store.view(WORKSPACE, "ana") as view:
        return [info.text for info in view.nodes(names)]


class WritingContract:
    def test_a_node_is_rewritten_where_it_is(self, store: Store) -> None:
        put(opened(store, "ben"), node("folder", access=frozenset({"ana"})))
        put(store, node("a", "before", parent="folder", position=4, owner="ben", source="old.md"))
        with store.atomic(WORKSPACE) as batch:
            assert batch.rewrite([prepare(node("a", "after", source="new.md"), CharacterCounter())]) == 1
        with store.view(WORKSPACE, "ana") as view:
            (rewritten,) = view.nodes(["a"])
            assert (rewritten.text, rewritten.source) == ("after", "new.md")
            assert (rewritten.parent, rewritten.position, rewritten.owner, rewritten.access) == (
                "folder",
                4,
                "ben",
                None,
            )
        with pytest.raises(NotFound, match="'b' does not exist"), store.atomic(WORKSPACE) as batch:
            batch.rewrite([prepare(node("b"), CharacterCounter())])

    def test_a_batch_goes_on_after_one_within_it(self, store: Store) -> None:
        put(opened(store), node("a"))
        before = store.version(WORKSPACE)
        with store.atomic(WORKSPACE) as batch:
            put(store, node("b"))
            batch.link([Edge(source="a", target="b")])
            put(store, node("a", "after"))
        assert store.version(WORKSPACE) > before
        assert found(store, "after") == ["a"]
        with store.view(WORKSPACE, "ana") as view:
            assert [other.id for _, other in view.neighbours("a")] == ["b"]

    def test_a_node_is_read_back_as_it_was_written(self, store: Store) -> None:
        opened(store)
        written = node(
            "n", "Some text.\n\nMore of it. " * 200, tags=("a", "b"), 
            fields={"due": "2026-03-01", "n": 3, "l": ("x", "y")},
            confidence=0.5, conversation="c", created_at=NOW - timedelta(days=2), updated_at=NOW, source="a/b.md",
            owner="ana", access=frozenset({"ana", "group:team"}), position=7,
        )  # fmt: skip
        put(store, written)
        with store.view(WORKSPACE, "ana") as view:
            assert view.nodes(["n"]) == [written]

    def test_fields_and_children_are_known_to_who_writes_and_to_nobody_in_particular(self, store: Store) -> None:
        opened(store)
        put(store, node("a", fields={"n": 3, "l": ("x", "y")}, access=frozenset({"ana"})), node("b", parent="a"))
        put(store, node("c", parent="b"))
        assert store.unchecked_fields(WORKSPACE, "a") == {"n": 3, "l": ("x", "y")}
        assert store.unchecked_fields(WORKSPACE, "b") == {}
        assert store.unchecked_fields(WORKSPACE, "z") is None
        assert store.unchecked_children(WORKSPACE, "a") == {"b"}
        assert store.unchecked_children(WORKSPACE, "z") == set()
        lists = store.unchecked_access_lists(WORKSPACE, ["a", "b", "z"])
        assert lists["a"] == lists["b"] and "z" not in lists
        assert [store.unchecked_parent(WORKSPACE, name) for name in "baz"] == ["a", None, None]

    def test_files_go_with_the_nodes_that_they_belong_to(self, store: Store) -> None:
        opened(store)
        put(store, node("above"), node("a", parent="above"))
        files = store.files(WORKSPACE)
        with files.incoming("a") as incoming:
            incoming.write("x.jpg", b"x")
            with files.published("a", "1", incoming):
                pass
        named = node("a", fields={"path": files.relative("a", "1", "x.jpg")})
        assert files.path(named, "path").read_bytes() == b"x"
        with pytest.raises(KeyError), store.atomic(WORKSPACE) as batch:
            batch.remove(["above"])
            raise KeyError
        assert files.has("a", "1")
        with store.atomic(WORKSPACE), store.atomic(WORKSPACE) as batch:
            batch.remove(["above"])
            assert files.has("a", "1")
        assert not files.has("a", "1")

    def test_fields_for_programs_are_kept_but_not_searched(self, store: Store) -> None:
        opened(store)
        put(store, node("n", fields={"seen": "harbour", "path": "lighthouse", "_unseen": ("path",)}))
        assert found(store, "harbour") == ["n"]
        assert found(store, "lighthouse") == found(store, "path") == []
        with store.view(WORKSPACE, "ana") as view:
            assert view.nodes(["n"])[0].fields["path"] == "lighthouse"

    def test_writing_the_same_again_changes_nothing(self, store: Store) -> None:
        opened(store)
        put(store, node("n", "text"))
        before = store.version(WORKSPACE)
        with store.atomic(WORKSPACE) as batch:
            assert batch.put([prepare(node("n", "text"), CharacterCounter())]) == 0
        assert store.version(WORKSPACE) == before

    def test_writing_again_replaces_text_tags_and_fields(self, store: Store) -> None:
        opened(store)
        put(store, node("n", "old words", tags=("old",), fields={"k": "old"}))
        put(store, node("n", "new words", tags=("new",), fields={"k": "new"}))
        with store.view(WORKSPACE, "ana") as view:
            (read,) = view.nodes(["n"])
            assert (read.text, read.tags, read.fields) == ("new words", ("new",), {"k": "new"})
            assert view.counts()["tags"] == 1

    def test_each_batch_that_writes_raises_the_version_once(self, store: Store) -> None:
        opened(store)
        before = store.version(WORKSPACE)
        put(store, node("a"), node("b"), edges=(Edge(source="a", target="b"),))
        assert store.version(WORKSPACE) == before + 1

    def test_children_may_come_before_their_parents_in_a_call(self, store: Store) -> None:
        opened(store)
        put(store, node("leaf", parent="branch"), node("branch", parent="root"), node("root"))
        with store.view(WORKSPACE, "ana") as view:
            assert [info.id for info in view.ancestors("leaf", 5)] == ["branch", "root"]

    def test_a_batch_that_raises_leaves_no_trace(self, store: Store) -> None:
        opened(store)
        before = store.version(WORKSPACE)
        with pytest.raises(RuntimeError), store.atomic(WORKSPACE) as batch:
            batch.put([prepare(node("n", "text"), CharacterCounter())])
            raise RuntimeError
        assert _read(store, "n") == []
        assert store.version(WORKSPACE) == before

    def test_a_batch_inside_a_batch_can_fail_alone(self, store: Store) -> None:
        opened(store)
        with store.atomic(WORKSPACE) as outer:
            outer.put([prepare(node("kept", "kept"), CharacterCounter())])
            with pytest.raises(RuntimeError), store.atomic(WORKSPACE) as inner:
                inner.put([prepare(node("lost", "lost"), CharacterCounter())])
                raise RuntimeError
        assert _read(store, "kept", "lost") == ["kept"]

    def test_a_node_that_names_no_list_keeps_its_own_on_request(self, store: Store) -> None:
        put(opened(store, "ben"), node("n", "old", access=frozenset({"ana"}), owner="ana"))
        again = prepare(node("n", "new"), CharacterCounter())
        with store.atomic(WORKSPACE) as batch:
            assert batch.put([again], keep_access=True) == 1
            assert batch.put([again], keep_access=True) == 0
        with store.view(WORKSPACE, "ben") as view:
            assert view.nodes(["n"]) == []
        with store.view(WORKSPACE, "ana") as view:
            (info,) = view.nodes(["n"])
            assert (info.text, info.access, info.owner) == ("new", frozenset({"ana"}), "ana")
        with store.atomic(WORKSPACE) as batch:
            batch.put([again])
        with store.view(WORKSPACE, "ben") as view:
            assert len(view.nodes(["n"])) == 1

    def test_a_missing_parent_is_refused(self, store: Store) -> None:
        opened(store)
        with pytest.raises(InvalidInput, match="parent 'nowhere' of node 'n'"):
            put(store, node("n", parent="nowhere"))

    @pytest.mark.parametrize("weight", [float("inf"), float("nan"), 10**400])
    def test_a_weight_that_is_no_finite_number_is_refused(self, store: Store, weight: float) -> None:
        opened(store)
        put(store, node("n"))
        with pytest.raises(InvalidInput, match="give a number"), store.atomic(WORKSPACE) as batch:
            batch.link([Edge(source="n", target="n", weight=weight)])

    def test_a_circle_within_a_call_is_refused(self, store: Store) -> None:
        opened(store)
        with pytest.raises(CycleError):
            put(store, node("a", parent="b"), node("b", parent="a"))
        assert _read(store, "a", "b") == []

    def test_a_circle_through_stored_nodes_is_refused(self, store: Store) -> None:
        opened(store)
        put(store, node("a"), node("b", parent="a"), node("c", parent="b"))
        with pytest.raises(CycleError):
            put(store, node("a", parent="c"))
        with pytest.raises(CycleError), store.atomic(WORKSPACE) as batch:
            batch.move("a", "c")
        with pytest.raises(CycleError), store.atomic(WORKSPACE) as batch:
            batch.move("a", "a")
        with store.view(WORKSPACE, "ana") as view:
            assert view.ancestors("a", 5) == []

    def test_an_id_that_stands_twice_in_a_call_is_refused(self, store: Store) -> None:
        opened(store)
        with pytest.raises(InvalidInput, match="twice"):
            put(store, node("n", "one"), node("n", "two"))

    def test_removing_a_node_removes_what_is_below_it_and_its_edges(self, store: Store) -> None:
        opened(store)
        put(
            store,
            node("a", "apple"),
            node("b", "berry", parent="a"),
            node("c", "cherry"),
            edges=(Edge(source="c", target="b"),),
        )
        with store.atomic(WORKSPACE) as batch:
            assert batch.remove(["a", "unknown"]) == 2
        with store.view(WORKSPACE, "ana") as view:
            assert view.nodes(["a", "b"]) == []
            assert view.neighbours("c") == []
            assert view.counts()["passages"] == 1

    def test_a_deep_tree_can_be_removed_at_once(self, store: Store) -> None:
        opened(store)
        put(store, node("0"), *(node(str(n), parent=str(n - 1)) for n in range(1, 1500)))
        with store.atomic(WORKSPACE) as batch:
            assert batch.remove(["0"]) == 1500

    def test_an_edge_to_a_missing_node_is_refused(self, store: Store) -> None:
        opened(store)
        put(store, node("a"))
        with pytest.raises(NotFound, match="'nowhere'"), store.atomic(WORKSPACE) as batch:
            batch.link([Edge(source="a", target="nowhere")])

    def test_edges_are_counted_when_they_change_and_can_be_removed(self, store: Store) -> None:
        opened(store)
        put(store, node("a"), node("b"))
        edge = Edge(source="a", target="b", type="relation", label="knows")
        with store.atomic(WORKSPACE) as batch:
            assert batch.link([edge]) == 1
            assert batch.link([edge]) == 0
            assert batch.link([replace(edge, weight=2.0)]) == 1
            assert batch.unlink([edge, edge]) == 1

    def test_vectors_of_removed_text_are_forgotten(self, store: Store) -> None:
        opened(store)
        entry = prepare(node("a", "apple"), CharacterCounter())
        digest = entry.passages[0].digest
        put(store, node("a", "apple"))
        assert store.unchecked_vectors(WORKSPACE, EMBEDDER.model, [digest]) == {digest}
        put(store, node("a", "pear"))
        assert store.unchecked_vectors(WORKSPACE, EMBEDDER.model, [digest]) == set()

    def test_an_unknown_workspace_or_user_is_refused(self, store: Store) -> None:
        opened(store)
        with pytest.raises(NotFound, match="workspace 'other'"), store.view("other", "ana"):
            pass
        with pytest.raises(NotFound, match="user 'nobody'"), store.view(WORKSPACE, "nobody"):
            pass
        with pytest.raises(InvalidInput, match="exists already"):
            store.create_workspace(WORKSPACE, owner="ana")

    @pytest.mark.parametrize("name", ["", "*", "group:team"])
    def test_a_user_cannot_take_the_name_of_a_group(self, store: Store, name: str) -> None:
        opened(store)
        with pytest.raises(InvalidInput, match="cannot be a user's name"), store.atomic(WORKSPACE) as batch:
            batch.add_user(name)

    def test_any_text_can_be_stored(self, store: Store) -> None:
        opened(store)
        texts = ["", "\0 nul", "🧵👩‍👩‍👧", "漢字" * 3000, "x" * 100_000, "'; DROP TABLE nodes; --", "{{query}}"]
        put(store, *(node(str(number), text) for number, text in enumerate(texts)))
        assert _read(store, *map(str, range(len(texts)))) == texts

    def test_a_workspace_can_be_dropped(self, store: Store) -> None:
        opened(store)
        put(store, node("a", "apple"), edges=(Edge(source="a", target="a"),))
        store.drop_workspace(WORKSPACE)
        assert store.workspaces() == []
        opened(store)
        assert _read(store, "a") == []
        assert store.check() == []
