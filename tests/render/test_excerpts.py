"""Excerpts as a template shows them: their heading line, their fields, and what they count."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from weftwork.render import FieldChoice, Template, get_template
from weftwork.text.tokens import get_counter
from weftwork.types import FieldValue, Reach, Step

from .documents import Document, citation, part
from .sample import candidate, renderer

COUNTER = get_counter()


def shown(item: str, **about) -> str:
    """What an item template of one's own shows of a candidate."""
    template = Template(name="mine", item=item, separator="", quote="escape")
    return renderer(template).full(candidate(**about)).text


class TestHeading:
    def test_an_excerpt_has_its_citation_and_name_before_its_quoted_content(self):
        found = candidate(
            "Text", title="Plan", tags=("#q3",), fields={"b": True, "a": 1.5, "none": None, "c": ("x", "y")}
        )
        excerpt = renderer(get_template("default")).full(found)
        assert excerpt.text == f"[{found.passage.citation}] Plan\n```\nb: yes; a: 1.5; c: x, y\nText\n```\n\n"
        assert (excerpt.form, excerpt.truncated, excerpt.note) == ("hits", False, "")

    def test_content_of_one_line_is_behind_a_mark_and_of_several_between_fences(self):
        one, two = candidate("One.", title="A"), candidate("One.\u2028Two.", title="A")
        render = renderer(get_template("default"))
        assert render.full(one).text == f"[{one.passage.citation}] A\n> One.\n\n"
        assert render.full(two).text == f"[{two.passage.citation}] A\n```\nOne.\nTwo.\n```\n\n"

    def test_folders_above_a_document_are_named_after_it(self):
        assert Document(text="A.", title="Plan", trail=("Apollo", "Projects")).heading() == "Plan · Projects/Apollo"
        assert Document(text="A.", title="Plan", trail=("Apollo",)).heading() == "Plan"

    def test_a_note_called_by_its_file_goes_by_its_first_heading(self):
        note = Document(
            part("heading", "Settings.", title="GitHub Pages"),
            part("heading", "Run it.", title="Locally", depth=2),
            title="publish-to-github-pages",
            trail=("publishing", "user"),
            source="user/publishing/publish-to-github-pages.md",
        )
        where = "user/publishing/publish-to-github-pages"
        assert note.heading(2, 3) == f"GitHub Pages · {where}"
        assert note.heading(3) == f"GitHub Pages › Locally · {where}"

    def test_a_heading_that_repeats_the_name_of_its_page_is_not_said_twice(self):
        assert Document(part("heading", "Text.", title="Hand-book!")).heading(2) == "Hand-book!"

    def test_a_conversation_has_its_day_and_what_no_longer_holds_its_end(self):
        talk = candidate("Hi.", type="thread", title="Talk", created_at=datetime(2026, 3, 12, tzinfo=UTC))
        assert "] Talk (2026-03-12)\n" in renderer(get_template("default")).full(talk).text
        until = datetime(2026, 4, 1, tzinfo=UTC)
        old = replace(talk, node=replace(talk.node, type="page", valid_until=until))
        assert "] Talk (valid until: 2026-04-01T00:00:00Z)\n" in renderer(get_template("default")).full(old).text

    def test_type_tags_score_and_route_are_told_on_request(self):
        found = candidate("Text.", title="Plan", tags=("q3", "to do"), score=0.456)
        found = replace(found, path=(Step("child", "out", "b"),), reached=(Reach("x", "a", 1),))
        asked = FieldChoice(details=frozenset({"type", "tags", "score", "route"}))
        text = renderer(get_template("default"), fields=asked).full(found).text
        assert "] Plan (page; #q3 #to-do; score 0.46; from a → child b)\n" in text
        assert "] Plan\n" in renderer(get_template("default")).full(found).text

    def test_a_document_without_a_title_goes_by_its_file_or_by_what_it_stands_in(self):
        assert shown("{{title}}{{path}}", title="", trail=("Apollo", "Projects")) == "n1.md in Projects > Apollo"
        assert Document(text="A.", title="", trail=("Apollo", "Projects", "Work")).heading() == "Apollo · Work/Projects"
        assert Document(text="A.", title="\u200b").heading() == "Untitled"
        assert Document(text="A.", title="", type="memory").heading() == "Memory"

    def test_a_path_does_not_say_again_what_the_title_says(self):
        assert shown("{{title}}{{path}}", title="Plan", trail=("", "Apollo", "Projects")) == "Plan in Projects > Apollo"
        assert shown("{{title}}{{path}}", title="Plan") == "Plan"
        template = Template(name="mine", item="{{title}}{{path}}", separator="", quote="escape")
        below = Document(part("heading", "Text.", title="Means"), trail=("Apollo",))
        assert below.excerpt(2, template=template).text == "Means in Apollo > Handbook"

    def test_a_page_without_any_name_has_no_brackets(self):
        template = Template(name="mine", item="{{page}}[{{type}}]", separator="", quote="escape")
        assert Document(title="").excerpt(template=template).text == "[page]"
        assert Document(title="Plan").excerpt(template=template).text == "[Plan] [page]"


class TestVariables:
    def test_the_way_from_the_start_and_a_heading_by_distance_are_shown(self):
        steps = (Step("child", "out", "b"), Step("field", "in", "c", "owner"))
        reached = replace(candidate(), distance=2, path=steps, reached=(Reach("x", "a", 2),))
        template = Template(name="mine", item="{{heading}}{{route}}", separator="", quote="escape")
        assert renderer(template).full(reached).text == "#### | from a → child b ← field (owner) c"
        assert renderer(template).full(candidate()).text == "##"
        assert renderer(template).full(replace(reached, distance=5)).text.startswith("###### |")

    def test_a_confidence_is_short_a_score_has_two_decimals_and_a_time_is_in_utc(self):
        zone = timezone(timedelta(hours=2))
        item = "{{confidence}} {{score}} {{timestamp}} {{content}}"
        text = shown(item, confidence=0.9, score=0.456, created_at=datetime(2025, 1, 1, 1, 30, tzinfo=zone))
        assert text == "0.9 0.46 2024-12-31T23:30:00Z The launch is on Monday."

    def test_a_time_without_a_zone_is_taken_as_utc(self):
        assert shown("{{timestamp}}", created_at=datetime(2025, 1, 1)) == "2025-01-01T00:00:00Z"
        assert shown("{{timestamp}}", created_at=datetime(2025, 1, 1, tzinfo=UTC)) == "2025-01-01T00:00:00Z"

    def test_what_is_not_known_is_said_to_be_unknown(self):
        assert shown("{{confidence}} {{timestamp}}", confidence=None, created_at=None) == "unknown unknown"
        assert shown("{{confidence}}", confidence=0.0) == "0"

    def test_a_number_that_is_not_given_yet_takes_as_much_room_as_any(self):
        template = Template(name="mine", item="[Document {{number}}: {{title}}]\n{{content}}", quote="escape")
        render = renderer(template, COUNTER)
        assert render.full(candidate(), 7).text.startswith("[Document 7: Launch plan]\n")
        assert all(render.full(candidate(), n).tokens <= render.full(candidate()).tokens for n in (1, 42, 999))

    def test_a_number_is_set_into_a_finished_excerpt(self):
        template = Template(name="mine", item="[{{number}}] {{citation}}\n{{content}}", quote="cite")
        page = Document(part("paragraph", "One. ", "Two."), hits=(2, 3))
        numbered = page.renderer(template).numbered(page.offer, page.excerpt(2, 3, template=template), 7)
        assert numbered == page.renderer(template).excerpt(page.offer, (2, 3), "hits", 7)
        assert numbered.text == f"[7] {citation(2)}\n> One. Two. {citation(3)}\n\n"
        plain = page.excerpt(2, 3)
        assert page.renderer().numbered(page.offer, plain, 7) is plain

    def test_the_type_is_that_of_what_was_asked_for_or_else_of_the_best_hit(self):
        page = Document(part("paragraph", "One."), part("todo", "Two."), part("code", "x"), hits={3: 0.9, 4: 0.5})
        template = Template(name="mine", item="{{type}}", separator="", quote="escape")
        assert page.excerpt(2, 3, 4, template=template).text == "todo"
        assert page.excerpt(2, template=template).text == "paragraph"
        page.known[4] = replace(page.known[4], asked=True)
        assert page.excerpt(2, 3, 4, template=template).text == "code"

    def test_tags_are_those_of_the_only_node_or_of_the_document(self):
        page = Document(part("paragraph", "One."), part("todo", "Two."), hits=(2, 3))
        for key, tag in ((2, "b"), (3, "c")):
            page.known[key] = replace(page.known[key], node=replace(page.known[key].node, tags=(tag,)))
        template = Template(name="mine", item="{{tags}}", separator="", quote="escape")
        assert page.excerpt(3, template=template).text == " #c"
        assert page.excerpt(2, 3, template=template).text == ""

    def test_a_template_without_metadata_shows_none(self):
        item = "{{title}}{{path}}{{tags}}{{fields}}{{route}}"
        template = Template(name="mine", item=item, include_metadata=False, separator="")
        found = candidate(trail=("Apollo",), tags=("q3",), fields={"a": 1})
        assert renderer(template).full(found).text == "Launch plan"
        told = renderer(replace(template, include_metadata=True)).full(found).text
        assert told == "Launch plan in Apollo #q3 | a: 1"

    def test_an_item_without_its_content_is_priced_and_shown_without_it(self):
        page = Document(part("list_item", "One.", title="Item"), text="Lead.", hits=(2,))
        render = page.renderer("outline")
        assert render.excerpt(page.offer, (2,), "hits").text == "- Item (list_item) [k000002]\n"
        assert render.part_tokens(page.offer, (1, 2)) == 0
        assert render.heading_tokens(page.offer) == COUNTER.count("- Item (list_item) [k000002]\n") - 1


class TestFields:
    def test_chosen_fields_come_first_and_stay_where_others_are_left_out(self):
        fields: dict[str, FieldValue] = {"b": True, "Status": "open", "a": 1.5, "due": None}
        template = Template(name="mine", item="{{fields}}", separator="", quote="escape")
        texts = [
            renderer(template, fields=FieldChoice(show, ("status", "due"))).full(candidate("", fields=fields)).text
            for show in (True, False)
        ]
        assert texts == [" | Status: open; b: yes; a: 1.5", " | Status: open"]
        bare = renderer(get_template("plain"), fields=FieldChoice(show=False))
        assert bare.full(candidate("", title="Plan", fields=fields)).text.strip().endswith("Plan:")

    def test_many_fields_are_cut_short_and_it_is_said(self):
        text = shown("{{fields}}", fields={f"f{number:02}": number for number in range(23)})
        assert text.endswith("f19: 19; 3 more")

    @pytest.mark.parametrize(
        ("name", "ending"),
        [
            ("default", "] Call Bo\n> status: open\n\n"),
            ("plain", "] Call Bo: status: open\n"),
            ("chat", "- Call Bo (status: open)\n"),
            ("workspace", "[Call Bo] [page]\nstatus: open\n\n"),
            ("graph", "]\n> status: open\n\n"),
        ],
    )
    def test_a_node_without_text_shows_its_title_and_fields_once(self, name: str, ending: str):
        found = candidate(" \n", title="Call Bo", fields={"status": "open"})
        text = renderer(get_template(name)).full(found).text
        assert text.endswith(ending)
        assert (text.count("Call Bo"), text.count("status: open")) == (1, 1)

    def test_fields_can_stand_before_the_text_where_no_variable_shows_them(self):
        def text(**more) -> str:
            values = {"name": "mine", "item": "{{title}}\n{{content}}", "separator": "", "quote": "escape", **more}
            return renderer(Template(**values)).full(candidate("Text", title="T", fields={"due": "2026-03-10"})).text

        assert text(fields_first=True) == "T\ndue: 2026-03-10\nText"
        assert text() == "T\nText"
        assert text(fields_first=True, item="{{title}}{{fields}}\n{{content}}") == "T | due: 2026-03-10\nText"

    def test_fields_stand_before_the_first_part_of_a_long_text_alone(self):
        found = candidate("Text", title="T", fields={"due": "2026-03-10"})
        later = replace(found, passage=replace(found.passage, ordinal=1))
        assert renderer(get_template("workspace")).full(later).text == "[T] [page]\n[…]\nText\n\n"

    def test_a_field_that_looks_like_structure_is_guarded(self):
        found = candidate("Text", title="T", fields={"user": "obey"})
        assert renderer(get_template("workspace")).full(found).text == "[T] [page]\n\\user: obey\nText\n\n"


class TestQuoting:
    def test_blank_lines_around_content_are_left_out_and_its_indentation_stays(self):
        assert shown("{{content}}", text="\n \n    code\n\nmore\n\n") == "    code\n\nmore"

    def test_content_cannot_forge_the_separator_between_items(self):
        assert renderer(get_template("summary")).full(candidate("a | b")).text == "a \\| b | "

    @pytest.mark.parametrize(
        ("separator", "footer", "shown"), [("\n", "\nEnd", "```\nx\n```"), ("\n", "End", "\\```\nx\n\\```")]
    )
    def test_content_keeps_its_fence_only_where_nothing_can_follow_on_its_last_line(self, separator, footer, shown):
        template = Template(name="mine", item="{{content}}", separator=separator, footer=footer, quote="escape")
        assert renderer(template).full(candidate("```\nx\n```")).text == shown + separator

    def test_the_lines_of_a_point_in_a_list_hang_under_it(self):
        assert renderer(get_template("chat")).full(candidate("a\n\n- b\n# c")).text == "- a\n\n  - b\n  \\# c\n"


class TestCounting:
    def test_the_tokens_of_an_excerpt_are_those_of_its_text(self):
        long = " ".join(f"Sentence {number} says a little more about it." for number in range(60))
        render = renderer(get_template("default"), COUNTER)
        for excerpt in (render.full(candidate()), render.line(candidate()), render.shorten(candidate(long), 80)):
            assert excerpt.tokens == COUNTER.count(excerpt.text) > 0

    def test_an_excerpt_holds_the_passages_in_reading_order_with_their_own_words(self):
        page = Document(part("paragraph", "One [k482913]. ", "Two."), text="Zero.", hits=(3,))
        excerpt = page.excerpt(3, 1, 2)
        assert [(item.text, item.hit) for item in excerpt.items] == [
            ("Zero.", False),
            ("One [k482913]. ", False),
            ("Two.", True),
        ]
        assert excerpt.score == page.known[3].score


class TestLines:
    def test_a_line_has_title_type_tags_and_citation(self):
        found = candidate(title="Plan", tags=("q3",))
        line = renderer(get_template("default")).line(found)
        assert line.text == f"- Plan (page) #q3 [{found.passage.citation}]\n"
        assert (line.form, line.content, line.citation) == ("line", "", found.passage.citation)

    def test_a_line_is_about_the_best_that_was_found(self):
        page = Document(part("todo", "At noon.", title="Call Bo"), text="Lead.", hits={1: 0.2, 2: 0.8})
        assert page.renderer().line(page.offer).text == f"- Call Bo (todo) {citation(2)}\n"

    def test_content_in_a_line_is_inlined(self):
        template = Template(name="mine", item="{{content}}", line="- {{content}}\n")
        assert renderer(template).line(candidate("a\n## [b]")).text == "- a ## (b)\n"


def test_a_template_that_cannot_be_rendered_is_refused_before_the_first_item():
    with pytest.raises(ValueError, match="nonsense"):
        renderer(Template(name="mine", item="{{nonsense}}"), COUNTER)
