from datetime import UTC, datetime, timedelta

import pytest

from weftwork import Edge, Node, Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.faces.thread import FileRepository
from weftwork.history import Vote

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)


@pytest.fixture
def moments():
    return [NOW]


@pytest.fixture
def weft(tmp_path, moments):
    with Weft.open(
        tmp_path / "f.weft", embedder="hashing", tokenizer="characters", clock=lambda: moments[-1]
    ) as opened:
        opened.add_user("ben")
        yield opened


@pytest.fixture
def files(weft):
    return FileRepository(weft)


def paths(results):
    return [result.path for result in results]


def test_a_file_is_kept_by_its_path(files):
    name = files.add("docs/plan.md", "Ship the mirror.")
    node = files.get(name)
    assert (node.type, node.title, node.source, node.text) == ("file", "plan.md", "docs/plan.md", "Ship the mirror.")
    assert (node.owner, node.created_at) == ("me", NOW)


def test_adding_at_the_same_path_gives_the_file_new_content(files, weft, moments):
    name = files.add("docs/plan.md", "Ship the mirror.")
    moments.append(NOW + timedelta(hours=1))
    assert files.add("docs/plan.md", "Ship the dome.") == name
    node = files.get(name)
    assert (node.text, node.created_at, node.updated_at) == ("Ship the dome.", NOW, NOW + timedelta(hours=1))
    assert files.search_content("mirror") == []
    assert paths(files.search_content("dome")) == ["docs/plan.md"]


@pytest.mark.parametrize("content", ["Ship the mirror.", "Ship the dome."])
def test_adding_at_the_same_path_with_a_list_gives_the_file_this_list(files, weft, content):
    other = FileRepository(weft, "ben")
    name = files.add("docs/plan.md", "Ship the mirror.", access=["*"])
    assert paths(other.search_content("ship")) == ["docs/plan.md"]
    assert files.add("docs/plan.md", content, access=["me"]) == name
    assert files.get(name).text == content
    assert other.search_content("ship") == []
    files.add("docs/plan.md", "Ship the frame.")
    assert other.search_content("ship") == [], "without a list, the one that it has stays"
    files.add("docs/plan.md", "Ship the frame.", access=["ben"])
    assert other.get(name).text == "Ship the frame."


def test_a_list_given_by_who_does_not_see_the_folder_leaves_the_file_in_it(weft, files):
    weft.add([Node(id="folder", type="folder", access=frozenset({"me"}), owner="me")])
    weft.add([Node(id="f", type="file", title="f", text="mirror", parent="folder", owner="ben", source="f.md")])
    assert FileRepository(weft, "ben").add("f.md", "dome", access=["me"]) == "f"
    assert (files.get("f").parent, files.get("f").text) == ("folder", "dome")


@pytest.mark.parametrize("access", ["ben", 5, [5], [None]])
def test_a_list_that_is_none_is_refused_and_changes_nothing(files, weft, access):
    name = files.add("a.md", "one")
    for path in ("a.md", "b.md"):
        with pytest.raises(InvalidInput, match="access must be None or several names"):
            files.add(path, "two", access=access)
    assert files.get(name).text == "one"
    assert paths(files.search_content("one two")) == ["a.md"]


def test_an_update_replaces_all_passages_and_says_whether_it_did(files, weft):
    name = files.add("a.md", "\n\n".join(f"Part {n} of the mirror. " + "x " * 400 for n in range(5)))
    assert files.update(name, "Short.") is True
    assert files.update(name, "Short.") is False
    assert files.search_content("mirror") == []
    assert weft.stats()["passages"] == 1


def test_a_move_keeps_id_links_citations_and_what_was_said(files, weft):
    name = files.add("old/plan.md", "Ship the mirror.")
    weft.add([Node(id="t", type="thread")], [Edge(source="t", target=name)])
    weft.feedback(name, True)
    before = weft.search("mirror")[0].passage.citation
    files.move(name, "new/idea.md")
    assert (files.get(name).source, files.get(name).title) == ("new/idea.md", "idea.md")
    assert weft.search("mirror")[0].passage.citation == before
    with weft.store.view("main", "me") as view:
        assert [node.id for _, node in view.neighbours("t")] == [name]
        assert view.votes(5) == [Vote(name, True)]
    assert paths(files.fuzzy_search("idea.md")) == ["new/idea.md"]


def test_a_new_file_where_a_moved_one_was_is_another(files):
    first = files.add("a.md", "one")
    files.move(first, "b.md")
    second = files.add("a.md", "two")
    assert first != second
    assert (files.get(first).text, files.get(second).text) == ("one", "two")
    files.move(second, "c.md")
    assert files.add("a.md", "three") not in (first, second)


def test_a_move_onto_another_file_is_refused(files):
    first, _ = files.add("a.md", "one"), files.add("b.md", "two")
    with pytest.raises(InvalidInput, match=r"there is a file at 'b\.md' already"):
        files.move(first, "b.md")
    assert files.get(first).source == "a.md"
    files.move(first, "a.md")


def test_a_deleted_file_is_gone(files):
    name = files.add("a.md", "mirror")
    files.delete(name)
    assert files.search_content("mirror") == []
    for act in (files.get, files.delete, files.update_access_time):
        with pytest.raises(NotFound, match="there is no file"):
            act(name)


def test_a_rewritten_file_stays_hidden_and_in_its_folder(weft, files):
    weft.add([Node(id="folder", type="folder", access=frozenset({"me"}), owner="me")])
    weft.add([Node(id="f", type="file", title="f", text="mirror", parent="folder", owner="ben", source="f.md")])
    # Ben owns the file and may not see its folder: a change by him must not lift it out
    FileRepository(weft, "ben").update("f", "dome")
    weft.add_user("cleo")
    assert (files.get("f").parent, files.get("f").text) == ("folder", "dome")
    with pytest.raises(NotFound):
        FileRepository(weft, "cleo").get("f")


def test_others_files_cannot_be_changed_and_hidden_ones_are_as_if_absent(weft, files):
    other = FileRepository(weft, "ben")
    seen, hidden = files.add("seen.md", "one", access=["*"]), files.add("hidden.md", "two", access=["me"])
    with pytest.raises(InvalidInput, match="belongs to 'me'"):
        other.update(seen, "x")
    for act in (other.delete, other.get, other.update_access_time):
        with pytest.raises(NotFound, match="there is no file"):
            act(hidden)
    own = other.add("hidden.md", "three")
    assert own != hidden
    assert (files.get(hidden).text, other.get(own).text) == ("two", "three")


def test_an_id_does_not_tell_whether_something_hidden_has_the_path(tmp_path):
    def added(first):
        with Weft.open(tmp_path / f"{first}.weft", embedder=None, tokenizer="characters") as weft:
            weft.add_user("ben")
            if first:
                FileRepository(weft).add("a.md", "secret", access=["me"])
            return FileRepository(weft, "ben").add("a.md", "own")

    assert added(True) == added(False)


@pytest.mark.parametrize("path", ["", "  ", "a\nb", "a\0b"])
def test_a_path_that_cannot_be_shown_is_refused(files, path):
    with pytest.raises(InvalidInput, match="needs a path"):
        files.add(path, "x")


def test_files_used_lately_come_latest_first(weft, files, moments):
    names = [files.add(f"{n}.md", f"file {n}") for n in range(7)]
    weft.add([Node(id="t", type="thread")])
    for name in [*names, names[0]]:
        moments.append(moments[-1] + timedelta(minutes=1))
        files.update_access_time(name)
    with weft.atomic() as batch:
        batch.record("me", "t", "view", moments[-1])
    assert [node.source for node in files.get_recently_accessed()] == ["0.md", "6.md", "5.md", "4.md", "3.md"]
    assert [node.source for node in files.get_recently_accessed(limit=1)] == ["0.md"]
    assert FileRepository(weft, "ben").get_recently_accessed() == []


def test_keywords_must_all_occur_and_are_marked(files):
    files.add("both.md", "The primary mirror was inspected.")
    files.add("one.md", "A mirror.")
    (found,) = files.search_by_keywords(["primary", "mirrors"])
    assert (found.path, found.excerpt) == ("both.md", "The <<<primary>>> <<<mirror>>> was inspected.")
    assert 0 < found.rank <= 1
    assert paths(files.search_by_keywords(["", "primary"])) == ["both.md"]
    assert files.search_by_keywords([]) == []
    assert files.search_by_keywords(['"', "' OR 1=1"]) == []


def test_a_file_is_found_once_however_many_of_its_parts_match(files):
    files.add("long.md", "\n\n".join(f"The mirror {n}. " + "x " * 500 for n in range(4)))
    files.add("other.md", "A mirror.")
    assert sorted(paths(files.search_content("mirror", limit=2))) == ["long.md", "other.md"]


def test_paths_and_words_that_look_alike_are_found_above_a_threshold(files):
    files.add("docs/inspection.md", "Nothing of note.")
    files.add("docs/birds.md", "The telescope stands on the roof.")
    assert paths(files.fuzzy_search("inspecton")) == ["docs/inspection.md"]
    assert paths(files.fuzzy_search("telescoep")) == ["docs/birds.md"]
    assert files.fuzzy_search("inspecton", threshold=0.99) == []
    assert files.fuzzy_search("") == []


def test_messages_are_no_files_and_a_part_of_a_page_is_that_page(weft, files):
    page = Node(id="p", type="page", title="Page", source="notes/p.md")
    part = Node(id="p#1", type="heading", title="Part", text="mirror", parent="p", source="notes/p.md")
    weft.add([Node(id="m", type="message", text="mirror"), page, part])
    assert [(hit.id, hit.path) for hit in files.search_content("mirror")] == [("p", "notes/p.md")]
    with pytest.raises(NotFound, match="there is no file 'p'"):
        files.get("p")


WRONG = {
    "a path": lambda files: files.add(None, "x"),
    "a path to move to": lambda files: files.move("f", 5),
    "a new content": lambda files: files.add("new.md", None),
    "a content": lambda files: files.add("a.md", None),
    "an update": lambda files: files.update(files.add("a.md", "x"), 5),
    "keywords in one text": lambda files: files.search_by_keywords("grease"),
    "keywords that are numbers": lambda files: files.search_by_keywords([5]),
    "no keywords": lambda files: files.search_by_keywords(None),
    "words": lambda files: files.search_content(None),
    "words that look alike": lambda files: files.fuzzy_search(None),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_text_is_refused_and_changes_nothing(files, what):
    name = files.add("a.md", "x")
    with pytest.raises(InvalidInput, match=r"text|path|several"):
        WRONG[what](files)
    assert files.get(name).text == "x"


def test_a_mistyped_name_of_a_file_comes_before_files_with_such_words(files):
    for number in range(8):
        files.add(f"vault/tool_{number}.md", "Python is used here, and logging as well, like in all of these.")
    wanted = files.add("vault/python_logging.md", "Write to a file.")
    assert files.fuzzy_search("python loging")[0].id == wanted


def test_of_equal_names_that_of_the_file_comes_before_that_of_a_section(weft, files):
    weft.add(
        [
            Node(id="guide", type="page", title="Guide", source="guide.md"),
            Node(id="section", type="heading", title="Wikilinks", text="Short.", parent="guide"),
            Node(id="own", type="page", title="Wikilinks", source="wikilinks.md"),
        ]
    )
    assert [hit.id for hit in files.fuzzy_search("wikilinks")][:2] == ["own", "guide"]


def test_two_mistyped_names_in_one_message_are_both_found(files):
    density = files.add("code/density.py", "def pack(): ...")
    extensions = files.add("docs/recommended-extensions.md", "Install these.")
    found = files.fuzzy_search("what is in densty.py and recomended-extentions.md?")
    assert {hit.id for hit in found[:2]} == {density, extensions}


def test_a_file_is_its_owners_alone_unless_it_is_shared(weft, files):
    weft.add_user("ben")
    private, shared = files.add("a.md", "mirror"), files.add("b.md", "mirror", access=["*"])
    assert [hit.id for hit in FileRepository(weft, "ben").search_content("mirror")] == [shared]
    assert {hit.id for hit in files.search_content("mirror")} == {private, shared}


@pytest.mark.parametrize("limit", ["3", 0, None, True])
def test_a_limit_that_makes_no_sense_is_refused(files, limit):
    with pytest.raises(InvalidInput, match="limit must be"):
        files.search_content("mirror", limit=limit)
