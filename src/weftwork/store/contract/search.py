"""Search by words, by resemblance and by vector, each with its filters inside the query."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from weftwork.errors import DimensionError
from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, found, node, opened, put
from weftwork.store.protocol import Store
from weftwork.types import Filters


class SearchContract:
    def test_any_word_may_match_and_more_words_rank_higher(self, store: Store) -> None:
        put(opened(store), node("one", "quince"), node("two", "quince tart"), node("none", "bread"))
        assert found(store, "quince tart recipe") == ["two", "one"]

    def test_words_match_by_their_stem(self, store: Store) -> None:
        put(opened(store), node("n", "They were launching rockets."))
        assert found(store, "rocket launches") == ["n"]

    def test_words_match_by_their_stem_in_the_language_of_the_passage(self, store: Store) -> None:
        german = node("german", "Wir haben über die Krankheit der Bäume mit dem Gärtner gesprochen.")
        english = node("english", "We have talked with the gardener about the disease of the trees.")
        put(opened(store), german, english)
        for query in ("Krankheiten", "wer sprach über Krankheiten?", '"die Krankheiten"', "krank*"):
            assert found(store, query) == ["german"], query
        with store.view(WORKSPACE, "ana") as view:
            assert view.unknown_words(["Krankheiten", "tree", "quince"]) == ["quince"]

    def test_rare_words_weigh_more_than_common_ones(self, store: Store) -> None:
        common = [node(f"c{n}", "meeting notes") for n in range(8)]
        put(opened(store), *common, node("rare", "zeppelin notes"))
        assert found(store, "meeting zeppelin")[0] == "rare"

    def test_titles_tags_and_fields_are_searched_too(self, store: Store) -> None:
        put(
            opened(store),
            node("by-title", "text", title="Marmalade"),
            node("by-tag", "text", tags=("marmalade",)),
            node("by-field", "text", fields={"flavour": "marmalade"}),
            node("not", "text"),
        )
        assert set(found(store, "marmalade")) == {"by-title", "by-tag", "by-field"}

    def test_a_quoted_phrase_is_required(self, store: Store) -> None:
        put(opened(store), node("yes", "the red wine glass"), node("no", "wine that is red"))
        assert found(store, '"red wine"') == ["yes"]

    def test_a_prefix_matches_what_begins_with_it(self, store: Store) -> None:
        put(opened(store), node("yes", "telescope"), node("no", "microscope"))
        assert found(store, "teles*") == ["yes"]

    @pytest.mark.parametrize("query", ["", "   ", '"', "AND OR (", "title:x^2 ~", "\0", "*", "🧵", "a" * 5000])
    def test_any_query_is_answered(self, store: Store, query: str) -> None:
        put(opened(store), node("n", "text"))
        found(store, query)
        found(store, query, by="fuzzy")

    @pytest.mark.parametrize(
        ("query", "expected"),
        [("telescpoe mirorr", "title"), ("observatory/budgte.xlsx", "path"), ("collimaton", "word")],
    )
    def test_typos_in_titles_paths_and_words_are_forgiven(self, store: Store, query: str, expected: str) -> None:
        put(
            opened(store),
            node("title", "nothing", title="Telescope mirror"),
            node("path", "nothing", title="x", source="observatory/budget.xlsx"),
            node("word", "We checked the collimation twice.", title="y"),
            node("other", "something else", title="Bread"),
        )
        assert found(store, query, by="fuzzy")[0] == expected

    def test_the_nearest_vectors_are_found(self, store: Store) -> None:
        put(opened(store), node("near", "violin concerto"), node("far", "bread and butter"))
        assert found(store, "violin concerto", by="vector")[0] == "near"
        assert found(store, "violin concerto", by="vector", threshold=0.6) == ["near"]

    def test_a_vector_of_another_length_is_refused(self, store: Store) -> None:
        put(opened(store), node("n", "text"))
        with store.view(WORKSPACE, "ana") as view:
            assert len(view.search_vector(EMBEDDER.embed("text"), model=EMBEDDER.model, limit=1)) == 1
            with pytest.raises(DimensionError):
                view.search_vector(EMBEDDER.embed("text")[:10], model=EMBEDDER.model, limit=1)

    def test_similarities_agree_with_the_search(self, store: Store) -> None:
        put(opened(store), node("a", "violin"), node("b", "violin drum"))
        with store.view(WORKSPACE, "ana") as view:
            vector = EMBEDDER.embed("violin")
            hits = view.search_vector(vector, model=EMBEDDER.model, limit=5)
            expected = {hit.key: hit.score for hit in hits}
            assert view.similarities(vector, list(expected), model=EMBEDDER.model) == expected

    @pytest.mark.parametrize("by", ["words", "fuzzy", "vector"])
    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({"types": frozenset({"todo", "memory"})}, {"task", "note"}),
            ({"tags": frozenset({"x", "y"})}, {"task"}),
            ({"after": NOW - timedelta(days=1)}, {"task"}),
            ({"before": NOW - timedelta(days=1)}, {"note", "page"}),
            ({"min_confidence": 0.6}, {"note"}),
            ({"conversation": "c1"}, {"note"}),
            ({"exclude": frozenset({"task", "page"})}, {"note"}),
            ({"exclude_types": frozenset({"todo", "page"})}, {"note"}),
            ({}, {"task", "note", "page"}),
        ],
    )
    def test_filters_hold_in_every_search(
        self, store: Store, by: str, filters: dict[str, Any], expected: set[str]
    ) -> None:
        put(
            opened(store),
            node("task", "quince", title="quince", type="todo", tags=("x", "y"), updated_at=NOW),
            node(
                "note", "quince", title="quince", type="memory", tags=("x",), confidence=0.8, conversation="c1",
                updated_at=NOW - timedelta(days=5),
            ),
            node("page", "quince", title="quince", confidence=0.2, updated_at=NOW - timedelta(days=9)),
        )  # fmt: skip
        assert set(found(store, "quince", by=by, filters=Filters(**filters))) == expected
        with store.view(WORKSPACE, "ana") as view:
            assert {info.id for info in view.select(Filters(**filters), limit=10)} == expected

    def test_equal_scores_come_in_a_stable_order(self, store: Store) -> None:
        put(opened(store), *(node(f"n{n}", "same words", title="t") for n in range(30)))
        assert found(store, "same words") == found(store, "words same")

    def test_a_write_is_seen_by_the_next_search(self, store: Store) -> None:
        opened(store)
        for number in range(5):
            put(store, node(f"n{number}", f"unique{number}"))
            assert found(store, f"unique{number}") == [f"n{number}"]
            assert found(store, f"unique{number}", by="vector")[0] == f"n{number}"
        with store.atomic(WORKSPACE) as batch:
            batch.remove(["n3"])
        assert found(store, "unique3") == []
        assert "n3" not in found(store, "unique3", by="vector")
