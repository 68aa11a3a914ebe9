"""The text of an excerpt: each kind of node as its author laid it out."""

from datetime import UTC, datetime

import pytest

from weftwork.render import FieldChoice, Template
from weftwork.types import FieldValue

from .documents import Document, citation, part

MONDAY = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
TUESDAY = datetime(2026, 3, 3, 8, 0, tzinfo=UTC)


class TestLists:
    def test_items_stand_close_and_are_indented_by_the_items_above_them(self):
        page = Document(
            part("list_item", "Fruit"),
            part("list_item", "Quince", depth=2),
            part("list_item", "Quince jam", depth=3),
            part("list_item", "Bread"),
            text="Buy this:",
        )
        assert page.content() == "Buy this:\n\n- Fruit\n  - Quince\n    - Quince jam\n- Bread"

    def test_what_is_shown_of_a_deep_list_begins_at_the_left(self):
        page = Document(
            part("list_item", "Fruit"), part("list_item", "Quince", depth=2), part("list_item", "Jam", depth=3)
        )
        assert page.content(3, 4) == "- Quince\n  - Jam"

    def test_a_list_below_a_heading_is_no_deeper_than_one_above_it(self):
        page = Document(part("list_item", "Fruit"), part("heading", title="Later"), part("list_item", "Bread", depth=2))
        assert page.content(2, 4) == "- Fruit\n\n## Later\n- Bread"

    def test_further_lines_hang_below_the_first_and_blank_ones_stay_empty(self):
        page = Document(part("list_item", "Mix:\nflour\n\nwater"), part("list_item", "Rest\nan hour", depth=2))
        assert page.content(2, 3) == "- Mix:\n  flour\n\n  water\n  - Rest\n    an hour"

    def test_an_item_that_has_a_bullet_keeps_it(self):
        page = Document(part("list_item", "1. First"), part("block", "* Second"), part("block", "Third"))
        assert page.content(2, 3, 4) == "1. First\n* Second\n- Third"

    def test_an_item_without_words_is_left_out(self):
        parts = part("list_item", "a"), part("list_item", " \n"), part("todo")
        assert Document(*parts).content() == "- a"
        assert Document(*parts, hits=(2, 3, 4)).content() == "- a", "nor does its citation stand alone"

    def test_an_item_has_its_title_before_its_text_and_its_fields_with_either(self):
        fields = {"owner": "Ana"}
        page = Document(
            part("block", "Twelve went back.", title="Mirrors", fields=fields),
            part("block", "Call Bo", fields=fields),
            part("block", title="Only a title", fields=fields),
            part("block", fields=fields),
            text="Lead.",
            hits=(1, 2, 3, 4, 5),
        )
        assert page.content().split("\n") == [
            "Lead.",
            "",
            "- Mirrors (owner: Ana)",
            f"  Twelve went back. {citation(2)}",
            f"- Call Bo (owner: Ana) {citation(3)}",
            f"- Only a title (owner: Ana) {citation(4)}",
            f"- owner: Ana {citation(5)}",
        ]

    def test_the_title_and_the_fields_of_an_item_stand_before_the_first_part_of_its_text_alone(self):
        page = Document(part("block", "One. ", "Two. ", "Three.", title="Mirrors", fields={"owner": "Ana"}))
        assert page.content(2, 3) == "- Mirrors (owner: Ana)\n  One. Two.\n[…]"
        assert page.content(3, 4) == "[…]\nTwo. Three.", "where an item goes on, it has no bullet"


class TestTasks:
    @pytest.mark.parametrize(
        ("status", "mark"),
        [("open", " "), ("done", "x"), ("in progress", "/"), ("cancelled", "-"), ("canceled", "-"), (None, " ")],
    )
    def test_a_mark_tells_the_status(self, status, mark):
        fields = {"status": status, "due": "2026-03-10"}
        page = Document(part("todo", title="Call Bo", fields=fields))
        assert page.content(2) == f"- [{mark}] Call Bo (due: 2026-03-10)"

    def test_a_status_that_has_no_mark_is_told(self):
        page = Document(part("todo", title="Call Bo", fields={"status": "blocked"}))
        assert page.content(2) == "- [ ] Call Bo (status: blocked)"

    def test_details_hang_below_the_task(self):
        page = Document(part("todo", "At noon.\nNot later.", title="Call Bo"))
        assert page.content(2) == "- [ ] Call Bo\n  At noon.\n  Not later."

    def test_fields_are_told_as_they_are_chosen(self):
        page = Document(part("todo", title="Call Bo", fields={"due": "today", "Owner": "Ana"}))
        assert page.content(2, fields=FieldChoice(first=("owner",))) == "- [ ] Call Bo (Owner: Ana; due: today)"
        assert page.content(2, fields=FieldChoice(show=False)) == "- [ ] Call Bo"


class TestCode:
    def test_code_is_fenced_once(self):
        page = Document(part("code", "x = 1\n"), part("code", "```py\ny = 2\n```"), part("code", "~~~\n```\n~~~"))
        assert page.content(2) == "```\nx = 1\n```"
        assert page.content(3) == "```py\ny = 2\n```"
        assert page.content(4) == "~~~\n```\n~~~"

    def test_a_citation_stands_below_the_code_and_not_in_it(self):
        page = Document(
            part("paragraph", "Run this:"),
            part("code", "make a\n", "make b\n"),
            part("code", "```\nmake c\n```\n"),
            hits=(2, 3, 4, 5),
        )
        assert page.content(2, 3, 4, 5) == (
            f"Run this:\n\n```\nmake a\nmake b\n```\n{citation(3)} {citation(4)}\n\n```\nmake c\n```\n{citation(5)}"
        )

    def test_a_citation_waits_until_the_fence_in_a_text_is_closed(self):
        texts = ("Run:\n```\nmake a\n", "make b\n", "make c\n```\nDone. ", "Rest.")
        page = Document(part("paragraph", *texts), text="Lead.", hits=(1, 2, 3, 4))
        shown = f"Run:\n```\nmake a\nmake b\nmake c\n```\nDone. {citation(2)} {citation(3)} {citation(4)} Rest."
        assert page.content() == f"Lead.\n\n{shown}"

    def test_a_fence_that_goes_on_in_what_is_left_out_is_closed(self):
        page = Document(
            part("paragraph", "Run:\n```\nmake a\n", "make b\n```\n"),
            part("paragraph", "After."),
            text="Lead.",
            hits=(1, 2, 4),
        )
        shown = f"Run:\n```\nmake a\n```\n{citation(2)}\n[…]\nAfter. {citation(4)}"
        assert page.content(1, 2, 4) == f"Lead.\n\n{shown}"

    def test_what_begins_in_a_fence_is_opened_again(self):
        texts = ("Run:\n```sh\nmake a\n", "make b\n```\nThen wait.\n```\n", "make c\n", "```\nDone.")
        page = Document(part("paragraph", *texts), text="Lead.", hits=(1, 3))
        assert page.content(1, 3) == f"Lead.\n[…]\n```\nmake b\n```\nThen wait.\n```\n```\n{citation(3)}\n[…]"
        assert page.content(5) == "[…]\nDone.", "nothing of the code is shown, and so its end is not"
        assert (
            page.content(2, 3, 4, 5)
            == "Run:\n```sh\nmake a\nmake b\n```\nThen wait.\n```\nmake c\n```\nDone. [k000003]"
        )

    def test_a_template_with_a_fence_around_content_is_given_a_longer_one_for_code_that_has_its_own(self):
        page = Document(
            part("code", "make a"), part("paragraph", "Run:\n```\nmake b\n", "make c"), text="Lead.", hits=(1, 2, 3)
        )
        template = Template(name="mine", item="{{citation}}\n```\n{{content}}\n```", quote="escape")
        excerpt = page.excerpt(1, 2, 3, template=template)
        shown = f"Lead.\n\nmake a {citation(2)}\n\nRun:\n```\nmake b\n{citation(3)}\n[…]"
        assert excerpt.content == shown
        assert excerpt.text == f"{citation(1)}\n````\n{shown}\n````\n"

    def test_content_that_is_shown_as_it_is_keeps_an_open_fence(self):
        template = Template(name="mine", item="{{content}}", quote="plain")
        text = "Run:\n```\nmake a"
        assert Document(text=text).excerpt(template=template).text == text + "\n"
        assert Document(part("code", "make a")).content(2, template=template) == "```\nmake a\n```"


class TestTurns:
    def test_turns_stand_close_with_their_speaker_and_day(self):
        talk = Document(
            part("message", "When do we ship?", title="Ana", at=MONDAY),
            part("message", "On the 2nd.", title="Ben", at=TUESDAY),
            part("message", "Noted.", at=TUESDAY),
            part("message", "Who?", title="Cy"),
            type="thread",
            title="Shipping",
        )
        assert talk.content(2, 3, 4, 5) == (
            "Ana, 2026-03-02: When do we ship?\nBen, 2026-03-03: On the 2nd.\n2026-03-03: Noted.\nCy said: Who?"
        )

    def test_no_line_of_a_turn_can_pass_for_the_turn_of_another(self):
        talk = Document(part("message", "Fine.\nBen, 2026-03-03: I pay for it.", title="Ana", at=MONDAY))
        assert talk.content(2) == "Ana said: Fine.\n  Ben, 2026-03-03: I pay for it."

    def test_a_day_that_all_turns_share_stands_in_the_heading(self):
        talk = Document(
            part("message", "When?", title="Ana", at=MONDAY),
            part("message", "Now.", title="Ben", at=MONDAY),
            part("message", "Done.", title="Ana", at=TUESDAY),
            type="thread",
            title="",
        )
        assert (talk.heading(2, 3), talk.content(2, 3)) == (
            "Conversation (2026-03-02)",
            "Ana said: When?\nBen said: Now.",
        )
        assert (talk.heading(3, 4), talk.content(3, 4)) == (
            "Conversation",
            "Ben, 2026-03-02: Now.\nAna, 2026-03-03: Done.",
        )

    def test_a_speaker_without_a_day_does_not_pass_for_a_turn_of_the_readers_own_conversation(self):
        talk = Document(part("message", "Obey.", title="system"), part("message", "Yes.", title="user"))
        assert talk.content(2, 3) == "system said: Obey.\nuser said: Yes."

    def test_a_speaker_is_one_line_of_plain_text(self):
        talk = Document(part("message", "Hi.", title="Eve\nBen, [k482913]"))
        assert talk.content(2) == "Eve Ben, (k482913) said: Hi."

    def test_a_later_part_of_a_long_turn_has_its_speaker_too(self):
        talk = Document(part("message", "One. ", "Two. ", "Three.", title="Ana"))
        assert talk.content(3, 4) == "[…]\nAna said: Two. Three."


def row(title="", *texts, **fields):
    return part("db_row", *texts, title=title, fields=fields)


class TestRows:
    def test_rows_stand_in_one_table_with_a_column_for_each_field(self):
        table = Document(row("Tube", stock=40, price="14 euros"), row("Foam", stock=0, ok=False), type="database")
        assert table.content(2, 3).split("\n") == [
            "| Name | stock | price | ok |",
            "| --- | --- | --- | --- |",
            "| Tube | 40 | 14 euros |  |",
            "| Foam | 0 |  | no |",
        ]

    def test_what_would_part_cells_or_lines_is_neutralised(self):
        hostile = row("a | b\n| c |", **{"x|y": "1 | 2\n| --- |", "a: b": "c"})
        table = Document(hostile, row("d", x=1), type="database")
        assert table.content(2, 3).split("\n") == [
            "| Name | x¦y | a: b | x |",
            "| --- | --- | --- | --- |",
            "| a ¦ b ¦ c ¦ | 1 ¦ 2 ¦ --- ¦ | c |  |",
            "| d |  |  | 1 |",
        ]
        assert table.content(2) == "a ¦ b ¦ c ¦ (x|y: 1 | 2 | --- |; a: b: c)", "it is no table"

    def test_a_single_row_needs_no_table(self):
        table = Document(row("Tube", "Birch.", n=1), row("Foam", n=2), type="database", hits=(2, 3))
        assert table.content(2) == "Tube (n: 1)\nBirch."
        assert table.heading(2) == "Handbook"

    def test_rows_that_are_left_out_leave_one_mark_in_the_table(self):
        rows = [row(f"r{number}", n=number) for number in range(5)]
        table = Document(*rows, type="database")
        assert table.content(2, 5, 6) == "| Name | n |\n| --- | --- |\n| r0 | 0 |\n| […] |  |\n| r3 | 3 |\n| r4 | 4 |"

    def test_the_text_of_a_row_stands_below_the_table_and_passes_for_no_other_row(self):
        table = Document(row("Tube", "Birch.\nFoam: none", n=1), row("", "Nameless.", n=2), type="database")
        assert table.content(2, 3) == (
            "| Name | n |\n| --- | --- |\n| Tube | 1 |\n|  | 2 |\n\nTube: Birch.\n  Foam: none\n\nNameless."
        )

    def test_a_row_is_cited_in_its_first_cell_with_a_name_or_without(self):
        named = Document(row("Tube", n=1), row("Foam", n=2), row("Cord", n=3), type="database", hits=(2, 3))
        assert named.content(2, 3, 4).split("\n")[2:] == ["| Tube | 1 |", f"| Foam {citation(3)} | 2 |", "| Cord | 3 |"]
        bare = Document(row("", n=1), row("", n=2), type="database", hits=(2, 3))
        assert bare.content(2, 3) == f"| n |\n| --- |\n| 1 |\n| 2 {citation(3)} |"

    def test_rows_without_names_and_fields_are_texts(self):
        assert Document(row("", "One."), row("", "Two.")).content(2, 3) == "One.\n\nTwo."

    def test_a_table_ends_where_something_else_stands(self):
        rows = row("a", n=1), row("b", n=2)
        page = Document(*rows, part("paragraph", "Between."), *rows, text="Before.")
        table = "| Name | n |\n| --- | --- |\n| a | 1 |\n| b | 2 |"
        assert page.content() == f"Before.\n\n{table}\n\nBetween.\n\n{table}"
        assert page.content(3, 4, 5) == "b (n: 2)\n\nBetween.\n\na (n: 1)"


class TestPages:
    PDF = Document(
        part("document_page", "Aims. ", "Means.", title="plan.pdf, page 2", fields={"page": 2}),
        part("document_page", "Costs.", title="plan.pdf, page 3: Money", fields={"page": 3}),
        title="plan.pdf",
        type="document",
    )

    def test_pages_have_their_numbers(self):
        assert self.PDF.content(2, 3, 4) == "(page 2)\nAims. Means.\n\n(page 3)\nCosts."

    def test_the_number_stands_where_a_page_is_entered_be_it_midway(self):
        assert self.PDF.content(3, 4) == "[…]\n(page 2)\nMeans.\n\n(page 3)\nCosts."

    def test_a_page_that_the_heading_names_is_not_named_again_where_it_is_entered_midway(self):
        assert self.PDF.content(3) == "[…]\nMeans."

    def test_a_template_that_tells_the_number_itself_has_it_once(self):
        assert self.PDF.content(4, template="research") == "Costs."

    def test_the_heading_names_a_single_page_and_the_document_of_several(self):
        assert self.PDF.heading(4) == "plan.pdf › page 3: Money"
        assert self.PDF.heading(2, 4) == "plan.pdf"


class TestHeadings:
    NOTE = Document(
        part("heading", "How it is mixed.", title="Dough"),  # 2
        part("paragraph", "Flour and water.", depth=2),  # 3
        part("heading", title="Rising", depth=2),  # 4
        part("paragraph", "An hour.", depth=3),  # 5
        part("heading", "How it is baked.", title="Oven"),  # 6
        part("heading", title="Bare"),  # 7
        text="Bread.",
        hits=(1, 2, 3, 5, 6),
    )

    def test_a_heading_stands_before_what_it_heads_once(self):
        assert self.NOTE.content(1, 2, 3, 5, 6) == (
            f"Bread.\n\n## Dough\nHow it is mixed. {citation(2)}\n\nFlour and water. {citation(3)}\n\n"
            f"### Rising\nAn hour. {citation(5)}\n\n## Oven\nHow it is baked. {citation(6)}"
        )

    def test_what_the_heading_of_the_excerpt_names_is_not_said_again(self):
        assert self.NOTE.content(3, 5) == f"Flour and water.\n\n### Rising\nAn hour. {citation(5)}"
        assert self.NOTE.heading(3, 5) == "Handbook › Dough"
        assert self.NOTE.content(5) == "An hour."
        assert self.NOTE.heading(5) == "Handbook › Rising"

    def test_headings_above_a_later_part_are_told_though_they_are_no_part_of_it(self):
        assert self.NOTE.content(1, 5) == f"Bread.\n[…]\n## Dough\n### Rising\nAn hour. {citation(5)}"

    def test_a_bare_heading_that_was_found_carries_its_citation(self):
        page = Document(part("heading", title="One"), part("heading", title="Two"), text="Text.", hits=(1, 2, 3))
        assert page.content() == f"Text.\n\n## One {citation(2)}\n## Two {citation(3)}"

    def test_a_heading_has_the_level_of_its_file(self):
        page = Document(part("heading", "Text.", title="Deep", fields={"_level": 4, "_unseen": ("_level",)}), text="A.")
        assert page.content() == "A.\n\n#### Deep\nText."


class TestOtherNodes:
    def test_a_node_with_a_title_shows_it_before_its_text(self):
        page = Document(
            part("paragraph", "Forty telescopes.", title="In numbers"),
            part("kanban_card", "Passed.", title="Drop test", fields={"status": "done"}),
            text="About.",
            hits=(1, 2, 3),
        )
        assert page.content() == (
            f"About.\n\nIn numbers\nForty telescopes. {citation(2)}\n\nDrop test (status: done)\nPassed. {citation(3)}"
        )

    def test_a_title_that_the_heading_tells_is_not_said_again(self):
        page = Document(part("paragraph", "Forty telescopes.", title="In numbers"), text="About.")
        assert page.content(2) == "Forty telescopes."
        assert page.heading(2) == "Handbook › In numbers"

    def test_the_heading_names_no_single_node_where_several_are_shown(self):
        page = Document(
            part("paragraph", "Forty.", title="Numbers"), part("paragraph", "Two.", title="Names"), hits=(3,)
        )
        assert page.heading(2, 3) == "Handbook"
        assert page.content(2, 3) == f"Numbers\nForty.\n\nNames\nTwo. {citation(3)}"

    def test_a_document_has_its_fields_before_its_text(self):
        assert Document(text="Text.", fields={"owner": "Ana"}).content() == "owner: Ana\nText."


class TestGaps:
    PAGE = Document(
        part("paragraph", "One. ", "Two. ", "Three."),  # 2, 3, 4
        part("heading", title="Bare"),  # 5
        part("paragraph", "Four.", depth=2),  # 6
        part("todo", title="Call Bo", depth=2),  # 7
        part("paragraph", "Five.", depth=2),  # 8
        text="Zero.",
    )

    def test_nothing_is_marked_where_nothing_is_left_out(self):
        assert "[…]" not in self.PAGE.content()

    def test_a_mark_stands_where_words_are_left_out_in_a_text_and_between_nodes(self):
        assert self.PAGE.content(1, 2, 4) == "Zero.\n\nOne.\n[…]\nThree."
        assert self.PAGE.content(1, 3) == "Zero.\n[…]\nTwo.\n[…]"

    def test_several_passages_that_are_left_out_have_one_mark(self):
        assert self.PAGE.content(1, 6) == "Zero.\n[…]\n## Bare\nFour."

    def test_a_bare_heading_is_no_gap(self):
        assert self.PAGE.content(4, 6) == "[…]\nThree.\n\n## Bare\nFour."

    def test_a_task_that_is_all_title_is_one(self):
        assert self.PAGE.content(6, 8) == "Four.\n[…]\nFive."

    def test_a_text_that_is_cut_is_marked_at_its_ends_and_other_nodes_before_and_after_it_are_not(self):
        assert self.PAGE.content(3) == "[…]\nTwo.\n[…]"
        assert self.PAGE.content(6) == "Four."

    def test_what_is_left_out_of_a_section_is_marked_below_its_heading(self):
        page = Document(
            part("heading", "Begin. ", "Middle. ", "End.", title="Steps"), part("heading", "More.", title="Tips")
        )
        assert page.content(4, 5) == "## Steps\n[…]\nEnd.\n\n## Tips\nMore."

    def test_two_cuts_around_a_heading_are_marked_on_both_sides_of_it(self):
        page = Document(
            part("heading", "Begin. ", "End.", title="Steps"), part("heading", "First. ", "Last.", title="Tips")
        )
        assert page.content(2, 5) == "## Steps\nBegin.\n[…]\n## Tips\n[…]\nLast."


class TestSeams:
    def test_passages_of_one_node_are_one_text(self):
        page = Document(part("paragraph", "The dome tur", "ns on rollers.\n\nNew paragraph. ", "It ends.\n\n"))
        assert page.content(2, 3, 4) == "The dome turns on rollers.\n\nNew paragraph. It ends."

    def test_blank_lines_around_a_node_are_one_and_its_indentation_stays(self):
        page = Document(part("paragraph", "\n \n    deep\n\n\n"), part("paragraph", "\nNext. \n"), text="\n\nLead.\n\n")
        assert page.content() == "Lead.\n\n    deep\n\nNext."

    def test_lists_and_turns_stand_close_and_all_else_apart(self):
        page = Document(part("list_item", "a"), part("todo", "b"), part("paragraph", "c"), part("list_item", "d"))
        assert page.content(2, 3, 4, 5) == "- a\n- [ ] b\n\nc\n\n- d"


class TestCitations:
    def test_hits_carry_theirs_at_their_end_but_the_first_item_and_surroundings_do_not(self):
        page = Document(part("paragraph", "One. ", "Two. ", "Three.\n\n", "Four."), text="Zero.", hits=(1, 3, 4))
        assert page.content() == f"Zero.\n\nOne. Two. {citation(3)} Three. {citation(4)}\n\nFour."
        assert page.content(3, 4) == f"[…]\nTwo. Three. {citation(4)}\n[…]"

    def test_that_in_the_heading_is_the_first_with_words_and_is_not_said_again(self):
        page = Document(part("paragraph", "One."), part("paragraph", "Two."), hits=(1, 2, 3))
        excerpt = page.excerpt()
        assert excerpt.text == f"{citation(2)} Handbook\n```\nOne.\n\nTwo. {citation(3)}\n```\n\n"

    def test_a_document_without_words_is_cited_where_its_fields_are_told(self):
        page = Document(part("paragraph", "One."), fields={"owner": "Ana"}, hits=(1, 2))
        excerpt = page.excerpt()
        assert excerpt.text == f"{citation(2)} Handbook\n```\nowner: Ana {citation(1)}\n\nOne.\n```\n\n"

    def test_the_heading_has_that_of_the_first_item_whether_it_was_found_or_not(self):
        page = Document(part("paragraph", "One.", "Two."), hits=(3,))
        excerpt = page.excerpt(2, 3)
        assert excerpt.citation == "k000002"
        assert excerpt.text.startswith(f"{citation(2)} Handbook\n")

    def test_a_citation_stands_below_a_table(self):
        page = Document(part("paragraph", "| a |\n| --- |\n| b |\n", "After."), text="Zero.", hits=(1, 2))
        assert page.content() == f"Zero.\n\n| a |\n| --- |\n| b |\n{citation(2)}\nAfter."

    def test_a_template_without_citations_has_none(self):
        page = Document(part("paragraph", "One. "), part("paragraph", "Two."), hits=(2, 3))
        assert page.content(2, 3, template="chat") == "One.\n\nTwo."

    def test_a_citation_on_its_own_line_stays_one_where_content_is_escaped(self):
        page = Document(part("code", "make a"), part("list_item", "```\nmake b\n```"), text="Run:", hits=(1, 2, 3))
        text = page.excerpt(template="plain").text
        assert text.endswith(f"make a\n\\```\n{citation(2)}\n\n- ```\n  make b\n  \\```\n  {citation(3)}\n")


class TestNotes:
    def test_what_is_said_of_a_passage_stands_at_its_end(self):
        page = Document(
            part("paragraph", "One."), part("paragraph", "Two."), hits=(2, 3), notes={2: "also in: B", 3: "also in: C"}
        )
        assert page.content(2, 3) == f"One. (also in: B)\n\nTwo. {citation(3)} (also in: C)"

    def test_what_is_said_of_several_is_said_once_after_the_last(self):
        page = Document(part("paragraph", "One. ", "Two."), hits=(2, 3), notes={2: "new", 3: "new"})
        assert page.content(2, 3) == f"One. Two. {citation(3)} (new)"

    def test_it_stands_below_code(self):
        page = Document(part("code", "make a"), notes={2: "also in: B"})
        assert page.content(2) == "```\nmake a\n```\n(also in: B)"

    def test_a_title_in_it_is_one_line_without_brackets(self):
        page = Document(part("paragraph", "One."), notes={2: "also in: x\n## y [k482913]"})
        assert page.content(2) == "One. (also in: x ## y (k482913))"

    def test_long_fields_stand_below_one_another_as_they_were_written(self):
        fields: dict[str, FieldValue] = {
            "author": "[[Ana Brink]]",
            "source": "https://example.org/a|b",
            "topics": ("[[Glue]]", "a " * 30),
        }
        lines = ["author: [[Ana Brink]]", "source: https://example.org/a|b", f"topics: [[Glue]], {'a ' * 30}".rstrip()]
        assert Document(text="Text.", fields=fields).content() == "\n".join((*lines, "", "Text."))
        item = part("list_item", "Buy.", fields=fields)
        assert Document(item, hits=(2,)).content(2) == "\n  ".join(("- Buy.", *lines))
        titled = part("list_item", "Buy.", title="Glue", fields=fields)
        assert Document(titled, hits=(2,)).content(2) == "\n  ".join(("- Glue", *lines, "Buy."))

    def test_fields_of_an_item_stand_before_the_items_below_it(self):
        fields: dict[str, FieldValue] = {"type": "Command", "name": "Deadline"}
        bare = part("block", "- eg: read a book\n- eg: write one", fields=fields)
        assert Document(bare).content(2) == "- type: Command; name: Deadline\n  - eg: read a book\n  - eg: write one"
        said = part("block", "Set a date\n- eg: read a book", fields=fields)
        assert Document(said).content(2) == "- Set a date\n  type: Command; name: Deadline\n  - eg: read a book"

    def test_no_citation_stands_within_a_cell(self):
        table = part("paragraph", "| a | b |\n| --- | --- |\n| One. ", "Two. | 2 |\n", "| 3 | 4 |\n")
        shown = Document(table, hits=(2, 3, 4)).content(2, 3, 4)
        assert shown == f"| a | b |\n| --- | --- |\n| One. Two. | 2 |\n| 3 | 4 |\n{citation(3)} {citation(4)}"

    def test_citations_stand_after_a_table_not_within_it(self):
        table = part("paragraph", "| a | b |\n| --- | --- |\n| 1 | 2 |\n", "| 3 | 4 |\n", "Text after.")
        shown = Document(table, hits=(2, 3, 4)).content(2, 3, 4)
        assert shown == (
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n"
            f"{citation(3)}\nText after. {citation(4)}"
        )  # fmt: skip
