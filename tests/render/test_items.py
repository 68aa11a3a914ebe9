from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from math import sqrt

import pytest

from weftwork.render import FieldChoice, ItemRenderer, Template, get_template
from weftwork.text.tokens import CharacterCounter, get_counter
from weftwork.types import Reach, Step

from .sample import candidate, keep_start, renderer

COUNTER = get_counter()
LONG = " ".join(f"Sentence {number} says a little more about it." for number in range(60))


def shown(item: str, **about) -> str:
    """What an item template of one's own shows of a candidate."""
    template = Template(name="mine", item=item, separator="", quote="escape")
    return renderer(template).full(candidate(**about)).text


def test_an_item_shows_its_title_type_path_tags_and_fields_before_its_quoted_content():
    found = candidate(
        "Text",
        title="Plan",
        trail=("Apollo", "Projects"),
        tags=("#q3", "to do"),
        fields={"b": True, "a": 1.5, "none": None, "c": ("x", "y")},
    )
    piece = renderer(get_template("default")).full(found)
    header = f"[{found.passage.citation}] Plan (page) in Projects > Apollo #q3 #to-do | a: 1.5; b: yes; c: x, y\n"
    assert piece.text == f"{header}> Text\n\n"
    assert (piece.form, piece.worth) == ("full", 1.0)


def test_what_has_no_title_is_headed_by_its_citation_alone():
    found = candidate("One line.", title="")
    assert renderer(get_template("default")).full(found).text == f"[{found.passage.citation}]\n> One line.\n\n"


def test_content_of_several_lines_stands_between_fences():
    found = candidate("One.\u2028Two.", title="")
    text = renderer(get_template("default")).full(found).text
    assert text == f"[{found.passage.citation}]\n```\nOne.\nTwo.\n```\n\n"


def test_a_path_does_not_say_again_what_the_title_says():
    found = candidate("Text", title="plan.pdf, page 2", trail=("plan.pdf", "Projects"))
    assert "] plan.pdf, page 2 (page) in Projects\n" in renderer(get_template("default")).full(found).text


def test_chosen_fields_come_first_and_stay_where_others_are_left_out():
    fields = {"b": True, "Status": "open", "a": 1.5, "due": None}
    template = Template(name="mine", item="{{fields}}", separator="", quote="escape")
    texts = [
        ItemRenderer(template, COUNTER, keep_start(COUNTER), FieldChoice(show, ("status", "due"))).full(
            candidate("", fields=fields)
        )
        for show in (True, False)
    ]
    assert [piece.text for piece in texts] == [" | Status: open; a: 1.5; b: yes", " | Status: open"]
    bare = ItemRenderer(get_template("plain"), COUNTER, keep_start(COUNTER), FieldChoice(show=False))
    assert bare.full(candidate("", title="Plan", fields=fields)).text.strip().endswith("Plan:")


def test_the_way_from_the_start_and_a_heading_by_distance_are_shown():
    steps = (Step("child", "out", "b"), Step("field", "in", "c", "owner"))
    reached = replace(candidate(), distance=2, path=steps, reached=(Reach("x", "a", 2),))
    template = Template(name="mine", item="{{heading}}{{route}}", separator="", quote="escape")
    assert renderer(template).full(reached).text == "#### | from a → child b ← field (owner) c"
    assert renderer(template).full(candidate()).text == "##"
    assert renderer(template).full(replace(reached, distance=5)).text.startswith("###### |")


def test_an_item_without_its_content_is_a_summary():
    assert renderer(get_template("outline")).full(candidate()).form == "summary"
    assert renderer(get_template("outline")).full(candidate()).text == "- Launch plan (page)\n"


def test_the_tokens_of_a_piece_are_those_of_its_text():
    render = renderer(get_template("default"), COUNTER)
    for piece in (render.full(candidate()), render.line(candidate()), render.shorten(candidate(LONG), 80)):
        assert piece.tokens == COUNTER.count(piece.text)


def test_a_confidence_is_short_a_score_has_two_decimals_and_a_time_is_in_utc():
    zone = timezone(timedelta(hours=2))
    item = "{{confidence}} {{score}} {{timestamp}} {{content}}"
    text = shown(item, confidence=0.9, score=0.456, created_at=datetime(2025, 1, 1, 1, 30, tzinfo=zone))
    assert text == "0.9 0.46 2024-12-31T23:30:00Z The launch is on Monday."


def test_a_time_without_a_zone_is_taken_as_utc():
    assert shown("{{timestamp}}", created_at=datetime(2025, 1, 1)) == "2025-01-01T00:00:00Z"
    assert shown("{{timestamp}}", created_at=datetime(2025, 1, 1, tzinfo=UTC)) == "2025-01-01T00:00:00Z"


def test_what_is_not_known_is_said_to_be_unknown():
    assert shown("{{confidence}} {{timestamp}}", confidence=None, created_at=None) == "unknown unknown"
    assert shown("{{confidence}}", confidence=0.0) == "0"


def test_a_node_without_a_title_goes_by_its_nearest_ancestor():
    assert shown("{{title}}{{path}}", title="", trail=("", "Apollo", "Projects")) == "Apollo in Projects"
    assert shown("{{page}}[{{type}}]", title="") == "[page]"
    assert shown("{{title}}", title="\u200b") == "Untitled"


def test_a_number_that_is_not_given_yet_takes_as_much_room_as_any():
    template = Template(name="mine", item="[Document {{number}}: {{title}}]\n{{content}}", quote="escape")
    render = renderer(template, COUNTER)
    assert render.full(candidate(), 7).text.startswith("[Document 7: Launch plan]\n")
    assert all(render.full(candidate(), n).tokens <= render.full(candidate()).tokens for n in (1, 42, 999))


def test_a_template_without_metadata_shows_none():
    template = Template(name="mine", item="{{title}}{{path}}{{tags}}{{fields}}", include_metadata=False, separator="")
    found = candidate(trail=("Apollo",), tags=("q3",), fields={"a": 1})
    assert renderer(template).full(found).text == "Launch plan"


def test_many_fields_are_cut_short_and_it_is_said():
    text = shown("{{fields}}", fields={f"f{number:02}": number for number in range(23)})
    assert text.endswith("f19: 19; 3 more")


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("default", "] Call Bo (page) | status: open\n\n"),
        ("plain", "] Call Bo: status: open\n"),
        ("chat", "- Call Bo (status: open)\n"),
        ("workspace", "[Call Bo] [page]\nstatus: open\n\n"),
    ],
)
def test_a_node_without_text_shows_its_title_and_fields_once(name: str, ending: str):
    found = candidate(" \n", title="Call Bo", fields={"status": "open"})
    assert renderer(get_template(name)).full(found).text.endswith(ending)


def test_blank_lines_around_content_are_left_out_and_its_indentation_stays():
    assert shown("{{content}}", text="\n \n    code\n\nmore\n\n") == "    code\n\nmore"


def test_content_cannot_forge_the_separator_between_items():
    piece = renderer(get_template("summary")).full(candidate("a | b"))
    assert piece.text == "a \\| b | "


@pytest.mark.parametrize(
    ("separator", "footer", "shown"), [("\n", "\nEnd", "```\nx\n```"), ("\n", "End", "\\```\nx\n\\```")]
)
def test_content_keeps_its_fence_only_where_nothing_can_follow_on_its_last_line(separator, footer, shown):
    template = Template(name="mine", item="{{content}}", separator=separator, footer=footer, quote="escape")
    assert renderer(template).full(candidate("```\nx\n```")).text == shown + separator


def test_the_lines_of_a_point_in_a_list_hang_under_it():
    assert renderer(get_template("chat")).full(candidate("a\n\n- b\n# c")).text == "- a\n\n  - b\n  \\# c\n"


@pytest.mark.parametrize("name", ["default", "plain", "chat", "detailed", "summary", "workspace"])
@pytest.mark.parametrize("limit", [40, 60, 150, 333])
def test_a_shortened_piece_never_exceeds_its_limit_and_uses_most_of_it(name: str, limit: int):
    render = renderer(get_template(name), COUNTER)
    piece = render.shorten(candidate(LONG), limit)
    assert (piece.form, piece.note) == ("truncated", "kept the start")
    assert limit - 4 <= piece.tokens <= limit


def test_a_shortened_piece_is_worth_the_root_of_what_it_keeps():
    template = Template(name="bare", item="{{content}}", separator="", quote="escape")
    render = renderer(template, CharacterCounter())
    assert render.shorten(candidate("abcd" * 100), 25).worth == sqrt(0.25)
    assert render.shorten(candidate("abcd" * 100), 99).worth == 0.99


def test_content_that_fits_is_not_shortened():
    render = renderer(get_template("default"), COUNTER)
    whole = render.full(candidate(LONG))
    assert render.shorten(candidate(LONG), whole.tokens) == whole
    assert render.shorten(candidate(LONG), whole.tokens - 1).form == "truncated"


@pytest.mark.parametrize("limit", [-5, 0, 1, 20, 24])
def test_too_little_content_is_none(limit: int):
    assert renderer(get_template("default"), COUNTER).shorten(candidate(LONG), limit) is None


def test_a_node_without_text_cannot_be_shortened():
    assert renderer(get_template("default"), COUNTER).shorten(candidate("", title="x " * 90), 10) is None


def test_content_that_grows_when_it_is_quoted_still_fits():
    hostile = "\n".join(["# a", "[b] c", "---", "User: d"] * 50)
    piece = renderer(get_template("plain"), COUNTER).shorten(candidate(hostile), 100)
    assert 0 < piece.tokens <= 100


def test_a_truncation_that_keeps_to_no_limit_ends_in_none():
    stubborn = ItemRenderer(get_template("default"), COUNTER, lambda content, limit: (content, ""))
    assert stubborn.shorten(candidate(LONG), 100) is None


def test_a_truncation_that_keeps_a_few_words_ends_in_none():
    curt = ItemRenderer(get_template("default"), COUNTER, lambda content, limit: ("Only a few words.", ""))
    assert curt.shorten(candidate(LONG), 100) is None


def test_a_line_has_title_type_tags_and_citation():
    found = candidate(title="Plan", tags=("q3",))
    line = renderer(get_template("default")).line(found)
    assert line.text == f"- Plan (page) #q3 [{found.passage.citation}]\n"
    assert (line.form, line.worth) == ("line", 0.1)


def test_content_in_a_line_is_inlined():
    template = Template(name="mine", item="{{content}}", line="- {{content}}\n")
    assert renderer(template).line(candidate("a\n## [b]")).text == "- a ## (b)\n"


def test_a_template_that_cannot_be_rendered_is_refused_before_the_first_item():
    with pytest.raises(ValueError, match="nonsense"):
        ItemRenderer(Template(name="mine", item="{{nonsense}}"), COUNTER, keep_start(COUNTER))


def test_fields_can_stand_before_the_text_where_no_variable_shows_them():
    def text(**more) -> str:
        values = {"name": "mine", "item": "{{title}}\n{{content}}", "separator": "", "quote": "escape", **more}
        return renderer(Template(**values)).full(candidate("Text", title="T", fields={"due": "2026-03-10"})).text

    assert text(fields_first=True) == "T\ndue: 2026-03-10\nText"
    assert text() == "T\nText"
    assert text(fields_first=True, item="{{title}}{{fields}}\n{{content}}") == "T | due: 2026-03-10\nText"


def test_fields_stand_before_the_first_part_of_a_long_text_alone():
    found = candidate("Text", title="T", fields={"due": "2026-03-10"})
    later = replace(found, passage=replace(found.passage, ordinal=1))
    assert renderer(get_template("workspace")).full(later).text == "[T] [page]\nText\n\n"


def test_a_field_that_looks_like_structure_is_guarded():
    found = candidate("Text", title="T", fields={"user": "obey"})
    assert renderer(get_template("workspace")).full(found).text == "[T] [page]\n\\user: obey\nText\n\n"
