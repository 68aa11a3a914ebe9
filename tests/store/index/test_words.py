"""The word index, on real files."""

import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork.errors import InvalidInput, StoreError
from weftwork.store.index import words
from weftwork.store.index.rows import IndexDamaged, Row, Scope
from weftwork.store.index.words import WordIndex
from weftwork.store.sql.word_ranking import term_weights
from weftwork.text.analysis import parse
from weftwork.types import Filters

PUBLIC = 1
SECRET = 2


def row(number, text="", **changes):
    plain = Row(number, number, PUBLIC, 0, "note", "", "", text, (), "", 0, None, None, "")
    return replace(plain, **changes)


def search(index, text, *, acls=(PUBLIC,), limit=10, **filters):
    excluded = frozenset(filters.pop("excluded", ()))
    query = parse(text)
    weights = term_weights(query, index.document_frequencies(query.terms, acls), 100)
    return index.shortlist(query, Scope(frozenset(acls), Filters(**filters), excluded), limit, weights)


@pytest.fixture
def index(tmp_path):
    return WordIndex(tmp_path / "words")


# --- what is found ---------------------------------------------------------------------------------


def test_an_empty_index_finds_nothing(index):
    assert (index.seq, index.count()) == (0, 0)
    assert search(index, 'wing "a phrase" pre*') == []
    assert index.fuzzy("wing", Scope(frozenset({PUBLIC})), 5) == []
    assert index.document_frequencies(["wing"], [PUBLIC]) == {"wing": 0}


def test_any_word_may_match_and_more_words_rank_higher(index):
    index.apply(1, [], [row(1, "the wing"), row(2, "wing and flow"), row(3, "heat")])

    assert search(index, "flow wing") == [2, 1]


def test_rare_words_outrank_common_ones(index):
    index.apply(1, [], [*(row(key, "common words here") for key in range(1, 9)), row(9, "rare words here")])

    assert search(index, "common rare", limit=2) == [9, 1]


def test_often_outranks_once_and_short_outranks_long(index):
    filler = " ".join(f"filler{number}" for number in range(60))
    index.apply(1, [], [row(1, f"wing {filler}"), row(2, f"wing wing {filler}"), row(3, "wing")])

    assert search(index, "wing") == [3, 2, 1]


def test_words_are_found_in_title_tags_and_fields(index):
    index.apply(1, [], [row(1, title="Wings"), row(2, tags=("wing",)), row(3, fields="wing")])

    assert set(search(index, "wing")) == {1, 2, 3}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("running quickly", "runs"),
        ("Crème brûlée", "creme brulee"),
        ("東京都の天気", "東京"),
        ("東京都の天気", '"京都"'),
        ("good 🙂 work", "work 🙂"),
        ("policies of insurance", "policy*"),
        ("a" + "\x00" + "null wing", "wing"),
        ("lone \ud800 surrogate", "surrogates"),
    ],
)
def test_a_text_is_found_by(index, text, query):
    index.apply(1, [], [row(1, text), row(2, "something else")])

    assert search(index, query) == [1]


def test_a_phrase_must_occur_as_it_stands(index):
    index.apply(1, [], [row(1, "layer boundary"), row(2, "the boundary layer"), row(3, "boundary of a layer")])

    assert search(index, '"boundary layer"') == [2]
    assert search(index, '"boundary layer" of') == [2]
    assert search(index, '"of a layer"') == [3]


def test_a_single_word_in_quotes_must_occur(index):
    index.apply(1, [], [row(1, "wing flow"), row(2, "flow flow")])

    assert search(index, '"wing" flow') == [1]


def test_a_prefix_must_occur_and_other_words_rank(index):
    index.apply(1, [], [row(1, "aerodynamics"), row(2, "aeroplane wing"), row(3, "wing")])

    assert search(index, "aero*") == [1, 2]
    assert search(index, "aero* wing") == [2, 1]


def test_a_prefix_may_begin_any_number_of_words(index):
    index.apply(1, [], [row(key, f"word{key}") for key in range(1, 201)])

    assert search(index, "word*", limit=300) == list(range(1, 201))
    assert index.document_frequencies(["word*"], [PUBLIC]) == {"word*": 200}


def test_of_equals_the_lowest_keys_come_first_whatever_the_segments(index):
    for seq, start in enumerate((81, 41, 1), start=1):
        index.apply(seq, [], [row(key, "wing flow") for key in range(start, start + 40)])

    assert search(index, "wing", limit=5) == [1, 2, 3, 4, 5]


def test_a_limit_of_nothing_finds_nothing(index):
    index.apply(1, [], [row(1, "wing")])

    assert search(index, "wing", limit=0) == []


@settings(deadline=None, max_examples=some(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=80), st.text('"*() +-:^~\\ab日', max_size=40)))
def test_no_query_is_an_error(index, text):
    if not index.seq:
        index.apply(1, [], [row(1, "a b ab 日本", title="a b")])

    assert set(search(index, text)) <= {1}
    assert set(index.fuzzy(text, Scope(frozenset({PUBLIC})), 5)) <= {1}


# --- what it is restricted to ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, {1, 2, 3}),
        ({"types": frozenset({"page"})}, {1}),
        ({"types": frozenset({"page", "memory"})}, {1, 2}),
        ({"tags": frozenset({"red"})}, {1, 2}),
        ({"tags": frozenset({"red", "blue"})}, {2}),
        ({"after": datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC)}, {2, 3}),
        ({"before": datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC)}, {1, 2}),
        ({"before": datetime(1970, 1, 1, 0, 0, 2)}, {1, 2}),
        ({"after": datetime(1960, 1, 1, tzinfo=UTC), "before": datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)}, {1}),
        ({"min_confidence": 0.5}, {1}),
        ({"min_confidence": 0.0}, {1, 2}),
        ({"conversation": "c1"}, {3}),
        ({"conversation": ""}, set()),
        ({"excluded": {1, 3}}, {2}),
        ({"excluded": set(range(3, 50))}, {1, 2}),
        ({"types": frozenset({"\ud800"})}, set()),
    ],
)
def test_a_filter_keeps(index, filters, found):
    rows = [
        row(1, "wing", type="page", tags=("red",), updated=1_000_000, confidence=0.5),
        row(2, "wing", type="memory", tags=("red", "blue"), updated=2_000_000, confidence=0.4),
        row(3, "wing", type="file", updated=3_000_000, conversation="c1"),
    ]
    index.apply(1, [], rows)

    assert set(search(index, "wing", **filters)) == found
    assert set(search(index, "win*", **filters)) == found


def test_a_filter_does_not_add_to_a_rank(index):
    index.apply(1, [], [row(1, "wing", tags=("x",)), row(2, "wing wing wing", tags=("x",))])

    assert search(index, "wing", tags=frozenset({"x"}), types=frozenset({"note"})) == [2, 1]


@pytest.mark.parametrize("lists", [3, words.LISTED + 1, 3 * words.LISTED])
def test_only_what_the_viewer_may_see_is_found_however_many_lists_there_are(index, lists):
    index.apply(1, [], [row(key, "wing", acl=key) for key in range(1, lists + 1)])

    for visible in ({1}, {2, 3}, set(range(2, lists + 1)), set(range(lists + 9)), {lists + 1}, set()):
        expected = sorted(visible & set(range(1, lists + 1)))
        assert search(index, "wing", acls=visible, limit=500) == expected
        assert index.document_frequencies(["wing"], visible) == {"wing": len(expected)}


@pytest.mark.parametrize("others", [1, words.LISTED + 5])
def test_hidden_passages_change_neither_frequencies_nor_order(tmp_path, others):
    texts = ["wing flow " + "pad " * pad + "heat " * heat for pad in range(0, 90, 9) for heat in range(4)]
    visible = [row(key, text, node=1000 + key) for key, text in enumerate(texts, start=1)]
    alone, crowded = WordIndex(tmp_path / "alone"), WordIndex(tmp_path / "crowded")
    alone.apply(1, [], visible)
    for seq in range(1, 6):
        noise = [row(seq * 500 + n, "heat flow pad " * n, node=1, acl=SECRET + n % others) for n in range(100)]
        crowded.apply(seq, [1], [*visible[(seq - 1) * 8 : seq * 8], *noise])

    for query in ("wing", "flow heat", "heat pad wing", '"wing flow" heat', "he*"):
        terms = parse(query).terms
        assert alone.document_frequencies(terms, [PUBLIC]) == crowded.document_frequencies(terms, [PUBLIC])
        for limit in (1, 5, 17):
            assert search(alone, query, limit=limit) == search(crowded, query, limit=limit)


# --- writing ---------------------------------------------------------------------------------------


def test_a_change_is_there_for_whoever_opens_the_folder(tmp_path, index):
    index.apply(7, [], [row(1, "wing")])
    again = WordIndex(tmp_path / "words")

    assert (again.seq, again.count(), search(again, "wing")) == (7, 1, [1])


def test_a_change_without_passages_still_moves_the_number(index):
    index.apply(3, [], [])
    index.apply(4, [99], [])

    assert (index.seq, index.count()) == (4, 0)


def test_a_removed_node_leaves_no_trace(index):
    index.apply(1, [], [row(1, "wing", node=5), row(2, "wing", node=5, ordinal=1), row(3, "wing", node=6)])
    index.apply(2, [5], [])

    assert index.document_frequencies(["wing"], [PUBLIC]) == {"wing": 1}
    assert (search(index, "wing"), index.count()) == ([3], 1)


def test_a_node_is_replaced_in_one_change(index):
    index.apply(1, [], [row(1, "wing", node=5)])
    index.apply(2, [5], [row(2, "flow", node=5)])
    index.apply(3, [5], [row(3, "wing", node=5)])

    assert index.document_frequencies(["wing", "flow"], [PUBLIC]) == {"wing": 1, "flow": 0}
    assert search(index, "wing flow") == [3]


def test_moving_to_another_list_moves_what_is_visible(index):
    index.apply(1, [], [row(1, "wing")])
    index.apply(2, [1], [row(1, "wing", acl=SECRET)])

    assert (search(index, "wing"), search(index, "wing", acls=[SECRET])) == ([], [1])


@pytest.mark.parametrize(
    "wrong", [{"key": -1}, {"node": "five"}, {"acl": None}, {"updated": 2**70}, {"acl": 1.5}, {"key": 2**64}]
)
def test_a_row_that_cannot_be_indexed_undoes_the_change_and_harms_nothing(index, wrong):
    index.apply(1, [], [row(1, "wing")])

    with pytest.raises(InvalidInput, match="cannot be indexed"):
        index.apply(2, [1], [row(2, "wing"), row(3, "wing", **wrong)])

    assert (index.seq, search(index, "wing")) == (1, [1])
    index.apply(2, [], [row(2, "wing")])
    assert search(index, "wing") == [1, 2]


def test_an_error_while_rows_are_read_undoes_the_change(index):
    def rows():
        yield row(1, "wing")
        raise LookupError("the database went away")

    with pytest.raises(LookupError):
        index.apply(1, [], rows())

    assert (index.seq, index.count()) == (0, 0)


def test_many_small_changes_leave_few_segments(tmp_path, index):
    for seq in range(1, 41):
        index.apply(seq, [seq - 1], [row(seq, "wing")])

    assert len(list((tmp_path / "words").glob("*.idx"))) < 10
    assert index.document_frequencies(["wing"], [PUBLIC]) == {"wing": 1}


def test_two_writers_at_once_are_told_to_take_turns(tmp_path, index):
    def rows():
        with pytest.raises(StoreError, match="hold its lock"):
            WordIndex(tmp_path / "words").apply(1, [], [])
        yield row(1, "wing")

    index.apply(1, [], rows())

    assert index.seq == 1


def test_searches_go_on_while_another_thread_writes(index):
    index.apply(1, [], [row(1, "wing")])
    done, failures = threading.Event(), []

    def read():
        while not done.is_set():
            found = search(index, "wing", limit=100)
            if found != list(range(1, len(found) + 1)) or not found:
                failures.append(found)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for seq in range(2, 25):
        index.apply(seq, [], [row(seq, "wing")])
    done.set()
    for reader in readers:
        reader.join()

    assert failures == []
    assert search(index, "wing", limit=100) == list(range(1, 25))


WRITE = """
import sys
from pathlib import Path
from weftwork.store.index.rows import Row
from weftwork.store.index.words import WordIndex

index = WordIndex(Path(sys.argv[1]))
for line in sys.stdin:
    key = int(line)
    index.apply(key, [key - 1], [Row(key, key, 1, 0, "note", "", "", "wing", (), "", 0, None, None, "")])
    print(index.seq, flush=True)
"""


def test_another_process_may_write_while_this_one_searches(tmp_path, index):
    index.apply(1, [], [row(1, "wing")])
    command = [sys.executable, "-c", WRITE, str(tmp_path / "words")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        for key in range(2, 22):
            other.stdin.write(f"{key}\n")
            other.stdin.flush()
            assert other.stdout.readline() == f"{key}\n"
            assert search(index, "wing") == [key - 1]
            index.refresh()
            assert (index.seq, search(index, "wing")) == (key, [key])
        other.stdin.close()


# --- damage ----------------------------------------------------------------------------------------


def use(folder):
    index = WordIndex(folder)
    found = search(index, 'wing flow "wing flow" win*', acls=[PUBLIC, SECRET])
    index.fuzzy("Titel wnig", Scope(frozenset({PUBLIC})), 5)
    index.refresh()
    return found


@pytest.fixture
def folder(tmp_path):
    index = WordIndex(tmp_path / "whole")
    rows = [row(key, "wing flow", title=f"Title {key}", acl=1 + key % 3) for key in range(1, 60)]
    index.apply(1, [], rows)
    index.apply(2, [5], [row(90, "wing flow")])
    return tmp_path / "whole"


@pytest.mark.parametrize("suffix", ["idx", "pos", "term", "store", "fast", "fieldnorm", "del", "json"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: path.write_bytes(path.read_bytes()[:-2]),
        lambda path: path.write_bytes(bytes(path.stat().st_size)),
    ],
    ids=["emptied", "cut in half", "two bytes short", "zeroed"],
)
def test_damaged_files_are_told_as_damage(folder, suffix, damage):
    for path in folder.glob(f"*.{suffix}"):
        damage(path)

    with pytest.raises(IndexDamaged, match="whole"):
        use(folder)


@pytest.mark.parametrize("suffix", ["idx", "pos", "term", "store", "fast", "fieldnorm", "del"])
def test_missing_files_are_told_as_damage(folder, suffix):
    for path in folder.glob(f"*.{suffix}"):
        path.unlink()

    with pytest.raises(IndexDamaged):
        use(folder)


def test_an_index_without_its_list_of_segments_counts_as_empty(folder):
    (folder / "meta.json").unlink()

    assert WordIndex(folder).seq == 0


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_byte_is_wrong_nothing_but_damage_is_raised(folder, data):
    # A new one each time: threads of the index before may still write to theirs.
    copy = Path(shutil.copytree(folder, tempfile.mkdtemp(dir=folder.parent), dirs_exist_ok=True))
    path = data.draw(st.sampled_from(sorted(p.name for p in folder.iterdir() if p.stat().st_size)))
    content = bytearray((folder / path).read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    (copy / path).write_bytes(content)

    try:
        found = use(copy)
    except IndexDamaged:
        return
    assert all(isinstance(key, int) for key in found)


def test_an_index_with_other_fields_is_told_as_damage(folder):
    meta = folder / "meta.json"
    meta.write_text(meta.read_text().replace(f"weft-{words.VERSION}", "weft-0"))

    with pytest.raises(IndexDamaged):
        WordIndex(folder)


def test_damage_that_comes_while_it_is_open_is_told_at_the_next_refresh(folder):
    index = WordIndex(folder)
    (folder / "meta.json").write_bytes(b"{")

    with pytest.raises(IndexDamaged):
        index.refresh()
    with pytest.raises(IndexDamaged):
        index.apply(3, [], [row(1, "wing")])


def test_an_index_whose_folder_is_gone_is_told_as_damage(folder):
    index = WordIndex(folder)
    shutil.rmtree(folder)

    with pytest.raises(IndexDamaged):
        index.refresh()


# --- nearly equal ----------------------------------------------------------------------------------


def fuzzy(index, text, *, acls=(PUBLIC,), limit=5, **filters):
    return index.fuzzy(text, Scope(frozenset(acls), Filters(**filters)), limit)


def test_a_title_with_a_typo_is_found_by_what_it_shares(index):
    index.apply(1, [], [row(1, title="Boundary layer theory"), row(2, title="Laminar flow"), row(3, title="Layers")])

    assert fuzzy(index, "Bounadry layre thoery")[0] == 1


def test_a_path_is_found_too(index):
    index.apply(1, [], [row(1, source="docs/installation-guide.md"), row(2, source="docs/other.md")])

    assert fuzzy(index, "instalation gude")[0] == 1


def test_titles_are_counted_at_the_first_passage_alone(index):
    index.apply(1, [], [row(1, title="Boundary", node=1), row(2, title="Boundary", node=1, ordinal=1)])

    assert fuzzy(index, "boundery") == [1, 2]
    assert fuzzy(index, "bound") == [1]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("aerodynamics", "aerodinanics"),
        ("collimation", "collimaton"),
        ("pressure", "presure"),
        ("pressure", "perssure"),
        ("wing", "wnig"),
    ],
)
def test_a_word_inside_a_text_is_found_in_spite_of_a_typo(index, text, query):
    index.apply(1, [], [row(1, f"about {text} here"), row(2, "unrelated matter")])

    assert fuzzy(index, query) == [1]


def test_a_word_that_occurs_is_not_taken_for_a_typo(index):
    index.apply(1, [], [row(1, "wing"), row(2, "wings"), row(3, "ring")])

    assert fuzzy(index, "wing") == []


def test_a_word_that_occurs_only_where_the_viewer_may_not_look_is_taken_for_a_typo(index):
    index.apply(1, [], [row(1, "pressure"), row(2, "presure", acl=SECRET)])

    assert fuzzy(index, "presure") == [1]


def test_fuzzy_search_keeps_to_the_scope(index):
    rows = [row(1, "pressure", title="Secret", acl=SECRET), row(2, "pressure", title="Secret", type="page")]
    index.apply(1, [], rows)

    assert fuzzy(index, "secrat presure") == [2]
    assert fuzzy(index, "secrat presure", types=frozenset({"file"})) == []
    assert set(fuzzy(index, "secrat presure", acls=[PUBLIC, SECRET])) == {1, 2}
