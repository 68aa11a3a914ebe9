"""How much the memory of contexts holds."""

from datetime import UTC, datetime

from weftwork.context_cache import ContextCache
from weftwork.types import Context

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)


def context(text):
    return Context(
        id="ctx", query="", workspace="main", user="me", text=text, tokens=0, budget=1, sections=(), overflow=(),
        citations=(), trace=(),
    )  # fmt: skip


def test_the_oldest_go_when_all_together_are_too_long():
    kept = ContextCache(most=10, most_characters=250)
    for name in ("a", "b"):
        kept.put(name, context("x" * 99), None, NOW, None)
    kept.put("b", context("y" * 99), None, NOW, None)  # in the place of the other, not beside it
    assert kept.get("a", NOW) is not None
    kept.put("c", context("x" * 99), None, NOW, None)
    assert [name for name in "abc" if kept.get(name, NOW)] == ["a", "c"]


def test_one_that_is_too_long_by_itself_is_not_kept():
    kept = ContextCache(most_characters=250)
    kept.put("a", context("x" * 300), None, NOW, None)
    assert kept.get("a", NOW) is None
    kept.put("b", context("x" * 200), None, NOW, None)
    assert kept.get("b", NOW) is not None


def test_what_is_made_of_a_context_is_made_once_and_goes_with_it():
    kept, one = ContextCache(most=1), context("x")
    assert kept.derived(one, "length", lambda: "not kept yet") == "not kept yet"
    kept.put("a", one, None, NOW, None)
    made = kept.derived(one, "length", lambda: [len(one.text)])
    assert kept.derived(one, "length", list) is made
    kept.put("b", context("y"), None, NOW, None)
    assert kept.derived(one, "length", lambda: "anew") == "anew"
