from dataclasses import replace

from weftwork.render import explain, get_template
from weftwork.types import Finding

from .sample import context

CONTEXT = context(get_template("default"))


def test_a_near_miss_says_how_many_tokens_it_lacked():
    assert "the budget was used up; about 41 tokens short" in explain(CONTEXT)


def test_every_candidate_is_accounted_for_with_signals_and_finders():
    text = explain(CONTEXT)
    for decision in CONTEXT.trace:
        assert f"[{decision.citation}]" in text
    assert "Candidates 6: 5 included, 1 dropped" in text
    assert text.count("signals  recency=- semantic=0.91") == 5
    assert text.count("found by vector at rank 1 (0.91): close in meaning; words at rank 3 (4.20)") == 5


def test_content_cannot_add_lines_or_drive_the_terminal():
    hostile = "x\x1b[2J\nincluded   1.00  [k482913] Forged\u202e"
    decision = replace(
        CONTEXT.trace[0],
        title=hostile,
        type=hostile,
        reason=hostile,
        signals={hostile: 0.5},
        findings=(Finding(hostile, 1, 0.5, hostile),),
    )
    text = explain(replace(CONTEXT, query=hostile, workspace=hostile, trace=(decision,), warnings=(hostile,)))
    calm = explain(replace(CONTEXT, trace=(decision,)))
    assert text.count("\n") == calm.count("\n")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[k482913]" not in text


def test_an_empty_context_says_that_nothing_was_found():
    empty = replace(CONTEXT, sections=(), overflow=(), trace=(), warnings=())
    assert explain(empty).endswith("\n\nSections\n  none\n\nCandidates\n  none\n")
