"""Reading a document whole: `Weft.read` on a vault, in parts, as different users and by any reference."""

import re
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weftwork import Edge, Node, Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.identity import CITATION
from weftwork.ingest.sync import sync
from weftwork.types import Filters

GARDEN = """\
# The *garden* of `Ana`

An opening paragraph with a [link](https://example.org/a?b=c), a [[Wiki link|label]] and **emphasis**.
Its second line.

## Beds & [borders](https://example.org/borders)

- Roses
  - Climbing, with *thorns*
    - [ ] Prune them before March #task/rose
    - [x] Order `twine`
  - Shrubs
- Peonies

  A second paragraph of the item.

1. First dig.
2. Then plant.

> A quotation
> of two lines.

### Measures

| bed | width |
| --- | ----: |
| a   |    12 |
| b   |     7 |

```python
# no heading
def area(width):

    return width * 2
```

After the code.

    indented code

status:: growing

* [ ] A task with a star

A paragraph after the task, with a footnote.[^1]

[^1]: The note of the foot.

## Empty

## Table of names

Alpha, beta — naïve café, 漢字, 🌷.
"""
FRONT = """\
---
title: ignored by nobody
rating: 7
people: [Ana, Ben]
tags: [garden]
---
"""


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vault")
    (folder / ".obsidian").mkdir()
    (folder / "notes").mkdir()
    (folder / "notes" / "Garden.md").write_text(GARDEN, encoding="utf-8")
    (folder / "notes" / "Fields.md").write_text(f"{FRONT}\nSaid below.\n", encoding="utf-8")
    (folder / "Plain.md").write_text("No heading, only words.\n", encoding="utf-8")
    (folder / "Top.md").write_text("# Top\n\n# Second\n\nWords.\n", encoding="utf-8")
    paragraphs = [f"Paragraph {number} says what the {number}th day was like." for number in range(400)]
    (folder / "Long.md").write_text("# Long\n\n" + "\n\n".join(paragraphs) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def weft(tmp_path_factory, vault):
    with Weft.open(tmp_path_factory.mktemp("read") / "notes.weft", embedder=None) as engine:
        sync(engine, vault)
        yield engine


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("library") / "library.weft", embedder=None) as engine:
        yield engine


@pytest.fixture
def small(tmp_path):
    with Weft.open(tmp_path / "small.weft", embedder=None) as engine:
        engine.add_user("ben")
        yield engine


def lines(text):
    """The lines with words, each without what another program would lay out differently."""
    return [re.sub(r"^(\s*)\* (?=\[)", r"\1- ", line) for line in map(str.rstrip, text.split("\n")) if line]


def words(text):
    return re.sub(rf"\s*\[{CITATION.pattern}\]", "", text).split()


def parts_of(weft, reference, tokens, **options):
    """All parts of a document, read on from one to the next."""
    found = [weft.read(reference, tokens=tokens, **options)]
    while found[-1].next:
        assert len(found) < 2_000
        found.append(weft.read(reference, tokens=tokens, start=found[-1].next, **options))
    return found


class TestTheWholeNote:
    def test_a_note_reads_as_it_does_in_its_file(self, weft):
        assert lines(weft.read("Garden", ids=False).text) == lines(GARDEN)

    def test_each_passage_has_its_citation_and_nothing_else_is_added(self, weft):
        document = weft.read("Garden")
        shown = re.findall(rf"\[({CITATION.pattern})\]", document.text)
        assert len(shown) > 5
        assert len(set(shown)) == len(shown)
        assert shown == [each.id for each in document.citations if each.id in shown]
        assert words(document.text) == words(weft.read("Garden", ids=False).text)
        for each in document.citations:
            assert weft.node(each.id).id == each.node

    def test_fields_and_tags_that_stand_above_a_text_are_told_above_it(self, weft):
        text = weft.read("ignored by nobody", ids=False).text
        assert text.split("\n") == [
            "# ignored by nobody", "", "rating: 7", "people: Ana, Ben", "tags: garden", "", "Said below.",
        ]  # fmt: skip

    def test_a_note_without_a_heading_has_its_name_above_it(self, weft):
        assert weft.read("Plain", ids=False).text == "# Plain\n\nNo heading, only words."

    def test_a_heading_that_is_the_title_stands_once(self, weft):
        assert lines(weft.read("Top", ids=False).text) == ["# Top", "# Second", "Words."]

    def test_the_document_and_the_titles_above_it_are_named(self, weft, vault):
        document = weft.read("Garden")
        assert document.node == document.document
        assert document.document.source == str(vault / "notes" / "Garden.md")
        assert document.trail == ("notes", vault.name)
        assert (document.before, document.left, document.next, document.holds) == (0, 0, "", ())
        assert document.tokens == weft.tools.counter.count(document.text)


class TestPartsOfDocuments:
    def test_a_section_reads_with_all_that_is_below_it_and_names_its_document(self, weft):
        document = weft.read("Measures", ids=False)
        begin, end = GARDEN.index("### Measures"), GARDEN.index("## Empty")
        assert lines(document.text) == lines(GARDEN[begin:end])
        assert (document.node.title, document.document.title) == ("Measures", "Garden")

    def test_a_nested_item_reads_from_its_own_margin(self, weft):
        with weft.store.view("main", "me") as view:
            (task,) = [
                each for each in view.select(Filters(types=frozenset({"todo"})), limit=9) if "twine" in each.title
            ]
        document = weft.read(task.id, ids=False)
        assert document.text == "- [x] Order `twine`"
        assert document.document.title == "Garden"

    def test_a_citation_reads_what_it_stands_in_with_brackets_or_without(self, weft):
        cited = next(each for each in weft.read("Garden").citations if each.title == "Table of names")
        read = weft.read(cited.id)
        assert read.node.id == cited.node
        assert read == weft.read(f"[{cited.id}]")
        assert f"[{cited.id}]" in read.text

    def test_a_folder_says_what_it_holds(self, weft):
        folder = weft.read("notes")
        assert folder.node.type == "folder"
        assert {each.title for each in folder.holds} == {"Garden", "ignored by nobody"}

    def test_documents_in_a_document_are_named_and_read_by_themselves(self, small):
        small.add(
            [
                Node(id="page", type="page", title="Page", text="Own words."),
                Node(id="sub", type="page", title="Below", text="Other words.", parent="page"),
                Node(id="part", type="paragraph", text="A part.", parent="page", position=1),
            ]
        )
        document = small.read("page", ids=False)
        assert document.text == "# Page\n\nOwn words.\n\nA part."
        assert [each.id for each in document.holds] == ["sub"]


class TestReadingOn:
    @pytest.mark.parametrize("tokens", [60, 130, 700])
    def test_parts_hold_every_word_once_and_in_order_within_their_tokens(self, weft, tokens):
        for title in ("Garden", "Long"):
            whole = weft.read(title, tokens=None)
            assert whole.next == ""
            parts = parts_of(weft, title, tokens)
            assert len(parts) > 1 or title == "Garden"
            assert all(part.tokens <= tokens for part in parts)
            fences = [each for part in parts for each in words(part.text) if not each.startswith("```")]
            assert fences == [each for each in words(whole.text) if not each.startswith("```")]
            assert all(part.text.count("```") % 2 == 0 for part in parts)

    def test_what_is_before_and_left_adds_up(self, weft):
        parts = parts_of(weft, "Long", 1_000)
        whole = parts[0].left + sum(each.tokens for each in parts[:0])
        assert parts[0].before == 0
        assert parts[-1].left == 0
        assert [part.left for part in parts] == sorted((part.left for part in parts), reverse=True)
        assert all(0 <= part.before + part.left <= whole * 1.3 for part in parts)

    def test_parts_are_full(self, weft):
        assert weft.read("Long", tokens=2_000).tokens > 1_500

    def test_a_citation_far_into_a_long_text_begins_there(self, weft):
        last = weft.read("Long", tokens=None).citations[-1]
        document = weft.read(last.id, tokens=300)
        assert document.before > 3_000
        assert f"[{last.id}]" in document.text
        assert document.text.startswith("Paragraph")

    def test_a_part_in_a_list_keeps_its_indentation(self, small):
        items = [Node(id="list", type="page", title="List")]
        items += [
            Node(id=f"i{n}", type="list_item", text=f"item {n}", parent=f"i{n - 1}" if n % 2 else "list", position=n)
            for n in range(60)
        ]
        small.add(items)
        parts = parts_of(small, "list", 120, ids=False)
        assert len(parts) > 1
        shown = "\n".join(part.text for part in parts).removeprefix("# List\n\n").split("\n")
        assert shown == [f"{'  ' * (n % 2)}- item {n}" for n in range(60)]

    @settings(max_examples=30, deadline=None)
    @given(
        text=st.lists(
            st.sampled_from(["word ", "\n\n", "\n", "```\n", "a" * 300, "漢字", "- item\n", "[k482913]", "👩‍👩‍👧 "]),
            max_size=40,
        ).map("".join),
        repeat=st.integers(1, 20),
        tokens=st.integers(50, 300),
        title=st.text(max_size=20) | st.just("漢" * 5000),
        fields=st.dictionaries(st.text("abc", min_size=1, max_size=3), st.just("wide " * 500), max_size=20),
    )
    def test_any_text_is_read_to_its_end_within_any_limit(self, library, text, repeat, tokens, title, fields):
        library.add([Node(id="page", title=title, text=text * repeat, fields=fields, tags=("t" * 50,))])
        parts = parts_of(library, "page", tokens, ids=False)
        assert all(library.tools.counter.count(part.text) <= tokens for part in parts)
        shown = "".join("".join(part.text for part in parts).split()).replace("`", "")
        assert shown.endswith("".join((text * repeat).split()).replace("`", ""))

    def test_wrong_places_and_limits_are_refused_with_the_fix(self, weft):
        other = weft.read("Plain").citations[0].id
        for start, error, hint in (
            ("somewhere", InvalidInput, "`next`"),
            ("k000000", NotFound, "without start"),
            (other, NotFound, "without start"),
        ):
            with pytest.raises(error, match=re.escape(hint)):
                weft.read("Garden", start=start)
        for tokens in (0, 49, -1, True, 2.5, "many"):
            with pytest.raises(InvalidInput, match="at least 50"):
                weft.read("Garden", tokens=tokens)


class TestReferences:
    def test_ids_titles_sources_and_links_lead_to_the_same_note(self, weft, vault):
        path = vault / "notes" / "Garden.md"
        wanted = weft.read(f"file:{vault.name}/notes/Garden.md")
        for reference in ("Garden", "gARDEN", "[[Garden]]", str(path), "  Garden "):
            assert weft.read(reference) == wanted, reference

    @pytest.mark.parametrize("reference", ["nothing", "", "[]", "k000000", "x" * 5_000, "two\nlines"])
    def test_what_is_not_there_says_how_to_find_it(self, weft, reference):
        with pytest.raises(NotFound, match="weftwork search") as told:
            weft.read(reference)
        assert len(str(told.value)) < 300
        assert "\n" not in str(told.value)

    def test_what_is_no_text_is_refused(self, weft):
        with pytest.raises(InvalidInput, match="use text"):
            weft.read(7)

    def test_a_title_that_several_have_names_them_all(self, small):
        small.add([Node(id=f"plan-{n}", type="page", title="Plan", text=f"{n}") for n in range(3)])
        with pytest.raises(InvalidInput) as told:
            small.read("plan")
        assert all(f"plan-{n} (Plan, page)" in str(told.value) for n in range(3))
        assert "by its id" in str(told.value)

    def test_a_document_comes_before_a_part_of_another_and_a_folder(self, small):
        small.add(
            [
                Node(id="folder", type="folder", title="Plan"),
                Node(id="other", type="page", title="Other", text="x"),
                Node(id="part", type="heading", title="Plan", text="part", parent="other"),
                Node(id="page", type="page", title="Plan", text="page"),
            ]
        )
        assert small.read("Plan").node.id == "page"
        small.remove(["page"])
        assert small.read("Plan").node.id == "folder"
        small.remove(["folder"])
        assert small.read("Plan").node.id == "part"


class TestPermissions:
    @pytest.fixture
    def shared(self, small):
        small.add(
            [
                Node(id="page", type="page", title="Page", text="For all."),
                Node(id="open", type="heading", title="Open", text="Told.", parent="page", position=0),
                Node(
                    id="secret", type="heading", title="Secret", text="Hushed.", parent="page", position=1,
                    access=frozenset({"me"}),
                ),
                Node(id="under", type="paragraph", text="Below the secret.", parent="secret"),
                Node(id="last", type="paragraph", text="The end.", parent="page", position=2),
                Node(id="private", type="page", title="Private", text="x", parent="page", access=frozenset({"me"})),
            ],
            [Edge(source="page", target="private")],
        )  # fmt: skip
        return small

    def test_hidden_nodes_never_appear(self, shared):
        mine, theirs = shared.read("page", ids=False), shared.read("page", user="ben", ids=False)
        assert mine.text == (
            "# Page\n\nFor all.\n\n## Open\nTold.\n\n## Secret\nHushed.\n\nBelow the secret.\n\nThe end."
        )
        assert theirs.text == "# Page\n\nFor all.\n\n## Open\nTold.\n\nThe end."
        assert [each.id for each in mine.holds] == ["private"]
        assert theirs.holds == ()
        assert {each.node for each in theirs.citations} == {"page", "open", "last"}

    def test_what_is_hidden_is_reported_like_what_does_not_exist(self, shared):
        citation = shared.read("secret").citations[0].id
        for reference in ("secret", "under", "private", "Private", "Secret", citation):
            with pytest.raises(NotFound) as hidden:
                shared.read(reference, user="ben")
            with pytest.raises(NotFound) as absent:
                shared.read("zzzz", user="ben")
            assert str(hidden.value).replace(reference, "zzzz") == str(absent.value)

    def test_a_hidden_passage_is_no_place_to_read_on_from(self, shared):
        citation = shared.read("secret").citations[0].id
        with pytest.raises(NotFound):
            shared.read("page", user="ben", start=citation)


class TestForgery:
    def test_content_cannot_pass_for_a_citation(self, small):
        small.add([Node(id="page", type="page", title="Page [k482913]", text="As [k482913] says, and 【k482913】.")])
        document = small.read("page")
        own = document.citations[0].id
        assert re.findall(r"(?<!\\)[\[【]([a-z]\d{6})", document.text) == [own]
        assert small.read("page", ids=False).text.count("\\") == 0


def test_kinds_that_are_no_notes_read_in_their_own_way(small):
    small.add(
        [
            Node(id="thread", type="thread", title="Talk"),
            Node(id="m1", type="message", title="Ana", text="Shall we?", parent="thread", position=0),
            Node(id="m2", type="message", title="Ben", text="Yes.", parent="thread", position=1),
            Node(id="table", type="database", title="Stock"),
            Node(id="r1", type="db_row", title="Rope", parent="table", position=0, fields={"metres": 40}),
            Node(id="r2", type="db_row", title="Tar", parent="table", position=1, fields={"litres": 3}),
            Node(id="todo", type="todo", title="Call", fields={"status": "done", "due": "2026-03-01"}),
        ]
    )
    talk = small.read("Talk", ids=False).text
    assert re.fullmatch(r"# Talk\n\nAna.*: Shall we\?\nBen.*: Yes\.", talk)
    assert small.read("Stock", ids=False).text == textwrap.dedent("""\
        # Stock

        | Name | metres | litres |
        | --- | --- | --- |
        | Rope | 40 |  |
        | Tar |  | 3 |""")
    assert small.read("todo", ids=False).text == "- [x] Call (due: 2026-03-01)"
