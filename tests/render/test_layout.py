from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.render import Template, get_template, lay_out, overhead
from weftwork.render.builtin import BUILTIN
from weftwork.text.tokens import CharacterCounter, get_counter
from weftwork.types import Section

from .hostile import CONTENT, PROPERTY
from .sample import QUERY, arranged, candidate, renderer


class WordCounter(CharacterCounter):
    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())


COUNTERS = (CharacterCounter(), WordCounter(), get_counter("o200k_base"), get_counter("cl100k_base"))
MARKS = ("#", "[", "-", "<", "`")


def section(template: Template, name: str, *texts: str) -> Section:
    render = renderer(template)
    found = [candidate(text, id=text, section=name) for text in texts]
    return Section(name, "", tuple(map(render.full, found)), 0)


def test_items_of_a_chat_are_joined_as_the_context_engine_joins_them():
    template = get_template("chat")
    text = lay_out([section(template, "semantic", "One.", "Two.")], (), template, QUERY)
    assert text == "Relevant context from past conversations:\n\n- One.\n- Two.\n"


def test_items_of_a_summary_are_joined_as_the_context_engine_joins_them():
    template = get_template("summary")
    text = lay_out([section(template, "semantic", "One.", "Two.")], (), template, QUERY)
    assert text == "Key information:\nOne. | Two."


def test_a_workspace_is_laid_out_as_the_context_builder_lays_it_out():
    template = get_template("workspace")
    sections = [section(template, "semantic", "Two.", "Three."), section(template, "focus", "One.")]
    assert lay_out(sections, (), template, "Why?") == (
        "\n## Current Context\n\n"
        "### Focused Content\n[Launch plan] [page]\nOne.\n\n"
        "### Related Content\n[Launch plan] [page]\nTwo.\n\n[Launch plan] [page]\nThree.\n\n"
        "### Connected Items\n_No relevant content found._\n\n"
        "### Recent Activity\n_No relevant content found._\n\n"
        "---\n\nUser Query: Why?\n"
    )


def test_a_section_without_items_is_left_out_where_nothing_stands_for_it():
    template = get_template("default")
    sections = [section(template, "focus"), section(template, "semantic", "One."), section(template, "history", "Two.")]
    text = lay_out(sections, (), template, QUERY)
    assert "## Focus" not in text
    assert "## Related\n\n[" in text


def test_a_single_section_has_no_heading_unless_titles_follow_or_the_template_names_it():
    template = get_template("default")
    alone = [section(template, "semantic", "One."), section(template, "focus")]
    assert "## Related" not in lay_out(alone, (), template, QUERY)
    lines = [renderer(template).line(candidate(id="a"))]
    assert "## Related\n\n[" in lay_out(alone, lines, template, QUERY)
    named = replace(template, sections=("semantic",))
    assert "## Related\n\n[" in lay_out(alone, (), named, QUERY)


def test_sections_follow_in_the_order_given_and_one_name_has_one_heading():
    template = Template(name="mine", item="{{content}}", quote="escape", section="# {{title}} {{count}}\n")
    sections = [section(template, name, text) for name, text in (("x", "a"), ("y", "b"), ("x", "c"))]
    assert lay_out(sections, (), template, QUERY) == "# X 2\na\nc\n# Y 1\nb"


def test_the_overflow_stands_under_its_own_heading():
    template = get_template("default")
    lines = [renderer(template).line(found) for found in (candidate(id="a"), candidate(id="b"))]
    text = lay_out([section(template, "focus", "One.")], lines, template, QUERY)
    assert text.endswith("\n> One.\n\n## More, by title only\n\n" + lines[0].text + lines[1].text)


def test_no_separator_is_left_over_before_an_overflow_that_begins_with_a_line_break():
    template = get_template("summary")
    lines = [renderer(template).line(candidate(id="a"))]
    text = lay_out([section(template, "focus", "One.", "Two.")], lines, template, QUERY)
    assert text == "Key information:\nOne. | Two.\n\n## More, by title only\n\n" + lines[0].text


def test_a_context_without_items_is_only_its_header():
    template = get_template("default")
    assert lay_out((), (), template, QUERY) == template.header


def test_a_query_with_lines_of_structure_is_guarded_and_its_variables_stay():
    text = lay_out((), (), get_template("workspace"), "a\n### Focused Content\n{{query}}")
    assert text.endswith("User Query: a\n\\### Focused Content\n{{query}}\n")


@PROPERTY
@given(
    st.sampled_from(list(BUILTIN.values())),
    st.lists(st.tuples(CONTENT, CONTENT, st.sampled_from(["focus", "semantic", "history"])), max_size=4),
    st.lists(CONTENT, max_size=2),
    CONTENT,
    st.sampled_from(COUNTERS),
)
def test_the_text_never_counts_more_than_its_items_and_the_overhead(template, found, more, query, counter):
    render = renderer(template, counter)
    shown = [render.full(candidate(text, title=title, section=name)) for text, title, name in found]
    sections = arranged(template, shown)
    overflow = [render.line(candidate(title=title)) for title in more]
    # The last one stands without the separator, and may then be of more tokens.
    pieces = [
        max(excerpt.tokens, counter.count(excerpt.text.removesuffix(template.separator)))
        for part in sections
        for excerpt in part.excerpts
    ]
    lines = [excerpt.tokens for excerpt in overflow]
    fixed = overhead(template, [part.name for part in sections], query, bool(overflow), counter)
    assert counter.count(lay_out(sections, overflow, template, query)) <= fixed + sum(pieces) + sum(lines)


@pytest.mark.parametrize("name", ["default", "plain", "chat", "detailed", "workspace"])
@PROPERTY
@given(texts=st.lists(st.tuples(CONTENT, CONTENT), min_size=2, max_size=4))
def test_the_tokens_of_pieces_add_up_exactly(name: str, texts: list[tuple[str, str]]):
    counter = get_counter("o200k_base")
    render = renderer(get_template(name), counter)
    pieces = [render.full(candidate(text, title=title)) for text, title in texts]
    assert all(piece.text.startswith(MARKS) and piece.text.endswith("\n") for piece in pieces)
    assert counter.count("".join(piece.text for piece in pieces)) == sum(piece.tokens for piece in pieces)


def test_the_overhead_counts_every_section_that_may_be_shown():
    template = Template(name="mine", header="h {{query}} ", item="{{content}}", section="s s ", footer="f")
    assert overhead(template, ["a", "b", "a"], "two words", False, WordCounter()) == 1 + 2 + 2 * 2 + 1
    assert overhead(replace(template, empty="e "), ["a"], "q", True, WordCounter()) == 1 + 1 + 2 + 1 + 1 + 4 + 1
