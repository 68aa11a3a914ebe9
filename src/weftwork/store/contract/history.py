"""Activity, use, feedback, changes, counts, snapshots."""

from __future__ import annotations

from datetime import timedelta

from weftwork.history import Change, Usage, Vote
from weftwork.store.contract.kit import NOW, WORKSPACE, node, opened, put
from weftwork.store.protocol import Store
from weftwork.types import (
    Edge,
    Filters,
)


class HistoryContract:
    def test_own_events_come_newest_first_each_node_once(self, store: Store) -> None:
        put(opened(store, "ben"), node("a"), node("b"))
        with store.atomic(WORKSPACE) as batch:
            batch.record("ana", "a", "edit", NOW - timedelta(hours=3))
            batch.record("ana", "b", "edit", NOW - timedelta(hours=2))
            batch.record("ana", "a", "edit", NOW - timedelta(hours=1))
            batch.record("ben", "b", "edit", NOW)
            batch.record("ana", "b", "view", NOW)
        with store.view(WORKSPACE, "ana") as view:
            events = view.events("edit", limit=5)
            assert [(event.node, event.at) for event in events] == [
                ("a", NOW - timedelta(hours=1)),
                ("b", NOW - timedelta(hours=2)),
            ]
            assert [event.node for event in view.events("edit", limit=5, since=NOW - timedelta(hours=1.5))] == ["a"]
            assert [event.node for event in view.events("edit", limit=1)] == ["a"]

    def test_a_user_counts_once_in_feedback_and_may_change_their_mind(self, store: Store) -> None:
        put(opened(store, "ben"), node("a"), node("b"))
        with store.atomic(WORKSPACE) as batch:
            batch.give_feedback("ana", "a", True, NOW)
            batch.give_feedback("ana", "a", False, NOW)
            batch.give_feedback("ben", "a", False, NOW)
            batch.count_use("ana", ["a", "b"])
            batch.count_use("ana", ["a"])
        with store.view(WORKSPACE, "ana") as view:
            assert view.usage(["a", "b", "c"]) == {"a": Usage(2), "b": Usage(1)}
            assert view.votes(5) == [Vote("a", False)]

    def test_feedback_is_kept_for_each_question_and_read_by_nobody_else(self, store: Store) -> None:
        put(opened(store, "ben"), node("a"), node("b"), node("hidden", access=frozenset({"ben"})))
        with store.atomic(WORKSPACE) as batch:
            for user, name, useful, query in (
                ("ana", "a", True, "Which jam?"),
                ("ana", "a", False, "Which pot?"),
                ("ana", "b", True, "Which jam?"),
                ("ana", "b", False, "Which jam?"),
                ("ana", "hidden", True, "Which jam?"),
                ("ben", "a", False, "Which jam?"),
            ):
                batch.give_feedback(user, name, useful, NOW, query)
            batch.give_feedback("ana", "a", True, NOW + timedelta(hours=1))
        with store.view(WORKSPACE, "ana") as view:
            latest, *others = view.votes(9)
            assert latest == Vote("a", True)
            assert others == [
                Vote("a", True, "Which jam?"),
                Vote("a", False, "Which pot?"),
                Vote("b", False, "Which jam?"),
            ]
            assert view.votes(1) == [latest]

    def test_all_of_ones_own_uses_count_and_a_few_of_each_other_users(self, store: Store) -> None:
        put(opened(store, "ben", "cleo"), node("a"))
        with store.atomic(WORKSPACE) as batch:
            for user, times in (("ana", 7), ("ben", 5), ("cleo", 1)):
                for _ in range(times):
                    batch.count_use(user, ["a"])
        counted = {}
        for user in ("ana", "ben", "cleo"):
            with store.view(WORKSPACE, user) as view:
                counted[user] = view.usage(["a"])["a"].used
        assert counted == {"ana": 7 + 3 + 1, "ben": 3 + 5 + 1, "cleo": 3 + 3 + 1}

    def test_changes_since_a_version_name_what_was_written_and_removed(self, store: Store) -> None:
        put(opened(store), node("a", "1"), node("b"))
        since = store.version(WORKSPACE)
        put(store, node("a", "2"))
        with store.atomic(WORKSPACE) as batch:
            batch.remove(["b"])
        with store.view(WORKSPACE, "ana") as view:
            assert view.changes(since) == [Change("a", since + 1, False), Change("b", since + 2, True)]
            assert view.changes(since + 2) == []

    def test_changes_to_what_is_hidden_are_not_named(self, store: Store) -> None:
        put(opened(store, "ben"), node("a", access=frozenset({"ana"})), node("b"))
        with store.atomic(WORKSPACE) as batch:
            batch.remove(["a"])
        with store.view(WORKSPACE, "ben") as view:
            assert [change.node for change in view.changes(0)] == ["b"]

    def test_counts_are_of_what_can_be_seen(self, store: Store) -> None:
        put(
            opened(store, "ben"),
            node("a", tags=("x",)),
            node("b", type="todo"),
            node("c", tags=("y",), access=frozenset({"ana"})),
            edges=(Edge(source="a", target="b"), Edge(source="a", target="c")),
        )
        with store.view(WORKSPACE, "ben") as view:
            assert view.counts() == {
                "nodes": 2, "passages": 2, "edges": 1, "tags": 1, "nodes.page": 1, "nodes.todo": 1,
            }  # fmt: skip

    def test_nodes_can_be_selected_by_filters(self, store: Store) -> None:
        put(
            opened(store),
            node("a", type="todo", updated_at=NOW - timedelta(days=1)),
            node("b", type="todo", updated_at=NOW),
            node("c"),
        )
        with store.view(WORKSPACE, "ana") as view:
            todos = Filters(types=frozenset({"todo"}))
            assert [info.id for info in view.select(todos, limit=5)] == ["b", "a"]
            assert [info.id for info in view.select(todos, limit=5, sort="title")] == ["a", "b"]

    def test_titles_and_sources_are_found_whatever_their_case(self, store: Store) -> None:
        put(opened(store), node("a", title="Mirror Cell"), node("b", title="x", source="docs/Plan.md"))
        with store.view(WORKSPACE, "ana") as view:
            assert view.find("mirror cell") == ["a"]
            assert view.find("docs/plan.md") == ["b"]
            assert view.find("") == []

    def test_aliases_and_ids_of_exports_are_found_by_who_may_see_their_node(self, store: Store) -> None:
        put(
            opened(store, "ben"),
            node("a", fields={"aliases": ("C++", "Mirror Cell"), "other": "Plan"}),
            node("b", fields={"_ids": ("64f1c0de-7a1b", "64f1c0de-7a1c")}, access=frozenset({"ana"})),
        )
        with store.view(WORKSPACE, "ana") as view:
            assert view.find("mirror cell") == view.find("c++") == ["a"]
            assert view.find("64F1C0DE-7A1C") == ["b"]
            assert view.find("C") == view.find("plan") == []
        with store.view(WORKSPACE, "ben") as view:
            assert view.find("64f1c0de-7a1c") == []

    def test_a_citation_leads_back_to_its_passage(self, store: Store) -> None:
        put(opened(store, "ben"), node("a", "apple", access=frozenset({"ana"})))
        with store.view(WORKSPACE, "ana") as view:
            (record,) = view.load(view.passages(["a"])["a"])
            assert view.cited([record.passage.citation, "k000000"]) == [record]
        with store.view(WORKSPACE, "ben") as view:
            assert view.cited([record.passage.citation]) == []

    def test_a_view_keeps_its_snapshot_while_others_write(self, store: Store) -> None:
        put(opened(store), node("a", "before"))
        with store.view(WORKSPACE, "ana") as view:
            assert [info.text for info in view.nodes(["a"])] == ["before"]
            put(store, node("a", "after"), node("b", "before"))
            assert [info.text for info in view.nodes(["a", "b"])] == ["before"]
            hits = view.search_words("before after", limit=5)
            assert [record.node.id for record in view.load([hit.key for hit in hits])] in (["a"], [])

    def test_fingerprints_differ_after_each_write_and_between_users(self, store: Store) -> None:
        opened(store, "ben")
        seen = set()
        for number in range(3):
            put(store, node(f"n{number}"))
            for user in ("ana", "ben"):
                with store.view(WORKSPACE, user) as view, store.view(WORKSPACE, user) as again:
                    assert view.fingerprint == again.fingerprint
                    seen.add(view.fingerprint)
        assert len(seen) == 6
