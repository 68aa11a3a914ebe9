import pytest

from weftwork.ingest.connectors.levels import LEVEL
from weftwork.ingest.connectors.protocol import Anchor, Link, Named
from weftwork.ingest.connectors.registry import get_connector, recognise
from weftwork.ingest.events import Note
from weftwork.types import ABOUT, UNSEEN, Node

from .reading import shown


@pytest.fixture
def read(tmp_path):
    """The pieces of one note, with the ids of its blocks shortened to their places."""

    def reading(text, name="Finch.md", connector="obsidian"):
        root = tmp_path / "vault"
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        (source,) = [source for source in get_connector(connector).sources(root) if source.key == name]
        return list(source.read(source.id))

    return reading


def nodes(pieces):
    return [piece for piece in pieces if isinstance(piece, Node)]


def tree(pieces):
    """Each node as (depth, type, title, text)."""
    depth, found = {}, []
    for node in nodes(pieces):
        depth[node.id] = depth.get(node.parent, -1) + 1
        found.append((depth[node.id], node.type, node.title, node.text))
    return found


def links(pieces):
    return [(piece.names, piece.anchor, piece.type, piece.label) for piece in pieces if isinstance(piece, Link)]


def test_a_section_is_one_node_with_its_lists_tables_and_code_as_they_are_written(read):
    text = """
Lead.

Second.

# Parts

All of birch.

```py
# no heading
x = 1
```

- tube
  - mirror

    in it
- base

## Legs

1. one
2. two

# Use

| a | b |
|---|---|
| 1 | 2 |

> # said
"""
    pieces = read(text)
    assert tree(pieces) == [
        (0, "page", "Finch", "Lead.\n\nSecond."),
        (
            1,
            "heading",
            "Parts",
            "All of birch.\n\n```py\n# no heading\nx = 1\n```\n\n- tube\n  - mirror\n\n    in it\n- base",
        ),
        (2, "heading", "Legs", "1. one\n2. two"),
        (1, "heading", "Use", "| a | b |\n|---|---|\n| 1 | 2 |\n\n> # said"),
    ]
    levels = [(node.title, node.fields[LEVEL], node.fields[UNSEEN]) for node in nodes(pieces)[1:]]
    assert levels == [("Parts", 1, (LEVEL,)), ("Legs", 2, (LEVEL,)), ("Use", 1, (LEVEL,))]


def test_a_task_a_named_block_and_one_with_fields_are_nodes_and_what_follows_them_is_a_paragraph(read):
    text = """Before.

- plain
  - [ ] call *Ana* 📅 2026-04-01
    about it
    - bring **foam**
      ```
      - [ ] no task
      ```
    - [x] sub
    - after sub
  - plain again

Words.

- named ^here
  - below it
- key:: value

Told ^there
# Next

status:: late

other:: one
two
"""
    pieces = read(text)
    assert tree(pieces) == [
        (0, "page", "Finch", "Before.\n\n- plain"),
        (1, "todo", "call *Ana*", "about it\n- bring **foam**\n  ```\n  - [ ] no task\n  ```"),
        (2, "todo", "sub", ""),
        (2, "paragraph", "", "- after sub"),
        (1, "paragraph", "", "  - plain again\n\nWords."),
        (1, "list_item", "", "named\n- below it"),
        (1, "list_item", "", "key:: value"),
        (1, "paragraph", "", "Told"),
        (1, "heading", "Next", "status:: late"),
        (2, "paragraph", "", "other:: one\ntwo"),
    ]
    made = nodes(pieces)
    assert [node.position for node in made[1:]] == [0, 0, 1, 1, 2, 3, 4, 5, 0]
    fields = {node.text: dict(node.fields) for node in made}
    assert fields["key:: value"]["key"] == "value"
    assert (fields["status:: late"]["status"], fields["other:: one\ntwo"]["other"]) == ("late", "one")
    assert [node.id.partition("#")[2] for node in made if "^" in node.id] == ["^here", "^there"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("\ufeff\r\n\r\n", [], id="blank"),
        pytest.param("---\r\na: 1\r\n---\r\n# A\r\n\r\nb\r\n", [("heading", "A", "b")], id="crlf"),
        pytest.param(
            "Two\nlines\n===\n\na\n\nB\n-\nc", [("heading", "Two lines", "a"), ("heading", "B", "c")], id="setext"
        ),
        pytest.param("#\n\n## A #\n\nb", [("heading", "A", "b")], id="empty heading"),
        pytest.param("# A\n\n\t# b\n\tc", [("heading", "A", "\t# b\n\tc")], id="indented code"),
        pytest.param("# A\n\n~~~\n# b", [("heading", "A", "~~~\n# b")], id="unclosed fence"),
        pytest.param(
            "# A\n\n<div>\n\n# B\n\n</div>", [("heading", "A", "<div>"), ("heading", "B", "</div>")], id="html"
        ),
        pytest.param("# A\n\nb[^1]\n\n[^1]: Note", [("heading", "A", "b[^1]\n\n[^1]: Note")], id="footnote"),
        pytest.param("# A\n\n- # b\n- [ ] c\n\td", [("heading", "A", "- # b"), ("todo", "c", "d")], id="in a list"),
        pytest.param("# A\n\n- [ ] b\n\n---\n\n- \n", [("heading", "A", ""), ("todo", "b", "")], id="rules"),
        pytest.param("#### A\n\n## B\n\n### C", [("heading", title, "") for title in "ABC"], id="levels"),
        pytest.param(f"# {'a ' * 150}\n\nb", [("heading", f"{'a ' * 99}…", f"{'a ' * 150}"[:-1] + "\n\nb")], id="long"),
        pytest.param("# [A](b) **c** [[d|e]] `f`", [("heading", "A c e f", "")], id="plain title"),
    ],
)
def test_odd_notes_keep_what_they_say(read, text, expected):
    assert [(node.type, node.title, node.text) for node in nodes(read(text))[1:]] == expected


def test_siblings_are_numbered_as_they_are_read(read):
    pieces = nodes(read("Lead.\n\n- [ ] one\n- two\n- three\n\nFour. ^x\n\n# Five\n# Six"))
    assert [(node.text or node.title, node.position) for node in pieces[1:]] == [
        ("one", 0), ("- two\n- three", 1), ("Four.", 2), ("Five", 3), ("Six", 4),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a %%b%% c", "a c"),
        ("a\n%% b\n\n# c %%\nd", "a\nd"),
        ("a\n\n<!-- b\n\n- [ ] c -->\n\nd", "a\n\n\nd"),
        ("a `%%` b `<!-- c -->` %%d", "a `%%` b `<!-- c -->` %%d"),
        ("```\n%% a %%\n<!-- b -->\n```", "```\n%% a %%\n<!-- b -->\n```"),
        ("a\n\n    %% b %%", "a\n\n    %% b %%"),
        ("- x\n  ```\n  <!-- a -->\n  ```", "- x\n  ```\n  <!-- a -->\n  ```"),
        ("100 %% a\n\nb 50 %%", "100 %% a\n\nb 50 %%"),
        ("%%\n```\na\n```\n%%\nb [[c]]", "b [[c]]"),
        ("a <!-- b", "a <!-- b"),
        (
            "[[b|c]], [d][e]\n\n[b|c]: b.md 'B'\n[e]: https://f.example \"E\"",
            "[[b|c]], [d](https://f.example)",
        ),
        ('[[b]]\n\n[//begin]: # "Generated"\n[b]: b.md "B"\n[//end]: # "Generated"', "[[b]]"),
        ("[[b]]\n\n```\n[b]: b.md\n```", "[[b]]\n\n```\n[b]: b.md\n```"),
        ("%% [[a]] #b ^c %%", ""),
    ],
)
def test_comments_and_generated_definitions_are_no_content(read, text, left):
    pieces = read(text)
    (page,) = nodes(pieces)
    assert (page.text, page.tags) == (left, ())
    assert not [name for name, *_ in links(pieces) if "a" in name[0]]


@pytest.mark.parametrize(
    ("text", "left", "targets"),
    [
        ("See [note].\n\n[note]: note.md", "See [note](note.md).", ["note.md"]),
        ("[The other][o] [o][]\n\n[o]: b/Other%20one.md 'O'", "[The other](<b/Other one.md>) [o](<b/Other one.md>)",
         ["b/Other one.md"] * 2),
        ("![pic][p]\n\n[p]: pic.png", "![pic](pic.png)", ["pic.png"]),
        ("`[a]` \\[a] [a](b.md) [[a]] [x] a\n\n[a]: c.md", "`[a]` \\[a] [a](b.md) [[a]] [x] a", ["b.md", "a"]),
        ("See [1].\n\n[1]: https://a.example\n[2]: https://b.example",
         "See [1](https://a.example).\n\n[2]: https://b.example", []),
        ("Said[^1].\n\n[^1]: Once", "Said[^1].\n\n[^1]: Once", []),
        ("[//]: # (a remark)\n\nText", "Text", []),
    ],
)  # fmt: skip
def test_links_by_reference_are_written_with_their_targets(read, text, left, targets):
    pieces = read(text)
    (page,) = nodes(pieces)
    assert page.text == left
    assert sorted(name for (name, *_), *_ in links(pieces)) == sorted(targets)


def test_a_name_that_occurs_twice_loses_no_block(read):
    pieces = read("one ^dup\n\ntwo ^dup\n\n- three ^dup")
    assert [node.text for node in nodes(pieces)[1:]] == ["one", "two", "three"]
    assert len({node.id for node in nodes(pieces)}) == 4


def test_front_matter_becomes_fields_tags_aliases_and_links(read):
    text = """---
title: The Finch
tags: [optics, "#birch/light"]
aliases: Telescope, small
created: 2026-01-05
due: 2026-03-01
done: false
parts: [mirror, 3]
nested: {a: [1, 2]}
maker: "[[Hill Street|we]]"
_unseen: [title]
---
Text #inline.
"""
    pieces = read(text)
    page = nodes(pieces)[0]
    assert (page.title, page.text) == ("The Finch", "Text #inline.")
    assert page.tags == ("optics", "birch/light", "inline")
    assert page.fields == {
        "created": "2026-01-05", "due": "2026-03-01", "done": False, "parts": ("mirror", "3"),
        "nested": '{"a": [1, 2]}', "maker": "[[Hill Street|we]]", "aliases": ("Telescope, small",),
    }  # fmt: skip
    assert page.created_at.year == 2026
    assert links(pieces) == [(("Hill Street",), "", "field", "maker")]
    named = {(piece.name, piece.kind) for piece in pieces if isinstance(piece, Named)}
    assert named == {
        ("Finch.md", "path"), ("Finch", "path"), ("Finch", "title"), ("The Finch", "alias"),
        ("Telescope, small", "alias"),
    }  # fmt: skip


def test_links_are_read_in_all_their_notations(read):
    text = (
        "[[A]] [[b/A#Head#Sub|shown]] ![[pic.png]] [[#Here]] [[A#^blk]] `[[no]]` [x](C%20d.md#part) "
        "![i](../img/p.png) [w](https://weft.example/[[z]].md) [m](mailto:a@b.c) [r](<E f.md> 'title')"
    )
    assert links(read(text, "dir/N.md")) == [
        (("A",), "", "reference", ""),
        (("b/A",), "Sub", "reference", "shown"),
        (("pic.png",), "", "embed", ""),
        (("dir/N.md",), "Here", "reference", ""),
        (("A",), "^blk", "reference", ""),
        (("z",), "", "reference", ""),
        (("dir/C d.md", "C d.md"), "part", "reference", "x"),
        (("img/p.png", "../img/p.png"), "", "embed", "i"),
        (("dir/E f.md", "E f.md"), "", "reference", "r"),
    ]


def test_a_block_that_names_itself_has_that_name_and_a_name_alone_belongs_to_the_block_before(read):
    pieces = read(
        "Lead ^lead\n\nText. ^one-1\n\n- item\n\n^list\n\n# Head ^head\n\n> said ^two\n\n| a |\n|---|\n^table\n\n"
        "- [ ] task\n\n^after\n\nmore\n# Bare\n\n^bare"
    )
    anchors = {piece.name: piece.node.rpartition("#")[2] for piece in pieces if isinstance(piece, Anchor)}
    assert anchors["^lead"] == "^lead"
    assert anchors["^one-1"] == "^one-1"
    assert anchors["^list"].startswith("paragraph~")
    assert anchors["Head"] == anchors["^head"] == anchors["^two"] == anchors["^table"] == "^head"
    assert anchors["^after"] == "^after"
    assert anchors["^bare"] == anchors["Bare"]
    assert [(node.title, node.text) for node in nodes(pieces)] == [
        ("Finch", ""), ("", "Lead"), ("", "Text."), ("", "- item"), ("Head", "> said\n\n| a |\n|---|"), ("task", ""),
        ("", "more"), ("Bare", ""),
    ]  # fmt: skip


def test_a_name_that_occurs_twice_is_that_of_the_first_block(read):
    pieces = read("One ^a\n\nTwo ^a\n\n- [ ] three ^a\n\n# Four ^a\n\nTwo ^a")
    assert [(node.title or node.text, "^a" in node.id) for node in nodes(pieces)[1:]] == [
        ("One", True), ("Two", False), ("three", False), ("Four", False), ("Two", False),
    ]  # fmt: skip
    assert len({node.id for node in nodes(pieces)}) == 6


def test_fields_within_a_sentence_are_those_of_its_section_and_make_a_list_item_a_node(read):
    pieces = read(
        "Of (rating:: 7) stars.\n\nCalls (std::move) twice.\n\n# Mirror\n\nBare.\n\nWeighs [weight:: 9 kg] now.\n\n"
        "- plain\n- [price:: 80] tube\n- plain too"
    )
    by_text = {node.title or node.text: (node.type, shown(node)) for node in nodes(pieces)}
    assert by_text["Finch"] == ("page", {"rating": "7"})
    assert by_text["Mirror"] == ("heading", {"weight": "9 kg"})
    assert by_text["[price:: 80] tube"] == ("list_item", {"price": "80"})
    assert by_text["- plain too"] == ("paragraph", {})


@pytest.mark.parametrize(
    ("line", "title", "fields"),
    [
        ("- [ ] call Ana", "call Ana", "open"),
        ("* [x] call ✅ 2026-03-02 📅 2026-03-01", "call", "done completion=2026-03-02 due=2026-03-01"),
        ("1. [X] call", "call", "done"),
        ("- [-] call 🛫2026-03-01 ⏳ 2026-03-02", "call", "cancelled scheduled=2026-03-02 start=2026-03-01"),
        ("- [/] call [due:: 2026-03-01] now", "call now", "in-progress due=2026-03-01"),
        ("- [ ] call (due:: 2026-03-01) ⏫ 🔁 weekly", "call", "open due=2026-03-01 priority=high repeat=weekly"),
        ("- [!] call 🗓️ 2026-03-01 ^x", "call", "open due=2026-03-01 mark=!"),
        ("- [ ] call 📅 2026-02-31", "call 📅 2026-02-31", "open"),
    ],
)
def test_tasks_have_a_status_and_dates(read, line, title, fields):
    todo = nodes(read(f"Lead.\n\n{line}"))[1]
    assert (todo.type, todo.title, todo.text) == ("todo", title, "")
    status, *others = fields.split()
    by_name = {"status": status.replace("-", " "), **dict(other.split("=") for other in others)}
    assert {name: value for name, value in todo.fields.items() if name != ABOUT} == by_name


def test_a_list_item_in_brackets_that_is_no_task_is_none(read):
    assert tree(read("- [ab] x\n- [link](a.md)\n- [ ]x")) == [(0, "page", "Finch", "- [ab] x\n- [link](a.md)\n- [ ]x")]


def test_fields_that_a_text_states_are_not_said_beside_it_again(weft, tmp_path):
    from weftwork.ingest.follow import follow

    path = tmp_path / "Coating.md"
    path.write_text("---\nowner: Ana\n---\nstate:: aluminised\n\nIt was coated.\n\n- [ ] ship it [due:: 2026-04-01]\n")
    follow(weft, path, get_connector("obsidian"))
    texts = (weft.read("Coating", ids=False).text, weft.context("When was the coating shipped?", budget=500).text)
    for text in texts:
        assert (text.count("owner"), text.count("state"), text.count("2026-04-01")) == (1, 1, 1)
    assert weft.read("Coating").node.fields["state"] == "aluminised"


def test_tags_are_words_after_a_hash_outside_of_code_links_and_headings(read):
    page = nodes(read("#one, (#no) x#no #2024 #y2024 `#no` [#no](a) [[a#no]] #a/b-c_d #日本 # no\n\n# Head #h"))[0]
    assert page.tags == ("one", "y2024", "a/b-c_d", "日本", "h")


def test_a_block_is_searched_under_the_titles_above_it(weft, read, tmp_path):
    from weftwork.ingest.follow import follow

    read("Lead.\n\n# Mirror\n\nx\n\n- [ ] y\n\nIt is aluminised.")
    follow(weft, tmp_path / "vault", get_connector("obsidian"))
    hits = weft.search("finch mirror aluminised", mode="words")[0]
    assert (hits.passage.text, hits.trail[:2]) == ("It is aluminised.", ("Mirror", "Finch"))
    text = weft.context("finch mirror aluminised").text
    assert "aluminised" in text
    assert ABOUT not in text


def test_the_first_heading_is_the_title_of_plain_markdown_and_no_block_of_its_own(read):
    pieces = read("# The *Finch*\n\nLead.\n\n## Parts", connector="markdown")
    assert tree(pieces) == [(0, "page", "The Finch", "Lead."), (1, "heading", "Parts", "")]


def test_ids_do_not_depend_on_what_stands_elsewhere(read):
    def ids(text):
        return {node.title or node.text: node.id for node in nodes(read(text))[1:]}

    before = ids("Lead.\n\n- [ ] one\n- [ ] two\n\nThree.\n\n- [ ] two\n\n# Head\n\nBody.")
    after = ids("Other.\n\n# New\n\nWords.\n\n- [ ] two\n\nThree.\n\n- [ ] one\n\n# Head\n\nOther body.")
    assert len(before) == 4
    assert {name: after[name] for name in ("one", "Three.", "Head")} == {
        name: before[name] for name in ("one", "Three.", "Head")
    }
    assert after["two"] == before["two"].removesuffix(".2")


@pytest.mark.parametrize(
    "matter",
    [
        pytest.param(": [", id="syntax"),
        pytest.param("a: *x", id="alias"),
        pytest.param("a: &x [1]\nb: [*x, *x]", id="anchor"),
        pytest.param("!!python/object/apply:os.system ['true']", id="code"),
        pytest.param("- a list", id="list"),
        pytest.param("[" * 5000, id="deep"),
        pytest.param("a: " + "x" * 200_000, id="long"),
        pytest.param("{{date}}: 1", id="template"),
    ],
)
def test_front_matter_that_is_no_plain_yaml_is_text_and_reported(read, matter):
    pieces = read(f"---\n{matter}\n---\nText.")
    (note,) = [piece for piece in pieces if isinstance(piece, Note)]
    assert "its front matter is taken for text" in note.why
    assert nodes(pieces)[0].fields == {}
    assert any("Text." in node.text for node in nodes(pieces))


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({".obsidian/app.json": "{}", "a.txt": "x"}, "obsidian"),
        ({"a.md": "[[b]]", "b.md": "[[a]]"}, "obsidian"),
        ({"a.md": "x", "b.md": "y"}, "markdown"),
        ({"a.py": "x = 1", "b.py": "y = 2", "README.md": "z"}, "files"),
    ],
)
def test_a_folder_of_notes_is_recognised(tmp_path, files, name):
    for each, text in files.items():
        (tmp_path / "v" / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "v" / each).write_text(text)
    assert recognise(tmp_path / "v").name == name
