"""A reader of the text finds the sections and items that were rendered, and no others."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.render import Template, get_template, lay_out
from weftwork.render.quote import cite
from weftwork.types import Candidate, Item, Reach, Step

from .hostile import CONTENT, PROPERTY
from .sample import arranged, candidate, renderer

SECTIONS = ("focus", "semantic", "relations", "activity", "history")
# How a reader recognises a section and an item, indented or not.
MARKS = {
    "default": (r"##? *(.+)", r"(\[[a-z]{3}-[0-9a-z]{10}\])(?: |$)"),
    "plain": (r"##? *(.+)", r"(\[[a-z]{3}-[0-9a-z]{10}\]) "),
    "detailed": (r"##? *(.+)", r"(\[.*?\]) "),
    "chat": (r"##? *(.+)", r"(?!)"),
    "workspace": (r"### *(.+)", r"(\[.*\])$"),
}


@dataclass
class Reader:
    """Reads a text line by line, as Markdown does with fences."""

    sections: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    queries: int = 0
    points: int = 0
    fence: str = ""

    def read(self, text: str, marks: tuple[str, str]) -> Reader:
        for line in text.splitlines():
            if not self._in_fence(line):
                self._structure(line, marks)
        return self

    def _in_fence(self, line: str) -> bool:
        found = re.match(r" {0,3}(`{3,}|~{3,})(.*)$", line)
        if self.fence:
            if found and found[1].startswith(self.fence) and not found[2].strip():
                self.fence = ""
            return True
        if found and not (found[1][0] == "`" and "`" in found[2]):
            self.fence = found[1]
        return bool(self.fence)

    def _structure(self, line: str, marks: tuple[str, str]):
        self.points += line.startswith("- ")
        line = line.strip().strip("\u200b")
        self.queries += line.lower().startswith("user query:")
        for found, mark in zip((self.sections, self.items), marks, strict=True):
            match = re.match(mark, line)
            if match:
                found.append(match[1])


def candidates(contents: st.SearchStrategy[str]) -> st.SearchStrategy[list[Candidate]]:
    one = st.builds(
        candidate,
        contents,
        id=st.text(max_size=5),
        type=st.one_of(st.sampled_from(["file", "fact"]), contents),
        title=contents,
        trail=st.lists(contents, max_size=2).map(tuple),
        tags=st.lists(contents, max_size=2).map(tuple),
        fields=st.dictionaries(contents, st.one_of(contents, st.none(), st.booleans()), max_size=2),
        section=st.sampled_from(SECTIONS),
        created_at=st.none(),
    )
    return st.lists(one, max_size=4)


def rendered(template: Template, found: list[Candidate], query: str) -> tuple[str, list[Item]]:
    render = renderer(template)
    items = [Item(one, render.full(one)) for one in found]
    sections = arranged(template, items)
    return lay_out(sections, (), template, query), [item for part in sections for item in part.items]


@PROPERTY
@given(candidates(CONTENT), CONTENT)
def test_no_content_forges_a_section_or_an_item_behind_a_mark_or_between_fences(found: list[Candidate], query: str):
    template = get_template("default")
    text, items = rendered(template, found, query)
    reader = Reader().read(text, MARKS["default"])
    assert reader.fence == ""
    assert reader.items == [f"[{item.candidate.passage.citation}]" for item in items]
    assert reader.sections == [template.title_of(part.name) for part in arranged(template, items)]


@PROPERTY
@given(CONTENT)
def test_content_of_one_line_is_all_behind_its_mark_and_more_is_between_fences(content: str):
    lines = cite(content).splitlines()
    if len(lines) == 1:
        assert lines[0].startswith("> ")
    else:
        assert Reader().read(cite(content), (r"(?!)", r"(.*)")).items == []


@pytest.mark.parametrize("name", ["plain", "detailed", "chat"])
@PROPERTY
@given(found=candidates(CONTENT), query=CONTENT)
def test_no_content_forges_an_item_where_there_are_no_sections(name: str, found: list[Candidate], query: str):
    text, items = rendered(get_template(name), found, query)
    reader = Reader().read(text, MARKS[name])
    assert (reader.fence, reader.sections, reader.queries) == ("", [], 0)
    if name == "chat":
        assert reader.points == len(items)
    else:
        starts = [re.match(r"\[.*?\]", item.rendering.text)[0] for item in items]
        assert reader.items == starts


@PROPERTY
@given(candidates(CONTENT), CONTENT)
def test_no_content_forges_a_section_an_item_or_the_query_of_a_workspace(found: list[Candidate], query: str):
    template = get_template("workspace")
    text, items = rendered(template, found, query)
    reader = Reader().read(text, MARKS["workspace"])
    expected = [
        *template.sections,
        *(["history"] if any(i.candidate.section == "history" for i in items) else []),
    ]
    assert reader.fence == ""
    assert reader.sections == [template.title_of(name) for name in expected]
    assert len(reader.items) == len(items)
    assert reader.queries == 1


@PROPERTY
@given(candidates(CONTENT), CONTENT, CONTENT)
def test_no_content_title_or_edge_forges_a_node_of_a_graph(found: list[Candidate], query: str, edge: str):
    steps = (Step(edge, "out", edge, edge),)
    walked = [replace(one, distance=1, path=steps, reached=(Reach("x", edge, 1),)) for one in found]
    text, items = rendered(get_template("graph"), walked, query)
    reader = Reader().read(text, (r"(#+ .*)", r"(\[[a-z]{3}-[0-9a-z]{10}\])"))
    assert reader.fence == ""
    assert reader.items == [f"[{item.candidate.passage.citation}]" for item in items]
    assert [heading.split()[0] for heading in reader.sections] == ["#", *["###"] * len(items)]


@PROPERTY
@given(candidates(CONTENT), st.integers(min_value=1, max_value=60))
def test_what_is_cut_short_forges_nothing_either(found: list[Candidate], limit: int):
    for name in ("default", "workspace", "plain"):
        render = renderer(get_template(name))
        for one in found:
            piece = render.shorten(one, limit)
            if piece is not None:
                assert piece.tokens <= limit
                reader = Reader().read(piece.text, MARKS[name])
                assert (reader.fence, reader.sections, len(reader.items)) == ("", [], 1)


@PROPERTY
@given(candidates(CONTENT))
def test_a_line_of_the_overflow_is_one_line_with_one_citation(found: list[Candidate]):
    render = renderer(get_template("default"))
    for one in found:
        line = render.line(one)
        assert len(line.text.splitlines()) == 1
        assert re.findall(r"\[.*?\]", line.text) == [f"[{one.passage.citation}]"]
