"""Contract of page vectors: stale after a change, ranked by MaxSim, as visible as their page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weftwork.embed.protocol import Matrix
from weftwork.embed.vectors import unit_rows
from weftwork.errors import DimensionError
from weftwork.store.contract.kit import WORKSPACE, node, opened, put
from weftwork.store.protocol import Store
from weftwork.types import PAGE, Filters, Node

MODEL = "looks"
MANY = 450
"""Pages, more than are compared in full."""


def page(name: str, text: str = "text", access: frozenset[str] | None = None) -> Node:
    """A page of a document."""
    return node(name, text, type=PAGE, access=access)


def keep(store: Store, vectors: dict[str, Matrix], model: str = MODEL) -> None:
    """Write the vectors of pages."""
    with store.atomic(WORKSPACE) as batch:
        batch.put_page_vectors(model, vectors, store.version(WORKSPACE))


def rows(seed: int, count: int = 5, width: int = 16) -> Matrix:
    """Random vectors of length one."""
    return unit_rows(np.random.default_rng(seed).standard_normal((count, width)))


def seen(store: Store, query: Matrix, user: str = "ana", limit: int = 10, **filters: Any) -> dict[str, float]:
    """The pages that a user finds, the best first, with their scores."""
    with store.view(WORKSPACE, user) as view:
        hits = view.search_pages(query, model=MODEL, limit=limit, filters=Filters(**filters))
        return {view.load([hit.key])[0].node.id: hit.score for hit in hits}


def oracle(query: Matrix, pages: dict[str, Matrix]) -> list[str]:
    """The pages in the order of MaxSim."""
    worth = {name: np.maximum((vectors @ query.T).max(axis=0), 0).mean() for name, vectors in pages.items()}
    return sorted(worth, key=lambda name: -worth[name])


class PagesContract:
    def test_pages_are_ranked_by_the_best_answer_to_each_part(self, store: Store) -> None:
        one, two = np.eye(3, dtype=np.float32)[:2], np.eye(3, dtype=np.float32)[1:]
        put(opened(store), page("both"), page("half"))
        keep(store, {"both": np.concatenate([one, two]), "half": two})
        assert seen(store, one) == {"both": 1.0, "half": 0.5}

    def test_few_pages_are_compared_exactly(self, store: Store) -> None:
        pages = {f"p{n}": rows(n) for n in range(40)}
        put(opened(store), *map(page, pages))
        keep(store, pages)
        query = rows(99, 3)
        assert list(seen(store, query, limit=5)) == oracle(query, pages)[:5]

    def test_among_many_the_page_that_answers_is_found(self, store: Store) -> None:
        pages = {f"p{n}": rows(n, 12) for n in range(MANY)}
        put(opened(store), *map(page, pages))
        keep(store, pages)
        for number in (0, 123, MANY - 1):
            assert next(iter(seen(store, pages[f"p{number}"], limit=3))) == f"p{number}"

    def test_a_hidden_page_is_not_found_and_pushes_no_other_out(self, store: Store) -> None:
        put(opened(store, "ben"), *(page(f"open{n}") for n in range(3)), *(_secret(n) for n in range(MANY)))
        query = rows(1, 2)
        keep(store, {f"open{n}": rows(100 + n) for n in range(3)} | {f"secret{n}": query for n in range(MANY)})
        assert set(seen(store, query, "ben")) == {"open0", "open1", "open2"}
        assert seen(store, query, "ana", limit=1).keys() <= {f"secret{n}" for n in range(MANY)}

    def test_filters_hold(self, store: Store) -> None:
        put(opened(store), node("tagged", "x", type=PAGE, tags=("a",)), page("plain"))
        keep(store, {"tagged": rows(1), "plain": rows(2)})
        assert set(seen(store, rows(3), tags=frozenset({"a"}))) == {"tagged"}
        assert set(seen(store, rows(3), exclude=frozenset({"tagged"}))) == {"plain"}

    def test_a_page_that_changed_has_to_be_looked_at_again(self, store: Store) -> None:
        put(opened(store), page("p"), page("q"))
        keep(store, {"p": rows(1), "q": rows(2)})
        assert store.unchecked_pages_without_vectors(WORKSPACE, MODEL, 10) == []
        put(store, page("p", "other text"))
        assert [info.id for info in store.unchecked_pages_without_vectors(WORKSPACE, MODEL, 10)] == ["p"]
        assert set(seen(store, rows(3))) == {"q"}

    def test_vectors_of_a_page_that_changed_meanwhile_are_not_kept(self, store: Store) -> None:
        put(opened(store), page("p"))
        read_at = store.version(WORKSPACE)
        put(store, page("p", "other text"))
        with store.atomic(WORKSPACE) as batch:
            batch.put_page_vectors(MODEL, {"p": rows(1), "gone": rows(2)}, read_at)
        assert [info.text for info in store.unchecked_pages_without_vectors(WORKSPACE, MODEL, 10)] == ["other text"]

    def test_only_document_pages_are_looked_at_each_with_its_text(self, store: Store) -> None:
        put(opened(store), node("note", "no page"), page("p", "its text"), page("q"))
        without_vectors = store.unchecked_pages_without_vectors(WORKSPACE, MODEL, 1)
        assert [(info.id, info.text) for info in without_vectors] == [("p", "its text")]

    def test_a_page_with_nothing_to_see_is_not_asked_for_again(self, store: Store) -> None:
        put(opened(store), page("blank"))
        keep(store, {"blank": np.zeros((0, 16), dtype=np.float32)})
        assert store.unchecked_pages_without_vectors(WORKSPACE, MODEL, 10) == []
        assert seen(store, rows(1)) == {}

    def test_another_model_has_pages_of_its_own(self, store: Store) -> None:
        put(opened(store), page("p"))
        keep(store, {"p": rows(1, width=8)}, model="other")
        assert seen(store, rows(1)) == {}
        assert [info.id for info in store.unchecked_pages_without_vectors(WORKSPACE, MODEL, 10)] == ["p"]

    def test_vectors_of_another_length_are_refused(self, store: Store) -> None:
        put(opened(store), page("p"), page("q"))
        keep(store, {"p": rows(1)})
        with pytest.raises(DimensionError):
            keep(store, {"q": rows(2, width=8)})
        with pytest.raises(DimensionError):
            seen(store, rows(1, width=8))

    def test_removed_pages_are_gone(self, store: Store) -> None:
        put(opened(store), page("p"))
        keep(store, {"p": rows(1)})
        with store.atomic(WORKSPACE) as batch:
            batch.remove(["p"])
        assert seen(store, rows(1)) == {}

    def test_keeping_vectors_is_a_write_that_others_notice(self, store: Store) -> None:
        put(opened(store), page("p"))
        before = store.version(WORKSPACE)
        keep(store, {"p": rows(1)})
        assert store.version(WORKSPACE) > before
        assert store.check() == []


def _secret(number: int) -> Node:
    return page(f"secret{number}", access=frozenset({"ana"}))
