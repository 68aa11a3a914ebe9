"""Results at hand as text."""

import pytest

from weftwork.errors import BudgetError, UnknownName
from weftwork.faces.memory import DEFAULT_TEMPLATES, ContextFormatter, ContextOptions, Memory, SearchResult
from weftwork.text.tokens import get_counter

FORMATTER = ContextFormatter()


def result(text, score=0.5, **more):
    return SearchResult(Memory(id=f"mem-{abs(hash(text))}", content=text, **more), score)


@pytest.mark.parametrize("template", ["chat", "detailed", "summary"])
def test_a_search_is_formatted_as_a_context_of_the_same_order_is(engine, memories, ask, template):
    for n in range(6):
        memories.remember(f"green tea {n}", confidence=0.5)
    built = ask(engine.build_context("tea", "main", ContextOptions(template=template)))
    made = FORMATTER.format(built.memories, template, 2000)
    assert made == built
    small = FORMATTER.format(built.memories, DEFAULT_TEMPLATES[template], made.token_count - 1)
    assert small.truncated and len(small.memories) == 5 and small.token_count < made.token_count


def test_the_order_is_the_lists_whatever_the_scores():
    given = [result("low", 0.1), result("high", 0.9), result("middle", 0.5)]
    made = FORMATTER.format(given, {"memory_format": "{{content}} {{score}}"}, 100)
    assert made.context == "low 0.1\nhigh 0.9\nmiddle 0.5"
    assert list(made.memories) == given


def test_those_that_fit_are_the_first():
    given = [result(f"green tea number {n}") for n in range(30)]
    kept = FORMATTER.truncate_to_fit(given, "chat", 60)
    assert 3 < len(kept) < 30 and kept == given[: len(kept)]


def test_tokens_are_counted_with_the_given_tokenizer():
    assert ContextFormatter("characters").estimate_tokens("abcde") == 2
    assert ContextFormatter(get_counter("gpt-4")).estimate_tokens("green tea") == get_counter("gpt-4").count(
        "green tea"
    )


def test_nothing_is_nothing_and_what_cannot_be_used_is_refused():
    assert FORMATTER.format([], "chat", 100).context == ""
    with pytest.raises(UnknownName):
        FORMATTER.format([result("tea")], "nope", 100)
    with pytest.raises(BudgetError):
        FORMATTER.format([result("tea")], "chat", 0)
