"""The nodes of any note, in reading order, say what the file says, each word once."""

import re
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork.engine import Weft
from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.follow import follow

from .reading import read

NAMES = ("", "", "", " ^a", " ^b-2")


def indented(text, width):
    return "\n".join(" " * width + line if line.strip() else "" for line in text.split("\n"))


def heading(chance, word):
    level = chance.draw(st.integers(1, 6))
    if chance.draw(st.integers(0, 4)) == 0:
        return f"{word()} {word()}\n{chance.draw(st.sampled_from(['===', '---']))}"
    return f"{'#' * level} {word()} *{word()}*{chance.draw(st.sampled_from(NAMES))}"


def paragraph(chance, word):
    lines = [f"{word()} {word()}" for _ in range(chance.draw(st.integers(1, 3)))]
    return "\n".join(lines) + chance.draw(st.sampled_from(NAMES))


def code(chance, word):
    fence = chance.draw(st.sampled_from(["```", "~~~", "````"]))
    return f"{fence}py\n# {word()}\n- [ ] {word()}\n\n%% {word()} %% <!-- {word()} -->\n{fence}"


def indented_code(chance, word):
    return f"{word()}\n\n    # {word()}\n    - [ ] {word()} ^a"


def table(chance, word):
    return f"| {word()} | {word()} |\n|---|---|\n| {word()} | `{word()}` |"


def quote(chance, word):
    return f"> [!note] {word()}\n> # {word()}\n> - [ ] {word()}\n>\n> {word()}{chance.draw(st.sampled_from(NAMES))}"


def fields(chance, word):
    return f"key:: {word()}\nother:: {word()}"


def html(chance, word):
    return f"<div>\n{word()} <b>{word()}</b>\n</div>"


def comment(chance, word):
    return chance.draw(st.sampled_from(["%% gone %%", "%%\n# gone\n\n- [ ] gone\n%%", "<!-- gone\n\ngone -->"]))


def with_comment(chance, word):
    return f"{word()} %%gone%% {word()} <!-- gone --> {word()}"


def rule(chance, word):
    return "***"


def name_alone(chance, word):
    return "^alone"


def reference(chance, word):
    return f"[{word()}]: https://x.example/{word()}"


def items(chance, word, depth=0):
    ordered, loose = chance.draw(st.booleans()), chance.draw(st.booleans())
    made = []
    for number in range(chance.draw(st.integers(1, 3))):
        marker = f"{number + 1}." if ordered else "-"
        box = chance.draw(st.sampled_from(["", "", "[ ] ", "[x] ", "[/] "]))
        own = [f"{box}{word()} {word()}{chance.draw(st.sampled_from(NAMES))}"]
        if chance.draw(st.integers(0, 3)) == 0:
            own.append(chance.draw(st.sampled_from([paragraph, code, table, fields, comment]))(chance, word))
        inner = ("\n\n" if loose or len(own) > 1 else "\n").join(own)
        if depth < 3 and chance.draw(st.booleans()):
            inner += ("\n\n" if loose else "\n") + items(chance, word, depth + 1)
        made.append(f"{marker} {indented(inner, len(marker) + 1).lstrip()}")
    return ("\n\n" if loose else "\n").join(made)


BLOCKS = (
    heading, heading, heading, paragraph, paragraph, items, items, items, code, indented_code, table, quote, fields,
    html, comment, with_comment, rule, name_alone, reference,
)  # fmt: skip
MATTER = "---\ntags: [x]\n---\n"


@st.composite
def notes(draw):
    """A note of random blocks; its words are numbered as they stand in it, those of comments are `gone`."""
    numbers = count()
    made = [
        make(draw(st.data()), lambda: f"w{next(numbers)}w")
        for make in draw(st.lists(st.sampled_from(BLOCKS), max_size=10))
    ]
    text = draw(st.sampled_from(["", MATTER])) + "\n\n".join(made)
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))


@settings(max_examples=some(200), deadline=None)
@given(text=notes(), kind=st.sampled_from(["obsidian", "markdown"]))
def test_every_word_stands_in_one_node_and_in_the_order_of_the_file(tmp_path_factory, text, kind):
    folder = tmp_path_factory.mktemp("vault")
    (folder / "note.md").write_bytes(text.encode())
    reading = read(get_connector(kind), folder)
    (page,) = reading.of("page")
    said = reading.said(page)
    for node in reading.nodes:
        below = reading.below(node) if node.type != "folder" else ()
        assert [each.position for each in below] == list(range(len(below)))
    expected = re.findall(r"w\d+w", text)
    assert re.findall(r"w\d+w", said) == expected == [f"w{number}w" for number in range(len(expected))]
    assert "gone" not in said
    assert "^a" not in re.sub(r"```.*?```|^    .*$", "", said, flags=re.S | re.M)
    assert {node.type for node in reading.nodes} <= {"folder", "page", "heading", "paragraph", "list_item", "todo"}
    assert all(node.title or node.text.strip() for node in reading.nodes)


@settings(max_examples=30, deadline=None)
@given(text=notes())
def test_adding_the_same_note_again_changes_nothing(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("vault")
    (folder / "note.md").write_bytes(text.encode())
    place = tmp_path_factory.mktemp("store")
    with Weft.open(place / "s.weft", embedder=None, tokenizer="characters") as weft:
        first = follow(weft, folder, get_connector("obsidian"))
        assert (first.added, first.skipped) == (2, [])
        nodes, version = weft.stats()["nodes"], weft.store.version("main")
        (folder / "note.md").write_bytes(text.encode())
        again = follow(weft, folder, get_connector("obsidian"))
        assert (again.unchanged, weft.stats()["nodes"], weft.store.version("main")) == (2, nodes, version)
        read_anew = [node.id for node in read(get_connector("obsidian"), folder).nodes]
        assert len(read_anew) == nodes == len(set(read_anew))


def outline(chance, word, depth=0):
    """Blocks as Logseq writes them."""
    made = []
    for _ in range(chance.draw(st.integers(0 if depth else 1, 3))):
        margin = "\t" * depth
        mark = chance.draw(st.sampled_from(["", "", "", "TODO ", "DONE ", "## ", "> "]))
        lines = [f"- {mark}{word()} {word()}"]
        if chance.draw(st.integers(0, 3)) == 0:
            more = [f"{word()}", f"```\n# {word()}\n- {word()}\n```", "key:: value", "id:: a-b", "collapsed:: true"]
            lines += [f"  {line}" for line in chance.draw(st.sampled_from(more)).split("\n")]
        made.append("\n".join(margin + line for line in lines))
        if depth < 4:
            made += [below] if (below := outline(chance, word, depth + 1)) else []
    return "\n".join(made)


@settings(max_examples=some(150), deadline=None)
@given(data=st.data())
def test_every_word_of_an_outline_stands_in_one_node_and_in_order(tmp_path_factory, data):
    numbers = count()
    text = outline(data, lambda: f"w{next(numbers)}w")
    folder = tmp_path_factory.mktemp("graph")
    (folder / "pages").mkdir()
    (folder / "pages" / "Page.md").write_text(text)
    reading = read(get_connector("logseq"), folder)
    (page,) = reading.of("page")
    assert re.findall(r"w\d+w", reading.said(page)) == re.findall(r"w\d+w", text)
    assert ("a-b" in {named.name for named in reading.named}) == ("a-b" in text)
