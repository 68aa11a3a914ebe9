"""Fitting: the text as a whole keeps the budget, whatever its parts came to."""

import math
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEEP

from weftwork.compose.offers import alone, group, offer
from weftwork.compose.reading import Reading
from weftwork.fit import Fitting, fit
from weftwork.query import read_query
from weftwork.recipe import get_recipe
from weftwork.render import Templates
from weftwork.request import Request
from weftwork.text.tokens import CharacterCounter, get_counter
from weftwork.types import SECTIONS, Budget, Candidate, Decision, Finding, NodeInfo, Passage

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)


class Words:
    """One token for each run of letters or of other marks."""

    name = "words"
    _token = re.compile(r"\w+|[^\w\s]+")

    def count(self, text):
        return len(self._token.findall(text))

    def encode(self, text):
        return [len(token) for token in self._token.findall(text)]

    def decode(self, tokens):
        raise NotImplementedError

    def truncate(self, text, limit):
        ends = [match.end() for match in self._token.finditer(text)]
        while ends and self.count(text[: ends[-1]]) > limit:
            ends.pop()
        return text if self.count(text) <= limit else text[: ends[-1]] if ends else ""

    def truncate_start(self, text, limit):
        starts = [match.start() for match in self._token.finditer(text)]
        while starts and self.count(text[starts[0] :]) > limit:
            starts.pop(0)
        return text if self.count(text) <= limit else text[starts[0] :] if starts else ""


class Nasty(Words):
    """Charges more for a whole than for its parts: each further line costs a share of all before it."""

    def __init__(self, penalty):
        self.penalty = penalty

    def count(self, text):
        plain = len(self._token.findall(text))
        return plain + math.floor(self.penalty * plain * max(0, text.count("\n") - 3) / 10)


def candidate(name, text, *, score=0.5, section="semantic", key=None, at=None, position=0, **node):
    passage = Passage(0, 0, len(text), text, Words().count(text), name, f"not-{name}", key or 1 + sum(map(ord, name)))
    document = node.pop("document", "")
    info = NodeInfo(id=name, title=name.title(), created_at=at, updated_at=at, position=position, **node)
    found = (Finding("lexical", 1, score, kind="words"),)
    return Candidate(info, passage, section, found, score=score, document=document)


def fitted(
    candidates, budget, *, query="mirror", counter=None, sections=None, repeats=(), request=None, templates=(),
    user="ana", **recipe,
):  # fmt: skip
    divided = Budget(total=budget, sections=sections or {})
    asked = Request(query=query, workspace="w", user=user, budget=divided, **(request or {}))
    chosen = replace(get_recipe("default"), **recipe)
    ranked = sorted(candidates, key=lambda each: -each.score)
    known = {each.key: each for each in ranked}
    offers = [
        offer(section, Reading(alone(found)), found) for (section, _), found in group(ranked, by_document=True).items()
    ]
    parts = Fitting(
        asked,
        read_query(query, NOW),
        chosen,
        counter or Words(),
        Templates(templates),
        lambda keys: {key: known[key] for key in keys},
    )
    return fit(parts, offers, repeats)


def several(count, words=12):
    return [
        candidate(
            f"n{n:02}", f"Mirror number {n}. " + "It has a word more. " * (words // 5), score=1 - n / 100, key=n + 1
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("packer", ["ranked", "greedy", "density", "optimal", "overflow"])
@pytest.mark.parametrize("penalty", [0.0, 0.2, 1.0, 5.0])
def test_a_whole_that_counts_more_than_its_parts_keeps_the_budget(packer, penalty):
    counter = Nasty(penalty)
    for budget in (*range(1, 320, 3 if DEEP else 11), 1000):
        context = fitted(several(12), budget, counter=counter, packer=packer)
        assert context.tokens == counter.count(context.text) <= budget


def test_a_whole_that_counts_a_little_more_than_its_parts_is_packed_again_with_less_room():
    parts = fitted(several(12), 250, counter=Words(), packer="ranked", lines=False)
    whole = fitted(several(12), 250, counter=Nasty(0.2), packer="ranked", lines=False)
    assert 0 < len(whole.items) < len(parts.items)
    kept = [item.candidate.node.id for item in whole.items]
    assert kept == [f"n{n:02}" for n in range(len(kept))]


@settings(max_examples=60)
@given(
    budget=st.integers(1, 600),
    penalty=st.floats(0, 10),
    count=st.integers(0, 15),
    packer=st.sampled_from(["ranked", "greedy", "density", "optimal", "overflow"]),
    template=st.sampled_from(["default", "plain", "chat", "detailed", "summary", "workspace"]),
    shares=st.dictionaries(st.sampled_from(["semantic", "focus", "history"]), st.integers(0, 400)),
)
def test_no_budget_is_ever_exceeded(budget, penalty, count, packer, template, shares):
    counter = Nasty(penalty)
    candidates = [
        replace(each, section=("semantic", "focus", "history")[n % 3]) for n, each in enumerate(several(count))
    ]
    context = fitted(candidates, budget, counter=counter, packer=packer, template=template, sections=shares)
    assert context.tokens == counter.count(context.text) <= budget
    assert sorted(each.node for each in context.trace) == sorted(each.node.id for each in candidates)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "characters"])
def test_real_counts_keep_every_budget(name):
    counter = get_counter(name)
    texts = [
        "a\n\nb",
        "  indented\n\tcode()",
        "漢字かな",
        "👩‍👩‍👧 family",
        "x" * 300,
        "```\nfence",
        "1 000 000",
        "é\u0301",
    ]
    candidates = [candidate(f"t{n}", text, score=1 - n / 10, key=n + 1) for n, text in enumerate(texts)]
    for budget in range(1, 420, 7):
        context = fitted(candidates, budget, counter=counter)
        assert context.tokens == counter.count(context.text) <= budget


def test_a_budget_too_small_for_headings_falls_back_to_the_plain_template():
    one = [candidate("a", "Mirror is ready.")]
    large = fitted(one, 100)
    assert large.text.startswith("Quoted workspace sources")
    assert "[not-a] A\n" in large.text
    # [ not - a ] A : Mirror is ready . makes 11; the default header alone has 16
    small = fitted(one, 11)
    assert small.text == "[not-a] A: Mirror is ready."
    assert [each.fate for each in small.trace] == ["included"]


def test_a_budget_too_small_for_anything_gives_nothing_and_a_warning():
    context = fitted([candidate("a", "Mirror is ready."), candidate("b", "Mirror.", score=0.4)], 3)
    assert (context.text, context.tokens, context.items, context.citations) == ("", 0, (), ())
    assert context.warnings == ("a budget of 3 tokens holds no excerpt: the smallest needs 9",)
    assert {each.fate for each in context.trace} == {"dropped"}
    assert all(each.reason for each in context.trace)


def test_the_tokens_that_the_warning_asks_for_are_enough():
    both = [candidate("a", "Mirror is ready."), candidate("b", "Mirror.", score=0.4)]
    assert [item.candidate.node.id for item in fitted(both, 9).items] == ["b"]
    assert fitted(both, 8).items == ()


def test_no_candidates_give_nothing_and_no_warning():
    context = fitted([], 100)
    assert (context.text, context.tokens, context.sections, context.trace, context.warnings) == ("", 0, (), (), ())


def test_a_template_that_shows_its_sections_anyway_shows_them_without_candidates():
    context = fitted([], 100, template="workspace")
    assert context.text.count("_No relevant content found._") == 4
    assert context.text.endswith("User Query: mirror\n")
    assert fitted([], 10, template="workspace").text == ""


def test_sections_come_in_their_fixed_order_and_unknown_ones_last_by_name():
    names = ["zebra", "apple", *reversed(SECTIONS)]
    made = [candidate(f"n{n}", f"text {n}", section=name, key=n + 1, score=n / 10) for n, name in enumerate(names)]
    context = fitted(made, 1000)
    assert [section.name for section in context.sections] == [*SECTIONS, "apple", "zebra"]
    places = [context.text.index(f"## {section.title}\n") for section in context.sections]
    assert places == sorted(places)


def test_items_of_a_section_come_by_score():
    made = [candidate(name, name, score=score) for name, score in (("low", 0.1), ("high", 0.9), ("mid", 0.5))]
    (section,) = fitted(made, 1000).sections
    assert [item.candidate.node.id for item in section.items] == ["high", "mid", "low"]


def test_a_section_tells_its_tokens_and_its_share():
    context = fitted([candidate("a", "one two three")], 100, sections={"semantic": 60, "focus": 40})
    (section,) = context.sections
    assert section.budget == 60
    assert section.tokens == sum(excerpt.tokens for excerpt in section.excerpts)


def spoken(*messages):
    context = fitted(messages, 2000)
    (history,) = context.sections
    return [item.candidate.node.id for item in history.items]


def test_stored_messages_stand_in_the_order_in_which_they_were_said():
    def said(name, minutes, score, position=0):
        at = NOW + timedelta(minutes=minutes)
        more = {"type": "message", "document": "talk"}
        return candidate(name, f"said {name}", section="history", at=at, score=score, position=position, **more)

    assert spoken(said("last", 9, 0.9), said("first", 1, 0.5), said("middle", 5, 0.7)) == ["first", "middle", "last"]
    same_minute = [said("c", 1, 0.9, position=3), said("a", 1, 0.8, position=1), said("b", 1, 0.1, position=2)]
    assert spoken(*same_minute) == ["a", "b", "c"]


def test_messages_handed_in_stand_in_their_order_whether_their_time_is_known_or_not():
    def handed(number, at=None):
        return candidate(f"h{number}", f"said {number}", section="history", key=-number, at=at, score=number / 10)

    assert spoken(handed(3), handed(1), handed(2)) == ["h1", "h2", "h3"]
    assert spoken(handed(3, NOW), handed(2), handed(1, NOW - timedelta(hours=1))) == ["h1", "h2", "h3"]


def test_messages_handed_in_stand_after_those_that_are_stored():
    stored = candidate("stored", "said before", section="history", at=NOW, key=7)
    assert spoken(candidate("handed", "said now", section="history", key=-1), stored) == ["stored", "handed"]


def test_the_identity_of_a_context_follows_its_text_and_its_reader():
    def named(**change):
        return fitted(several(3), change.pop("budget", 1000), **change).id

    assert named() == named()
    assert re.fullmatch(r"ctx-[0-9a-f]{16}", named())
    assert named(budget=2000) == named()  # the same text for the same reader
    assert named(query="telescope") != named()
    assert named(template="plain") != named()
    ana = fitted(several(3), 1000)
    ben = fitted(several(3), 1000, user="ben")
    assert ben.text == ana.text
    assert ben.id != ana.id


def test_the_identity_of_a_context_is_the_same_in_every_process():
    assert fitted([candidate("a", "Mirror is ready.")], 1000).id == "ctx-889c11fb182e0e17"


def test_each_choice_has_its_cost_in_full_and_its_fate_in_the_trace():
    made = [candidate("a", "one two three", score=0.9), candidate("b", "four " * 500, score=0.8)]
    context = fitted(made, 60, packer="overflow")
    fates = {each.node: (each.fate, each.tokens) for each in context.trace}
    (item,) = context.items
    assert fates["a"] == ("included", item.candidate.passage.tokens)
    assert fates["b"][0] in ("line", "dropped")
    assert fates["b"][1] >= 500


def test_a_shortened_item_says_how_it_was_shortened():
    text = "The mirror is ready now. " + "Something else entirely stands here, of no use. " * 60
    (cut,) = fitted([candidate("a", text)], 220, packer="greedy", lines=False).trace
    assert cut.fate == "truncated"
    assert cut.missing_tokens > 0
    (cut,) = fitted(
        [candidate("a", text)], 220, packer="greedy", lines=False, request={"truncation": "summarise"}
    ).trace
    assert "there is no model to summarise" in cut.reason


def test_what_says_the_same_is_in_the_trace_with_what_it_repeats():
    kept, gone = candidate("kept", "Mirror is ready."), candidate("gone", "Mirror is ready.", score=0.9)
    context = fitted([kept], 1000, repeats=[Decision.on(gone, "dropped", "a repeat of [not-kept]")])
    assert [(each.node, each.fate) for each in context.trace] == [("gone", "dropped"), ("kept", "included")]
    assert context.trace[0].reason == "a repeat of [not-kept]"
    assert "not-gone" not in context.text


def test_overflow_lines_are_cited_but_are_no_items():
    context = fitted(several(30, words=40), 500, packer="overflow", lines=True)
    assert context.overflow
    listed = {excerpt.citation for excerpt in context.overflow}
    assert {excerpt.form for excerpt in context.overflow} == {"line"}
    assert listed <= {each.id for each in context.citations}
    assert not listed & {item.candidate.passage.citation for item in context.items}
    assert not fitted(several(30, words=40), 500).overflow, "the default recipe lists no titles"


def test_a_template_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="unknown template 'nonsense'"):
        fitted([], 100, template="nonsense")


def test_the_estimate_by_characters_is_kept_too():
    counter = CharacterCounter()
    context = fitted(several(9), 120, counter=counter)
    assert context.items
    assert context.tokens == -(-len(context.text) // 4) <= 120
