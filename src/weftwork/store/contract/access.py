"""Contract of access: owners, groups, inherited and own lists, moves, and isolation of workspaces."""

from __future__ import annotations

import pytest

from weftwork.errors import NotFound
from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, found, node, opened, put
from weftwork.store.protocol import Store
from weftwork.types import Edge


def _visible(store: Store, user: str, *names: str) -> list[str]:
    with store.view(WORKSPACE, user) as view:
        return [info.id for info in view.nodes(names)]


class AccessContract:
    def test_everyone_sees_what_has_no_list(self, store: Store) -> None:
        opened(store, "ben")
        put(store, node("a", "apple"))
        assert _visible(store, "ben", "a") == ["a"]

    def test_a_list_admits_users_groups_and_the_owner_alone(self, store: Store) -> None:
        opened(store, "ben", "eve", cleo=("core",))
        put(store, node("a", access=frozenset({"ben", "group:core"}), owner="ana"))
        assert [user for user in ("ana", "ben", "cleo", "eve") if _visible(store, user, "a")] == ["ana", "ben", "cleo"]

    def test_an_empty_list_admits_only_the_owner(self, store: Store) -> None:
        opened(store, "ben")
        put(store, node("a", access=frozenset(), owner="ben"))
        assert _visible(store, "ana", "a") == []
        assert _visible(store, "ben", "a") == ["a"]

    def test_a_list_is_inherited_until_a_node_has_its_own(self, store: Store) -> None:
        opened(store, "ben")
        put(
            store,
            node("top", access=frozenset({"ana"})),
            node("middle", parent="top"),
            node("shared", parent="middle", access=frozenset({"*"})),
            node("below", parent="shared"),
        )
        assert _visible(store, "ben", "top", "middle", "shared", "below") == ["shared", "below"]

    def test_a_hidden_parent_is_not_named(self, store: Store) -> None:
        opened(store, "ben")
        put(store, node("secret", access=frozenset({"ana"})), node("open", parent="secret", access=frozenset({"*"})))
        with store.view(WORKSPACE, "ben") as view:
            (read,) = view.nodes(["open"])
            assert read.parent is None
            assert view.ancestors("open", 3) == []
            (key,) = view.passages(["open"])["open"]
            assert view.load([key])[0].trail == ()

    def test_changing_a_list_changes_the_subtree(self, store: Store) -> None:
        opened(store, "ben")
        put(store, node("top"), node("below", "pear", parent="top"))
        assert found(store, "pear", user="ben") == ["below"]
        with store.atomic(WORKSPACE) as batch:
            batch.set_access("top", frozenset({"ana"}))
        assert _visible(store, "ben", "top", "below") == []
        assert found(store, "pear", user="ben") == []
        assert found(store, "pear", user="ben", by="vector") == []
        with store.atomic(WORKSPACE) as batch:
            batch.set_access("top", None)
        assert found(store, "pear", user="ben") == ["below"]

    def test_moving_a_subtree_changes_what_it_inherits(self, store: Store) -> None:
        opened(store, "ben")
        put(store, node("private", access=frozenset({"ana"})), node("open"), node("leaf", "pear", parent="open"))
        with store.atomic(WORKSPACE) as batch:
            batch.move("leaf", "private")
        assert _visible(store, "ben", "leaf") == []
        assert found(store, "pear", user="ben") == []
        with store.atomic(WORKSPACE) as batch:
            batch.move("leaf", None)
        assert _visible(store, "ben", "leaf") == ["leaf"]

    def test_replacing_a_node_with_another_list_changes_the_subtree(self, store: Store) -> None:
        opened(store, "ben")
        put(store, node("top"), node("below", parent="top"))
        put(store, node("top", access=frozenset({"ana"})))
        assert _visible(store, "ben", "below") == []

    def test_joining_a_group_opens_what_the_group_sees(self, store: Store) -> None:
        opened(store, "ben")
        put(store, node("a", access=frozenset({"group:core"})))
        assert _visible(store, "ben", "a") == []
        with store.atomic(WORKSPACE) as batch:
            batch.add_user("ben", ["core"])
        assert _visible(store, "ben", "a") == ["a"]
        with store.atomic(WORKSPACE) as batch:
            batch.add_user("ben", [])
        assert _visible(store, "ben", "a") == []

    def test_a_user_who_is_removed_sees_nothing_and_what_they_wrote_stays(self, store: Store) -> None:
        opened(store, "ana", "ben")
        put(store, node("a", owner="ben", access=frozenset({"*"})))
        with store.atomic(WORKSPACE) as batch:
            batch.add_user("ben", ["core"])
            assert batch.remove_user("ben")
            assert not batch.remove_user("ben")
        assert "ben" not in store.users(WORKSPACE)
        assert _visible(store, "ana", "a") == ["a"]
        with pytest.raises(NotFound), store.view(WORKSPACE, "ben"):
            pass

    def test_searches_counts_and_walks_know_nothing_of_what_is_hidden(self, store: Store) -> None:
        opened(store, "ben")
        put(store, node("a", "quince jam"), node("b", "quince tart"))
        with store.view(WORKSPACE, "ben") as view:
            before = (
                view.search_words("quince tart", limit=5),
                view.search_fuzzy("quinse", limit=5),
                view.idf(["quince"]),
                view.counts(),
                view.walk(["a"], depth=3),
            )
        put(
            store,
            *(node(f"h{n}", "quince quince tart " * n, access=frozenset({"ana"})) for n in range(1, 30)),
            edges=(Edge(source="a", target="h1"), Edge(source="h1", target="b")),
        )
        with store.view(WORKSPACE, "ben") as view:
            after = (
                view.search_words("quince tart", limit=5),
                view.search_fuzzy("quinse", limit=5),
                view.idf(["quince"]),
                view.counts(),
                view.walk(["a"], depth=3),
            )
        assert after == before

    def test_similarities_and_vectors_are_of_what_can_be_seen(self, store: Store) -> None:
        opened(store, "ben")
        put(store, node("a", "quince", access=frozenset({"ana"})))
        with store.view(WORKSPACE, "ana") as view:
            keys = view.passages(["a"])["a"]
            (record,) = view.load(keys)
            vector, digest = EMBEDDER.embed("quince"), record.passage.digest
            assert list(view.similarities(vector, keys, model=EMBEDDER.model)) == keys
            assert list(view.vectors([digest], model=EMBEDDER.model)) == [digest]
        with store.view(WORKSPACE, "ben") as view:
            assert view.similarities(vector, keys, model=EMBEDDER.model) == {}
            assert view.vectors([digest], model=EMBEDDER.model) == {}
            assert view.nodes_of(keys) == []
            assert view.unknown_words(["quince"]) == ["quince"]

    def test_activity_on_what_became_hidden_is_not_shown(self, store: Store) -> None:
        opened(store, "ben")
        put(store, node("a"))
        with store.atomic(WORKSPACE) as batch:
            batch.record("ben", "a", "view", NOW)
            batch.set_access("a", frozenset({"ana"}))
        with store.view(WORKSPACE, "ben") as view:
            assert view.events("view", limit=5) == []
            assert view.usage(["a"]) == {}

    def test_what_one_workspace_holds_changes_nothing_in_another(self, store: Store) -> None:
        opened(store)
        put(store, node("a", "quince jam"), node("b", "quince tart and cream"))
        with store.view(WORKSPACE, "ana") as view:
            before = (view.search_words("quince cream", limit=5), view.idf(["quince"]), view.counts())
        store.create_workspace("other", owner="ana")
        put(store, *(node(f"n{n}", "quince quince cream") for n in range(20)), node("a", "x"), workspace="other")
        with store.view(WORKSPACE, "ana") as view:
            assert (view.search_words("quince cream", limit=5), view.idf(["quince"]), view.counts()) == before
            assert [info.text for info in view.nodes(["a", "n1"])] == ["quince jam"]
