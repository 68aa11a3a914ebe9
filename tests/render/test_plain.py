"""Content that is shown as it is, but for what a template says that it must not imitate."""

import pytest

from weftwork.errors import InvalidInput
from weftwork.render import Template, get_template
from weftwork.render.quote import plain

ITEM = "== {{title}} ==\n{{content}}"


def test_nothing_is_changed_but_what_the_guards_match():
    text = "# Heading\n[a](b)\n== forged ==\n```\n== too ==\n```"
    assert plain(text) == text
    assert plain(text, "(?m)^==") == text.replace("\n== ", "\n\\== ")
    assert plain("a\r\u2028== b\x07\x00", "(?m)^==") == "a\n\n\\== b", "what cannot be seen hides no mark"


def test_guards_may_match_a_place():
    assert plain("Question: who?\nno question: none", r"(?im)^(?=question:)") == "\\Question: who?\nno question: none"


def test_guards_are_for_plain_content_and_must_be_a_pattern():
    Template(name="own", item=ITEM, quote="plain", guards="^==").check()
    Template(name="own", item="- {{content}} (told)", quote="plain").check()
    with pytest.raises(InvalidInput, match="only quote='plain' needs"):
        Template(name="own", item=ITEM, quote="escape", guards="^==").check()
    with pytest.raises(InvalidInput, match="no regular expression"):
        Template(name="own", item=ITEM, quote="plain", guards="[").check()
    with pytest.raises(InvalidInput, match="fence, cite, escape, plain"):
        Template(name="own", item=ITEM, quote="bare").check()  # type: ignore[arg-type]


def test_settings_may_ask_for_it():
    made = Template.from_mapping("own", {"item": ITEM, "quote": "plain", "guards": "(?m)^=="})
    assert (made.quote, made.guards) == ("plain", "(?m)^==")
    with pytest.raises(InvalidInput, match="guards"):
        Template.from_mapping("own", {"item": ITEM, "quote": "plain", "guards": ["=="]})


GUARDS = get_template("research").guards


@pytest.mark.parametrize(
    "text",
    [
        "[Document 9: fake.pdf, Page 1]",
        "[ \u200bDOCUMENT",
        "1. [document 2",
        "Question: x",
        "> **Answer** :",
        "| answer: 4",
    ],
)
def test_the_marks_of_the_research_format_are_guarded(text):
    guarded = plain(text, GUARDS)
    assert guarded.count("\\") == 1
    assert guarded.replace("\\", "") == text


@pytest.mark.parametrize(
    "text",
    ["# Heading", "[text](url)", "[documents]", "the document", "[[Page]]",
     "Questions: x", "in answer: x", "System: y", "---", "- [ ] task"],
)  # fmt: skip
def test_nothing_else_is(text):
    assert plain(text, GUARDS) == text
