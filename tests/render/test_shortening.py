"""Excerpts of several passages that are made to fit: what is kept, in which order, and what marks the rest."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.render.builtin import BUILTIN
from weftwork.text.tokens import CharacterCounter, get_counter
from weftwork.text.truncate import STRATEGIES
from weftwork.types import Excerpt, Finding

from .documents import COUNTER, Document, citation, part
from .hostile import CONTENT, PROPERTY

OBSERVATORY = Document(
    part(
        "heading",
        "The dome turns on rollers. It is heavy and was built in 1931. Nobody oils it. ",  # 2
        "The rollers are of steel and worn. ",  # 3
        "They were replaced in 1975.",  # 4
        title="Dome",
    ),
    part(
        "paragraph",
        "The mirror is two metres wide. It was cast in Jena and polished for a year. It is cleaned in spring.",  # 5
        depth=2,
    ),
    part("heading", title="Visits"),  # 6
    part("list_item", "Groups come on Fridays at noon and stay for two hours.", depth=2),  # 7
    part("list_item", "Schools come on Mondays, and they bring their own lunch.", depth=2),  # 8
    part("paragraph", "Tickets are sold at the door. Children pay half. Dogs stay outside.", depth=2),  # 9
    text="The observatory stands on a hill. It belongs to the town.",  # 1
    title="Observatory",
    hits={5: 0.9, 8: 0.6, 4: 0.5, 7: 0.4, 1: 0.3},
)
WHOLE = OBSERVATORY.excerpt().tokens


def shown(limit: int, strategy: str, **more) -> Excerpt:
    excerpt = OBSERVATORY.shortened(limit, strategy=strategy, **more)
    assert excerpt is not None
    assert excerpt.tokens == COUNTER.count(excerpt.text) <= limit
    return excerpt


def keys(excerpt: Excerpt) -> list[int]:
    return [item.candidate.key for item in excerpt.items]


class TestWhatIsKept:
    def test_what_fits_is_not_touched(self):
        assert shown(WHOLE, "extractive").text == OBSERVATORY.excerpt().text
        assert not shown(WHOLE, "extractive").truncated
        assert shown(WHOLE - 1, "extractive").truncated

    def test_keep_start_keeps_the_first_passages_and_cuts_the_end_of_the_last(self):
        excerpt = shown(100, "keep_start")
        assert excerpt.content == (
            "The observatory stands on a hill. It belongs to the town.\n\n"
            "## Dome\nThe dome turns on rollers. It is heavy and was built in 1931. Nobody oils it. "
            f"The rollers are of steel and worn. They were replaced in 1975. {citation(4)}\n\n"
            f"The mirror is two metres wide. It was cast in Jena and polished for a year. … {citation(5)}"
        )
        assert [item.truncated for item in excerpt.items] == [False, False, False, False, True]

    def test_keep_end_keeps_the_last_passages_and_cuts_the_start_of_the_first(self):
        excerpt = shown(100, "keep_end")
        assert keys(excerpt) == [5, 6, 7, 8, 9]
        assert excerpt.content.startswith("[…]\n## Dome\nThe mirror is")
        assert excerpt.content.endswith("Dogs stay outside.")
        page = Document(part("paragraph", "One says this. " * 8, "Two says that. " * 8), hits=(2,))
        cut = page.shortened(70, 2, 3, strategy="keep_end")
        assert cut is not None
        assert keys(cut) == [2, 3]
        assert re.fullmatch(r"… (One says this\. )+(Two says that\. ?){8}", cut.content)

    def test_extractive_keeps_the_best_passages_in_reading_order_with_all_gaps_marked(self):
        assert shown(70, "extractive").content == (
            "[…]\n## Dome\n"
            "The mirror is two metres wide. It was cast in Jena and polished for a year. It is cleaned in spring.\n"
            f"[…]\n## Visits\n- Schools come on Mondays, and they bring their own lunch. {citation(8)}\n[…]"
        )
        assert keys(shown(100, "extractive")) == [4, 5, 7, 8]

    def test_extractive_keeps_the_best_sentences_of_the_passage_that_is_cut(self):
        excerpt = shown(40, "extractive", words={"jena"})
        assert excerpt.content == "… It was cast in Jena and polished for a year. …"
        assert [(item.text, item.truncated) for item in excerpt.items] == [(excerpt.content, True)]

    def test_what_was_asked_for_comes_after_what_answers_the_query(self):
        page = Document(
            part("paragraph", "One says this. " * 6), part("paragraph", "Two says that. " * 6), hits={2: 2.0, 3: 0.5}
        )
        best = page.shortened(45, 2, 3)
        focus = (Finding("focus", 1, 1.0, kind="focus"),)
        page.offer.hits[2] = replace(page.known[2], asked=True, findings=focus)
        asked = page.shortened(45, 2, 3)
        assert best is not None
        assert asked is not None
        assert (keys(best), keys(asked)) == ([2], [3])

    def test_titles_fields_and_tables_count_too(self):
        rows = [part("db_row", title=f"Row number {place}", fields={"price": place, "stock": 7}) for place in range(12)]
        table = Document(*rows, title="Prices", type="database", hits={2: 0.9, 3: 0.8})
        cut = table.shortened(90, strategy="keep_start")
        assert cut is not None
        assert 60 < cut.tokens <= 90
        assert cut.content.endswith(" |\n[…]")


class TestSummaries:
    def summarise(self, text: str, limit: int) -> str:
        self.given = text
        return "A dome and a mirror, and when to visit them.\x00 [k482913] says more."

    def test_a_summary_stands_for_all_passages_and_is_cited_by_the_first(self):
        excerpt = shown(60, "summarise", summarise=self.summarise)
        assert excerpt.text == (
            f"{citation(1)} Observatory\n> A dome and a mirror, and when to visit them. \\[k482913] says more.\n\n"
        )
        assert (excerpt.truncated, excerpt.note) == (True, "")
        assert keys(excerpt) == list(range(1, 10))
        assert all(item.truncated for item in excerpt.items)
        assert [item.text for item in excerpt.items[1:]] == [""] * 8

    def test_it_is_made_of_the_text_in_reading_order_without_citations(self):
        shown(60, "summarise", summarise=self.summarise)
        assert self.given == OBSERVATORY.content(template="chat")

    def test_its_heading_names_what_all_passages_stand_under(self):
        excerpt = OBSERVATORY.shortened(40, 7, 8, 9, strategy="summarise", summarise=self.summarise)
        assert excerpt is not None
        assert excerpt.text.startswith(f"{citation(7)} Observatory › Visits\n")

    def test_without_a_model_the_best_passages_are_kept_and_it_is_said(self):
        excerpt, instead = shown(70, "summarise"), shown(70, "extractive")
        assert excerpt.text == instead.text
        assert excerpt.note.startswith("there is no model to summarise")
        assert excerpt.truncated

    def test_a_summary_that_is_too_long_is_not_taken(self):
        excerpt = shown(70, "summarise", summarise=lambda text, limit: "long " * 500)
        assert "long" not in excerpt.content
        assert "the summary has" in excerpt.note

    def test_a_text_that_only_fits_without_its_citations_is_not_passed_off_as_a_summary(self):
        excerpt = shown(WHOLE - 1, "summarise", summarise=self.summarise)
        assert citation(5) in excerpt.content

    def test_both_spellings_are_known(self):
        excerpts = [shown(60, strategy, summarise=self.summarise) for strategy in ("summarise", "summarize")]
        assert excerpts[0] == excerpts[1]


class TestMarks:
    @pytest.mark.parametrize("strategy", STRATEGIES)
    @pytest.mark.parametrize("limit", [36, 40, 60, 80, 100, 120, 140, 150])
    def test_passages_keep_their_order_and_whatever_is_missing_is_marked(self, strategy: str, limit: int):
        excerpt = shown(limit, strategy)
        assert excerpt.truncated
        assert keys(excerpt) == sorted(set(keys(excerpt)))
        told = [key for key in keys(excerpt) if key != 6]
        starts = [excerpt.content.index(OBSERVATORY.known[key].passage.text[:10]) for key in told]
        assert starts == sorted(starts)
        words = [key in told for key in (1, 2, 3, 4, 5, 7, 8, 9)]
        gaps = sum(before and not here for before, here in pairwise((True, *words)))
        assert excerpt.content.count("…") >= gaps

    def test_an_end_that_is_cut_has_no_second_mark(self):
        assert not shown(100, "keep_start").content.endswith("[…]")
        page = Document(part("paragraph", "One says this. " * 8, "Two says that. " * 8), hits=(3,))
        cut = page.shortened(70, 2, 3, strategy="keep_end")
        assert cut is not None
        assert not cut.content.startswith("[…]")

    def test_code_that_is_cut_is_closed(self):
        page = Document(text="Run this:\n\n```\n" + "make all # of it\n" * 30 + "```\nDone.")
        start = page.shortened(60, strategy="keep_start")
        assert start is not None
        assert re.fullmatch(r"Run this:\n\n```\n(make all # of it\n)+make all # of it …\n```", start.content)
        end = page.shortened(60, strategy="keep_end")
        assert end is not None
        assert re.fullmatch(r"```\n… (make all )?(# of it\n)(make all # of it\n)+```\nDone\.", end.content)


class TestLimits:
    def test_too_little_is_nothing(self):
        for limit in range(16):
            assert OBSERVATORY.shortened(limit) is None

    def test_nothing_is_shown_where_nothing_is_left_of_a_text(self):
        assert OBSERVATORY.shortened(60, truncate=lambda text, limit: ("", ""), strategy="summarise") is not None
        single = Document(text="One says this. " * 30)
        assert single.shortened(60, truncate=lambda text, limit: ("", "")) is None

    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_the_limit_is_kept_at_every_size_and_mostly_used(self, strategy: str):
        used = []
        for limit in range(36, WHOLE, 3):
            excerpt = shown(limit, strategy)
            used.append(excerpt.tokens / limit)
        assert sum(used) / len(used) > 0.75

    @PROPERTY
    @given(
        st.lists(
            st.tuples(st.sampled_from(["paragraph", "todo", "db_row", "message", "code", "heading"]), CONTENT, CONTENT)
        ),
        st.integers(min_value=1, max_value=150),
        st.sampled_from([*STRATEGIES, "summarize"]),
        st.sampled_from(list(BUILTIN.values())),
        st.sampled_from([CharacterCounter(), get_counter("o200k_base")]),
        CONTENT,
    )
    def test_no_content_in_any_template_exceeds_the_limit(self, parts, limit, strategy, template, counter, summary):
        made = [part(kind, text, text, title=title, fields={"x": title}) for kind, text, title in parts]
        page = Document(*made, text="Lead. " * 5, hits=range(1, 2 * len(made), 3), counter=counter)
        options = {"counter": counter, "summarise": lambda text, room: summary}
        piece = page.shortened(limit, template=template, strategy=strategy, **options)
        if piece is not None:
            assert piece.tokens == counter.count(piece.text) <= limit
            assert keys(piece) == sorted(set(keys(piece)))
            whole = page.renderer(template, **options).excerpt(page.offer, tuple(page.known), "whole")
            assert piece.truncated == (whole.tokens > limit)
