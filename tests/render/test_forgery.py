"""A reader of the text finds the sections and items that were rendered, and no others."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.render import Template, get_template, lay_out
from weftwork.render.builtin import BUILTIN
from weftwork.render.quote import cite
from weftwork.text.truncate import STRATEGIES
from weftwork.types import Candidate, Excerpt, Reach, Step

from .documents import Document, Part
from .hostile import CONTENT, PROPERTY
from .sample import arranged, candidate, renderer

SECTIONS = ("focus", "semantic", "relations", "activity", "history")
# How a reader recognises a section and an item, indented or not.
MARKS = {
    "default": (r"##? *(.+)", r"(\[[a-z]\d{6}\])(?: |$)"),
    "plain": (r"##? *(.+)", r"(\[[a-z]\d{6}\]) "),
    "detailed": (r"##? *(.+)", r"(?!\[…\])(\[.*?\]) "),
    "chat": (r"##? *(.+)", r"(?!)"),
    "workspace": (r"### *(.+)", r"(?!\[…\]$)(\[.*\])$"),
}
CITING = (
    *(template for template in BUILTIN.values() if template.name != "research"),
    Template(name="fence", item="{{citation}} {{title}}\n{{content}}"),
    Template(name="fenced", item="{{citation}}\n```\n{{content}}\n```", quote="escape"),
    Template(name="as it is", item="{{citation}} {{content}}", quote="plain"),
)
"""Templates in which a citation can be forged; the research contract shows pages as they are and knows no such ids."""
TYPES = ("paragraph", "list_item", "todo", "block", "code", "message", "db_row", "heading", "document_page", "fact")
_UNSEEN = re.compile(r"[\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]")
_CITATION = re.compile(r"(?<!\\)\[[^\w\[\]\\()]*([a-z]\d{6,12})(?![\w-])")


def cited_in(text: str) -> list[str]:
    """The ids that a reader takes for citations: whatever the brackets, and whatever cannot be seen between them."""
    seen = _UNSEEN.sub("", "".join(each for each in text if unicodedata.category(each) != "Cf"))
    return _CITATION.findall(unicodedata.normalize("NFKC", seen.translate(str.maketrans("【】", "[]"))).lower())


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


def documents(contents: st.SearchStrategy[str]) -> st.SearchStrategy[Document]:
    """Documents of nodes of all types, in which each passage has a word of its own and was found or not."""
    part = st.builds(
        Part,
        st.sampled_from(TYPES),
        st.lists(contents.map(lambda text: f"word {text} word\n"), min_size=1, max_size=2).map(tuple),
        st.integers(min_value=1, max_value=3),
        contents,
        st.dictionaries(contents, st.one_of(contents, st.just(3)), max_size=2),
    )
    return st.builds(
        lambda parts, title, text, hits, note: Document(
            *parts, title=title, text=text, hits=[key for key in hits if key <= 1 + len(parts)], notes={2: note}
        ),
        st.lists(part, min_size=1, max_size=4),
        contents,
        contents,
        st.sets(st.integers(min_value=1, max_value=5), min_size=1).map(sorted),
        contents,
    )


def rendered(template: Template, found: list[Candidate], query: str) -> tuple[str, list[Excerpt]]:
    sections = arranged(template, list(map(renderer(template).full, found)))
    return lay_out(sections, (), template, query), [excerpt for part in sections for excerpt in part.excerpts]


@PROPERTY
@given(candidates(CONTENT), CONTENT)
def test_no_content_forges_a_section_or_an_item_behind_a_mark_or_between_fences(found: list[Candidate], query: str):
    template = get_template("default")
    text, excerpts = rendered(template, found, query)
    reader = Reader().read(text, MARKS["default"])
    sections = [template.title_of(part.name) for part in arranged(template, excerpts)]
    assert reader.fence == ""
    assert reader.items == [f"[{excerpt.citation}]" for excerpt in excerpts]
    assert reader.sections == (sections if len(sections) > 1 else []), "a single section has no heading"


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
    text, excerpts = rendered(get_template(name), found, query)
    reader = Reader().read(text, MARKS[name])
    assert (reader.fence, reader.sections, reader.queries) == ("", [], 0)
    if name == "chat":
        assert reader.points == len(excerpts)
    else:
        starts = [re.match(r"\[.*?\]", excerpt.text)[0] for excerpt in excerpts]
        assert reader.items == [start for start in starts if start != "[…]"], "a gap is no item"


@PROPERTY
@given(candidates(CONTENT), CONTENT)
def test_no_content_forges_a_section_an_item_or_the_query_of_a_workspace(found: list[Candidate], query: str):
    template = get_template("workspace")
    text, excerpts = rendered(template, found, query)
    reader = Reader().read(text, MARKS["workspace"])
    expected = [
        *template.sections,
        *(["history"] if any(excerpt.section == "history" for excerpt in excerpts) else []),
    ]
    assert reader.fence == ""
    assert reader.sections == [template.title_of(name) for name in expected]
    assert len(reader.items) == len(excerpts)
    assert reader.queries == 1


@PROPERTY
@given(candidates(CONTENT), CONTENT, CONTENT)
def test_no_content_title_or_edge_forges_a_node_of_a_graph(found: list[Candidate], query: str, edge: str):
    steps = (Step(edge, "out", edge, edge),)
    walked = [replace(one, distance=1, path=steps, reached=(Reach("x", edge, 1),)) for one in found]
    text, excerpts = rendered(get_template("graph"), walked, query)
    reader = Reader().read(text, (r"(#+ .*)", r"(\[[a-z]\d{6}\])"))
    assert (reader.fence, reader.items) == ("", [])
    assert [heading.split()[0] for heading in reader.sections] == ["#", *["##"] * len(excerpts)]
    assert [heading.split()[-1] for heading in reader.sections[1:]] == [f"[{each.citation}]" for each in excerpts]


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


@PROPERTY
@given(documents(CONTENT))
def test_no_content_forges_a_citation_in_any_template(page: Document):
    for template in CITING:
        excerpt = page.excerpt(template=template)
        shown = {excerpt.citation} if "{{citation}}" in template.item else set()
        if shown and "{{content}}" in template.item:
            shown |= {item.candidate.passage.citation for item in excerpt.items if item.hit and item.text.strip()}
        found = cited_in(excerpt.text)
        # The document itself may have no words, and yet be cited for its fields.
        assert set(found) - {"k000001"} == shown - {"k000001"}, template.name
        assert len(found) == len(set(found)), f"each stands there once: {template.name}"


def test_a_title_or_type_between_brackets_of_a_template_is_no_citation():
    found = candidate("Text.", title="k482913 and more", type="k482913")
    assert renderer(get_template("workspace")).full(found).text == "[\\k482913 and more] [\\k482913]\nText.\n\n"
    assert renderer(get_template("detailed")).full(found).text.startswith("[\\k482913] Text. (")


@PROPERTY
@given(documents(CONTENT))
def test_no_content_of_several_passages_forges_a_section_or_an_item(page: Document):
    for name in ("default", "graph", "workspace", "plain"):
        text = page.excerpt(template=name).text
        reader = Reader().read(text, MARKS["default" if name == "graph" else name])
        # Below code and tables, citations stand on lines of their own.
        own = re.findall(r"(?m)^\s*(\[k0000\d\d\])(?= |$)", text.partition("\n")[2])
        headings, items = len(reader.sections), [item for item in reader.items if item not in own]
        assert (reader.fence, headings, len(items)) == (("", 1, 0) if name == "graph" else ("", 0, 1)), name


@PROPERTY
@given(documents(CONTENT), st.integers(min_value=20, max_value=120), CONTENT)
def test_no_document_that_is_cut_short_forges_anything(page: Document, limit: int, said: str):
    for name, strategy in product(("default", "workspace", "plain"), STRATEGIES):
        piece = page.shortened(
            limit, template=name, strategy=strategy, summarise=lambda text, room: f"In short: {said}"
        )
        if piece is not None:
            assert piece.tokens <= limit
            assert set(cited_in(piece.text)) <= {item.candidate.passage.citation for item in piece.items}
            reader = Reader().read(piece.text, MARKS[name])
            assert (reader.fence, reader.sections, reader.queries) == ("", [], 0), (name, strategy)
