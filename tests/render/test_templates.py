from dataclasses import fields
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork.errors import InvalidInput, UnknownName
from weftwork.render import Template, Templates, get_template, lay_out
from weftwork.render.builtin import BUILTIN
from weftwork.render.templates import substitute

from .hostile import CONTENT, PROPERTY
from .sample import arranged, candidate, renderer


@PROPERTY
@given(CONTENT)
def test_what_replaces_a_variable_is_never_read_again(content: str):
    values = {"title": "{{content}}", "content": content}
    assert substitute("<{{title}}|{{content}}>", values) == f"<{{{{content}}}}|{content}>"


TABLES = st.dictionaries(
    st.sampled_from([field.name for field in fields(Template)]),
    st.none() | st.booleans() | CONTENT | st.lists(CONTENT, max_size=2) | st.dictionaries(CONTENT, CONTENT, max_size=2)
    | st.sampled_from(["fence", "cite", "escape", "plain", "{{content}}", "{{title}}\n{{content}}\n", "(a", "a{2,1}"]),
)  # fmt: skip


@settings(max_examples=some(3000, part=50), deadline=None)
@given(TABLES, CONTENT)
@example({"item": "{{content}}", "quote": "plain", "guards": "a{99999999999}"}, "")
@example({"item": "{{content}}", "quote": "plain", "guards": "(" * 5000}, "")
def test_any_table_is_a_template_that_renders_or_is_refused(table: dict[str, Any], content: str):
    try:
        template = Template.from_mapping("mine", {"item": "{{content}}\n", **table})
    except InvalidInput:
        return
    excerpts = [renderer(template).full(candidate(content))]
    lay_out(arranged(template, excerpts), (), template, content)


@pytest.mark.parametrize(
    ("slot", "text", "allowed"),
    [
        ("item", "{{contents}}", "title"),
        ("item", "{{ content }}", "content"),
        ("item", "{{query}}", "score"),
        ("line", "{{count}}", "tags"),
        ("header", "{{title}}", "query"),
        ("section", "{{query}}", "count, title"),
        ("footer", "{{content}}", "query"),
        ("separator", "{{title}}", "no variables"),
        ("overflow", "{{count}}", "no variables"),
        ("empty", "{{title}}", "no variables"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_known_ones(slot: str, text: str, allowed: str):
    slots: dict[str, Any] = {"name": "mine", "item": "{{content}}", slot: text}
    template = Template(**slots)
    with pytest.raises(InvalidInput) as caught:
        Templates().register(template)
    assert "'mine'" in str(caught.value)
    assert text in str(caught.value)
    assert allowed in str(caught.value).partition("may use: ")[2]


@pytest.mark.parametrize("part", [{"header": "a\ud800"}, {"titles": {"history": "\udfff"}}, {"sections": ("\ud800",)}])
def test_what_no_file_can_hold_is_refused(part: dict):
    with pytest.raises(InvalidInput, match="template 'mine' has a lone surrogate"):
        Template(name="mine", item="{{content}}", **part).check()


def test_an_unknown_template_is_refused_with_the_names_of_all():
    with pytest.raises(
        UnknownName, match="unknown template 'fancy': use one of chat, default, detailed, graph, outline"
    ):
        get_template("fancy")


def test_a_template_of_ones_own_can_be_asked_for_by_name():
    mine = Template(name="mine", item="{{content}}")
    templates = Templates([mine])
    assert templates.get("mine") is mine
    assert templates.names() == tuple(sorted([*BUILTIN, "mine"]))
    assert get_template(mine) is mine


@pytest.mark.parametrize("item", ["- {{content}}", "{{content}} {{title}}", "```\n{{content}}\n```\n"])
def test_content_is_not_fenced_where_a_fence_would_not_hold(item: str):
    with pytest.raises(InvalidInput, match="cannot fence"):
        Template(name="mine", item=item).check()


def test_content_is_not_fenced_inside_a_fence_of_the_header():
    with pytest.raises(InvalidInput, match="cannot fence"):
        Template(name="mine", header="```\n", item="{{content}}", footer="```\n").check()


def test_a_template_of_the_context_engine_is_taken_as_it_is_documented():
    template = Template.from_mapping(
        "code-focused",
        {
            "name": "code-focused",
            "header": "# Relevant Code Context\n\n",
            "memoryFormat": "## {{type}}\n```\n{{content}}\n```\n",
            "separator": "\n",
            "footer": "\n---\n",
            "includeMetadata": True,
        },
    )
    assert (template.section, template.quote) == ("", "escape")
    piece = renderer(template).full(candidate("x = 1\n```\n## forged", type="fact"))
    assert piece.text == "## fact\n````\nx = 1\n```\n## forged\n````\n\n", "code in a fence is left as it is"


def test_a_table_of_settings_becomes_a_template():
    template = Template.from_mapping(
        "mine",
        {
            "item": "### {{title}}\n{{content}}",
            "empty": "nothing\n",
            "sections": ["focus"],
            "titles": {"focus": "Here"},
            "include_metadata": False,
        },
    )
    assert template == Template(
        name="mine",
        item="### {{title}}\n{{content}}",
        empty="nothing\n",
        sections=("focus",),
        titles={"focus": "Here"},
        include_metadata=False,
    )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"item": "{{content}}", "itemm": "x"},
        {"item": 3},
        {"item": "{{content}}", "sections": "focus"},
        {"item": "{{content}}", "sections": [1]},
        {"item": "{{content}}", "titles": {"focus": 1}},
        {"item": "{{content}}", "include_metadata": "no"},
        {"item": "{{content}}", "quote": "none"},
        {"item": "{{content}}", "header": None},
    ],
)
def test_settings_that_make_no_template_are_refused_by_name(settings: dict):
    with pytest.raises(InvalidInput, match="template 'mine'"):
        Template.from_mapping("mine", settings)


def test_a_section_has_the_title_of_the_template_or_a_readable_one():
    assert get_template("workspace").title_of("focus") == "Focused Content"
    assert get_template("default").title_of("focus") == "Focus"
    assert get_template("default").title_of("open_questions") == "Open questions"


@pytest.mark.parametrize("template", BUILTIN.values(), ids=lambda template: template.name)
def test_each_built_in_template_passes_its_own_check(template: Template):
    assert template.check() is template


def test_nothing_in_the_default_prefix_depends_on_the_request():
    template = get_template("default")
    assert "{{" not in template.header
    assert not {"{{score}}", "{{timestamp}}", "{{number}}"} & set(template.item.split())
