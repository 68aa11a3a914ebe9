import json
from dataclasses import replace

from weftwork.render import get_template, to_dict, to_json

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


def test_what_was_cut_from_an_item_is_not_in_its_json():
    found = candidate("word " * 200 + "secret")
    piece = renderer(get_template("default")).shorten(found, 60)
    section = CONTEXT.sections[0]
    item = replace(section.items[0], candidate=found, rendering=piece)
    cut = replace(CONTEXT, sections=(replace(section, items=(item,)),))
    assert "secret" not in to_json(cut)
