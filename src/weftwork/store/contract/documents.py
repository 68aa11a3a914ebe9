"""Documents and their outlines, and the ids by which passages are cited."""

from __future__ import annotations

from datetime import timedelta

import pytest

from weftwork.identity import CITATION
from weftwork.store.contract.kit import NOW, WORKSPACE, node, opened, put
from weftwork.store.protocol import Store
from weftwork.types import Node


def _vault() -> list[Node]:
    """A folder with two pages; the first has sections, a list and a page inside of it."""
    return [
        node("folder", type="folder"),
        node("a", "Begin of a.", parent="folder"),
        node("a2", "Second section.", type="heading", parent="a", position=2),
        node("a1", "First section.", type="heading", parent="a", position=1),
        node("a1y", "Item y", type="list_item", parent="a1", position=1),
        node("a1x", "Item x", type="list_item", parent="a1", position=0),
        node("inner", "A page inside.", parent="a1", position=2),
        node("inner1", "Part of it.", type="heading", parent="inner"),
        node("b", "Begin of b.", parent="folder"),
    ]


def outline(store: Store, document: str, user: str = "ana", **more: object) -> list[tuple[str, int]]:
    """The nodes of a document with their depths."""
    with store.view(WORKSPACE, user) as view:
        return [(outlined.id, outlined.depth) for outlined in view.outlines([document], **more)[document].nodes]  # type: ignore[arg-type]


def documents(store: Store, *wanted: str, user: str = "ana") -> list[str]:
    """The document that each of these nodes is a part of."""
    with store.view(WORKSPACE, user) as view:
        keys = view.passages(wanted)
        return [record.document for record in view.load([keys[name][0] for name in wanted])]


WHOLE = [("a", 0), ("a1", 1), ("a1x", 2), ("a1y", 2), ("a2", 1)]


class DocumentsContract:
    def test_a_node_knows_its_document(self, store: Store) -> None:
        put(opened(store), *_vault(), node("lone", type="heading"), node("loose", type="list_item", parent="folder"))
        assert documents(store, "a", "a1", "a1y", "inner", "inner1", "b") == ["a", "a", "a", "inner", "inner", "b"]
        # Without anything that people open above it, a node is its own; a folder is none.
        assert documents(store, "lone", "loose", "folder") == ["lone", "loose", "folder"]

    def test_an_outline_has_the_nodes_in_reading_order(self, store: Store) -> None:
        put(opened(store), *_vault())
        assert outline(store, "a") == WHOLE
        assert outline(store, "inner") == [("inner", 0), ("inner1", 1)]
        assert outline(store, "folder") == [("folder", 0)]
        assert outline(store, "a1") == [("a1", 0)]
        with store.view(WORKSPACE, "ana") as view:
            outlines = view.outlines(["a", "b", "nowhere"])
            assert sorted(outlines) == ["a", "b"]
            assert (outlines["a"].head.title, outlines["a"].trail) == ("a", ("folder",))

    def test_an_outline_tells_the_passages_and_what_they_cost(self, store: Store) -> None:
        long = "\n\n".join(f"Paragraph {number}. " + "Some words that fill it. " * 60 for number in range(4))
        put(opened(store), node("a", long), node("a1", "short", type="heading", parent="a"))
        with store.view(WORKSPACE, "ana") as view:
            first, second = view.outlines(["a"])["a"].nodes
            assert list(first.keys) == view.passages(["a"], limit=99)["a"] and len(first.keys) > 2
            records = view.load([*first.keys, *second.keys])
            assert [record.passage.tokens for record in records] == [*first.tokens, *second.tokens]

    @pytest.mark.parametrize("way", ["move", "put", "rewrite"])
    def test_moves_and_changes_of_type_carry_everything_below_with_them(self, store: Store, way: str) -> None:
        put(opened(store), *_vault())
        if way == "move":
            with store.atomic(WORKSPACE) as batch:
                batch.move("a1", "b", 0)
            assert documents(store, "a1", "a1x", "a1y", "inner", "inner1") == ["b", "b", "b", "inner", "inner"]
            assert outline(store, "a") == [("a", 0), ("a2", 1)]
            assert outline(store, "b") == [("b", 0), ("a1", 1), ("a1x", 2), ("a1y", 2)]
        elif way == "put":
            put(store, node("inner", "A page inside.", type="heading", parent="a1", position=2))
            assert outline(store, "a") == [*WHOLE[:4], ("inner", 2), ("inner1", 3), ("a2", 1)]
        else:
            put(store, node("a1", "First section.", type="page", parent="a", position=1))
            assert outline(store, "a") == [("a", 0), ("a2", 1)]
            assert outline(store, "a1") == [("a1", 0), ("a1x", 1), ("a1y", 1)]

    def test_what_is_removed_or_inserted_is_gone_or_there_at_once(self, store: Store) -> None:
        put(opened(store), *_vault())
        with store.atomic(WORKSPACE) as batch:
            batch.remove(["a1x"])
        put(store, node("new", type="paragraph", parent="a", position=0))
        assert outline(store, "a") == [("a", 0), ("new", 1), ("a1", 1), ("a1y", 2), ("a2", 1)]

    def test_an_outline_has_only_what_the_viewer_may_see(self, store: Store) -> None:
        put(opened(store, "ben"), *_vault())
        with store.atomic(WORKSPACE) as batch:
            batch.set_access("a1", frozenset({"ana"}))
            batch.set_access("a1y", frozenset({"ana", "ben"}))
        assert outline(store, "a", "ben") == [("a", 0), ("a1y", 1), ("a2", 1)]
        assert outline(store, "a") == WHOLE

    def test_of_a_document_that_is_hidden_each_part_stands_for_itself(self, store: Store) -> None:
        put(opened(store, "ben"), *_vault())
        with store.atomic(WORKSPACE) as batch:
            batch.set_access("a", frozenset({"ana"}))
            batch.set_access("a2", frozenset({"ana", "ben"}))
        assert documents(store, "a2", user="ben") == ["a2"]
        with store.view(WORKSPACE, "ben") as view:
            assert view.outlines(["a"]) == {}

    def test_an_outline_leaves_out_what_does_not_hold(self, store: Store) -> None:
        put(opened(store), node("a"), node("old", type="heading", parent="a", valid_until=NOW))
        assert outline(store, "a", as_of=NOW) == [("a", 0)]
        assert outline(store, "a", as_of=NOW - timedelta(days=1)) == [("a", 0), ("old", 1)]
        assert outline(store, "a") == [("a", 0), ("old", 1)]

    def test_a_document_that_is_too_large_stands_alone_and_others_do_not(self, store: Store) -> None:
        put(opened(store), *_vault())
        assert outline(store, "a", most=4) == [("a", 0)]
        assert outline(store, "a", most=5) == WHOLE
        with store.view(WORKSPACE, "ana") as view:
            assert [len(whole.nodes) for whole in view.outlines(["a", "inner"], most=4).values()] == [1, 2]

    def test_citation_ids_are_short_stable_and_lead_back(self, store: Store) -> None:
        put(opened(store), *_vault())
        with store.view(WORKSPACE, "ana") as view:
            records = view.load([keys[0] for keys in view.passages([info.id for info in _vault()]).values()])
            ids = [record.passage.citation for record in records]
            assert all(len(citation) == 7 and CITATION.fullmatch(citation) for citation in ids)
            assert len(set(ids)) == len(ids)
            assert [record.node.id for record in view.cited(ids)] == [record.node.id for record in records]
            assert view.cited(["nonsense", "a%", ids[0][:3]]) == []

    def test_a_citation_id_that_two_visible_passages_share_is_longer(self, store: Store) -> None:
        # Found by trying: the first seven characters of their ids are the same.
        first, second = node("n2836", "x"), node("n2884", "x")
        put(opened(store, "ben"), first, second)
        with store.view(WORKSPACE, "ana") as view:
            keys = view.passages([first.id, second.id])
            ids = [record.passage.citation for record in view.load([keys[info.id][0] for info in (first, second)])]
            assert ids[0][:7] == ids[1][:7] and [len(citation) for citation in ids] == [10, 10]
            assert [[record.node.id for record in view.cited([citation])] for citation in ids] == [
                [first.id],
                [second.id],
            ]
            assert len(view.cited([ids[0][:7]])) == 2
        with store.atomic(WORKSPACE) as batch:
            batch.set_access(second.id, frozenset({"ana"}))
        with store.view(WORKSPACE, "ben") as view:
            (record,) = view.load(view.passages([first.id])[first.id])
            assert len(record.passage.citation) == 7
            assert [record.node.id for record in view.cited([record.passage.citation])] == [first.id]
