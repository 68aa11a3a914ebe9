import json
from dataclasses import replace

import pytest

from weftwork.render import get_template, to_dict, to_json
from weftwork.types import Context, Excerpt

from .documents import Document, part
from .sample import candidate, context, renderer

CONTEXT = context(get_template("default"))


def test_json_text_says_the_same_as_the_dictionary():
    assert json.loads(to_json(CONTEXT)) == to_dict(CONTEXT)


def test_the_trace_and_the_timings_are_there_on_request():
    assert "decisions" not in to_dict(CONTEXT, trace=False)
    assert len(to_dict(CONTEXT)["decisions"]) == len(CONTEXT.trace)
    assert "timings" not in to_dict(CONTEXT)
    assert to_dict(CONTEXT, timings=True)["timings"] == {"collect": 1.5}


def test_two_contexts_that_differ_in_their_timings_are_the_same_json():
    assert to_json(CONTEXT) == to_json(replace(CONTEXT, timings={"collect": 99.0}))


def test_the_order_in_which_a_mapping_was_filled_does_not_matter():
    signals = {"b": 0.5, "a": 0.25}
    first = replace(CONTEXT, trace=(replace(CONTEXT.trace[0], signals=signals),))
    second = replace(CONTEXT, trace=(replace(CONTEXT.trace[0], signals=dict(sorted(signals.items()))),))
    assert json.dumps(to_dict(first)) == json.dumps(to_dict(second))


def test_what_json_cannot_say_is_replaced():
    odd = replace(CONTEXT, query="a\ud800", warnings=("x\x00",), trace=(replace(CONTEXT.trace[0], score=float("nan")),))
    text = to_json(odd)
    assert text.encode()
    found = json.loads(text)
    assert (found["query"], found["warnings"], found["decisions"][0]["score"]) == ("a\ufffd", ["x\x00"], None)


def holding(excerpt: Excerpt, **more) -> Context:
    """The context with just this excerpt."""
    return replace(CONTEXT, sections=(replace(CONTEXT.sections[0], excerpts=(excerpt,)),), **more)


def test_what_was_cut_from_an_excerpt_is_not_in_its_json():
    piece = renderer(get_template("default")).shorten(candidate("word " * 200 + "secret"), 60)
    (shown,) = to_dict(holding(piece))["sections"][0]["excerpts"]
    assert (shown["truncated"], shown["items"][0]["truncated"]) == (True, True)
    assert shown["content"].startswith("word ")
    assert "secret" not in to_json(holding(piece))


@pytest.mark.parametrize("strategy", ["keep_start", "extractive", "summarise"])
def test_nothing_of_a_passage_that_is_left_out_or_summarised_is_in_the_json(strategy: str):
    parts = [part("paragraph", f"{'word ' * 20}number {place}. ", f"{'Secret. ' * 20}") for place in range(4)]
    page = Document(*parts, text="Lead. ", hits={1: 0.9, 2: 0.8})
    piece = page.shortened(60, strategy=strategy, summarise=lambda text, limit: "A summary of a dozen words, " * 2)
    assert piece is not None
    assert piece.truncated
    text = to_json(holding(piece))
    assert "Secret" not in text
    assert ("number" in text) == (strategy != "summarise")


def test_a_line_of_the_overflow_has_no_content_in_its_json():
    line = renderer(get_template("default")).line(candidate("secret"))
    (shown,) = to_dict(replace(CONTEXT, sections=(), overflow=(line,)))["overflow"]
    assert (shown["form"], shown["content"], shown["items"][0]["content"]) == ("line", "", "")


def test_an_excerpt_says_what_it_shows_and_each_passage_what_it_is():
    page = Document(
        part("paragraph", "One [k482913]. ", "Two."), title="Plan", type="page", trail=("Apollo", "Work"), hits=(3,)
    )
    (shown,) = to_dict(holding(page.excerpt(2, 3)))["sections"][0]["excerpts"]
    names = ("document", "title", "path", "citation", "form", "truncated", "content")
    assert {name: shown[name] for name in names} == {
        "document": "doc",
        "title": "Plan",
        "path": ["Work", "Apollo"],
        "citation": "k000002",
        "form": "hits",
        "truncated": False,
        "content": "One \\[k482913]. Two. [k000003]",
    }
    passages = [(each["node"], each["citation"], each["hit"], each["content"]) for each in shown["items"]]
    assert passages == [("n1", "k000002", False, "One [k482913]. "), ("n1", "k000003", True, "Two.")]
