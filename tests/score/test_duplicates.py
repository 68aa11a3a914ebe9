import difflib
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise, permutations
from pathlib import Path

import pytest

from weftwork.score import collapse
from weftwork.text.tokens import CharacterCounter
from weftwork.types import Node
from weftwork.write.prepare import prepare

from .making import NOW, candidate

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("WEFTWORK_DATA") or ROOT.parent / "shared" / "data")
LONG = (
    "The first forty telescopes leave the workshop in spring, and none of them is packed before its mirror has passed "
    "inspection by two people who did not grind it, because a mirror with pinholes cannot be lent to a library."
)


def same(left, right):
    return bool(collapse([candidate("a", left, key=1), candidate("b", right, key=2)])[1])


def names(candidates):
    return [each.node.id for each in candidates]


def test_the_newest_of_several_copies_stays_and_each_other_names_it():
    days = {"old": 9, "new": 1, "older": 30}
    copies = [candidate(name, LONG, key=n, updated_at=NOW - timedelta(days=days[name])) for n, name in enumerate(days)]
    kept, dropped = collapse(copies)
    assert names(kept) == ["new"]
    assert {(each.candidate.node.id, each.kept.node.id) for each in dropped} == {("old", "new"), ("older", "new")}


def test_the_newest_stays_whatever_the_order_of_the_candidates():
    copies = [candidate(name, LONG, key=n, updated_at=NOW - timedelta(days=n)) for n, name in enumerate("abc", 1)]
    assert {tuple(names(collapse(order)[0])) for order in permutations(copies)} == {("a",)}


def test_among_copies_of_one_age_the_better_stays_then_the_one_with_the_later_citation():
    better = [candidate("low", LONG, key=1, score=0.2), candidate("high", LONG, key=2, score=0.9)]
    assert names(collapse(better)[0]) == ["high"]
    equal = [candidate("y", LONG, key=1), candidate("z", LONG, key=2)]
    assert names(collapse(equal)[0]) == names(collapse(equal[::-1])[0]) == ["z"]


def test_a_copy_with_a_known_time_is_newer_than_one_without():
    copies = [candidate("timeless", LONG, key=1, score=0.9), candidate("dated", LONG, key=2, updated_at=NOW)]
    assert names(collapse(copies)[0]) == ["dated"]


def test_what_stays_takes_the_place_of_the_best_of_its_group():
    ranked = [
        candidate("copy", LONG, key=1, score=0.9, updated_at=NOW - timedelta(days=9)),
        candidate("other", "something else entirely", key=2, score=0.8),
        candidate("newer copy", LONG, key=3, score=0.1, updated_at=NOW),
    ]
    assert names(collapse(ranked)[0]) == ["newer copy", "other"]


def test_case_and_white_space_make_no_difference():
    assert same(LONG, "  " + LONG.upper().replace(" ", "\n\n"))


def test_a_small_change_in_a_long_text_makes_no_difference():
    # 40 words, 38 sequences of three; another last word changes one: 37 common of 39 in all, 0.949
    assert same(LONG, LONG.removesuffix("library.") + "school.")


def test_a_change_that_leaves_less_than_nine_tenths_in_common_makes_two_texts():
    # a word in the middle stands in three sequences: 35 common of 41 in all, 0.854
    assert not same(LONG, LONG.replace("packed", "wrapped"))


def test_a_text_that_goes_on_is_another_text():
    assert not same(LONG, LONG + " Those that fail are ground again by somebody else.")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Invoice 1001 for Calder Optics is paid in full", "Invoice 1002 for Calder Optics is paid in full"),
        ("| north | 3.5 | kg |", "| north | 3.6 | kg |"),
        (f"{LONG} 40 of them.", f"{LONG} 41 of them."),
        (f"{LONG} Due on 2026-04-02 at last.", f"{LONG} Due on 2026-04-03 at last."),
    ],
)
def test_texts_with_different_numbers_are_never_the_same(left, right):
    assert not same(left, right)


def test_texts_whose_numbers_changed_places_are_not_the_same():
    words = " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(90))
    assert not same(
        f"{words} north gets 300 and south gets 500 a year", f"{words} north gets 500 and south gets 300 a year"
    )
    assert same(
        f"{words} north gets 300 and south gets 500 a year", f"{words} north gets 300 and south gets 500 a week"
    )


@pytest.mark.parametrize(
    ("left", "right"), [("Call Ana", "Call Ben"), ("yes", "no"), ("a b", "b a"), ("a b c", "a b d")]
)
def test_short_texts_are_the_same_only_when_they_are_equal(left, right):
    assert not same(left, right)
    assert same(left, left.upper())


def test_nodes_without_text_are_never_the_same():
    assert not same("", "")
    assert not same("  ", "\n")


def test_nothing_gives_nothing():
    assert collapse([]) == ([], [])


def test_every_candidate_is_either_kept_or_named_as_dropped():
    texts = [LONG, LONG.upper(), "yes", "yes", "no", "", "", f"{LONG} 40", f"{LONG} 41"]
    candidates = [candidate(str(n), text, key=n) for n, text in enumerate(texts, 1)]
    kept, dropped = collapse(candidates)
    assert sorted([*names(kept), *(each.candidate.node.id for each in dropped)]) == [str(n) for n in range(1, 10)]
    assert len(kept) == 7


def folder(name):
    path = DATA / name
    if not path.is_dir():
        pytest.skip(f"{path} is not here: set WEFTWORK_DATA to the folder of evaluation data")
    return path


def test_no_pair_of_sentences_that_people_call_different_is_collapsed():
    """Measured: 0 of 1,901 non-paraphrases (MSR) and 0 of 3,969 pairs below 4.5 of 5 (SICK) are collapsed.

    Paraphrases in other words stay apart too, on purpose: 0 of 3,900 are collapsed.
    """
    source = folder("near_dup_pairs")
    pairs = []
    for part in ("train", "val", "test"):
        rows = (source / f"msr-para-{part}.tsv").read_text(encoding="utf-8-sig").splitlines()[1:]
        pairs += [(left, right) for label, _, _, left, right in (row.split("\t") for row in rows) if label == "0"]
    rows = (source / "SICK_test_annotated.txt").read_text(encoding="utf-8").splitlines()[1:]
    pairs += [(left, right) for _, left, right, score, _ in (row.split("\t") for row in rows) if float(score) < 4.5]
    assert len(pairs) > 5_000
    assert sum(same(left, right) for left, right in pairs) <= 0.001 * len(pairs)


@pytest.fixture(scope="module")
def versions():
    """Three dated versions of the same handbook: pages by path, then by date."""
    root = folder("near_dup_doc_versions") / "obsidian_help_en"
    pages = {}
    for place in sorted(root.iterdir()):
        date = datetime.fromisoformat(place.name[:10]).replace(tzinfo=UTC)
        for path in sorted(place.rglob("*.md")):
            pages.setdefault(str(path.relative_to(place)), {})[date] = path.read_text(encoding="utf-8")
    return pages


def test_pages_that_hardly_changed_collapse_and_pages_that_changed_do_not(versions):
    """Measured against difflib on words: 101 of 102 pages at least 0.98 alike collapse, 0 of 80 below 0.9."""
    hardly, much = [], []
    for dated in versions.values():
        for old, new in pairwise(dated[date] for date in sorted(dated)):
            alike = difflib.SequenceMatcher(None, old.split(), new.split(), autojunk=False).ratio()
            if alike >= 0.98:
                hardly.append(same(old, new))
            elif alike < 0.9:
                much.append(same(old, new))
    assert len(hardly) > 50
    assert sum(hardly) >= 0.95 * len(hardly)
    assert len(much) > 50
    assert not any(much)


def test_passages_of_old_versions_collapse_into_the_newest_of_the_same_page(versions):
    """Measured: 320 of 1,663 passages are dropped, 312 for the same path, the other 8 for a page that was renamed."""
    candidates = []
    for path, dated in versions.items():
        for date, text in dated.items():
            entry = prepare(Node(id=f"{date:%Y}|{path}", text=text), CharacterCounter())
            candidates += [
                candidate(f"{date:%Y}|{path}|{each.ordinal}", each.text, key=len(candidates) + n, updated_at=date)
                for n, each in enumerate(entry.passages)
            ]
    kept, dropped = collapse(candidates)
    same_page = [each.candidate.node.id.split("|")[1] == each.kept.node.id.split("|")[1] for each in dropped]
    assert len(dropped) > 250
    assert sum(same_page) >= 0.95 * len(dropped)
    assert all(each.candidate.node.updated_at <= each.kept.node.updated_at for each in dropped)
    texts = [" ".join(each.passage.text.lower().split()) for each in kept if each.passage.text.strip()]
    assert len(texts) == len(set(texts))


def test_what_was_said_twice_in_a_conversation_stays():
    said = [replace(candidate(f"m{n}", "yes, let us do that"), section="history") for n in range(2)]
    assert collapse(said)[1] == []
