from dataclasses import replace

from weftwork.pack import Room
from weftwork.pack.density import Density
from weftwork.types import Finding

from .making import choice, cut, forms, outcome


def pack(choices, total, caps=None):
    return Density().pack(choices, Room(total, caps or {}), cut)


def test_it_takes_the_best_score_per_token_and_skips_what_does_not_fit():
    packing = pack([choice("big", 0.9, 900), choice("mid", 0.6, 300), choice("small", 0.3, 100)], 1000)
    # 0.001, 0.002 and 0.003 for each token
    assert forms(packing) == {"mid": "included", "small": "included"}
    assert outcome(packing, "big").missing_tokens == 300


def test_twenty_items_of_a_hundred_tokens_fill_five_hundred_tokens_with_five():
    assert pack([choice(f"c{number:02}", 0.5, 100) for number in range(20)], 500).used == 500


def test_a_type_above_seventy_percent_of_more_than_five_must_wait():
    notes = [choice(f"n{number}", 0.9, 10) for number in range(8)]
    messages = [choice("message", 0.1, 10, type="message")]
    packing = pack(notes + messages, 1000)
    # six notes are chosen before the rule applies; then all are notes, so two must wait
    assert len(packing.chosen) == 7
    assert outcome(packing, "n6").reason == "its type already fills 70 % of the context"
    assert outcome(packing, "n6").missing_tokens is None
    assert "message" in forms(packing)


def test_a_type_at_exactly_seventy_percent_may_go_on():
    messages = [choice(f"m{number}", 0.9, 10, type="message") for number in range(3)]
    notes = [choice(f"n{number}", 0.8, 10) for number in range(9)]
    packing = pack(messages + notes, 1000)
    # 7 notes of 10 are 70 %, so the eighth is taken; 8 of 11 are more, so the ninth is not
    assert "n7" in forms(packing)
    assert "n8" not in forms(packing)


def test_notes_pages_and_files_are_one_type_and_later_parts_of_them_another():
    kinds = ["note", "page", "file", "document"] * 2
    documents = [choice(f"d{number}", 0.9, 10, type=kind) for number, kind in enumerate(kinds)]
    later = choice("later", 0.1, 10, type="file")
    later = replace(later, candidate=replace(later.candidate, passage=replace(later.candidate.passage, ordinal=1)))
    packing = pack([*documents, later], 1000)
    assert len(packing.chosen) == 7
    assert "later" in forms(packing)


def test_it_ends_once_ten_items_use_more_than_ninety_percent():
    dense = [choice(f"d{number}", 0.9, 95, type=f"t{number}") for number in range(10)]
    packing = pack([*dense, choice("tiny", 0.001, 10)], 1000)
    assert packing.used == 950
    assert outcome(packing, "tiny").reason == "10 of more score per token used over 90 % of the budget"


def test_it_goes_on_at_exactly_ninety_percent():
    dense = [choice(f"d{number}", 0.9, 90, type=f"t{number}") for number in range(10)]
    assert "tiny" in forms(pack([*dense, choice("tiny", 0.001, 10)], 1000))


def test_if_nothing_fits_the_best_is_cut_and_never_above_the_budget():
    packing = pack([choice("b", 0.5, 300), choice("a", 0.9, 5000)], 200)
    assert forms(packing) == {"a": "truncated"}
    assert packing.used == 200


def test_if_the_best_is_in_a_closed_section_the_next_is_cut():
    packing = pack([choice("a", 0.9, 500, section="focus"), choice("b", 0.5, 300)], 200, {"focus": 0})
    assert forms(packing) == {"b": "truncated"}


def test_where_all_are_of_one_type_none_has_to_wait():
    packing = pack([choice(f"m{number}", 0.9, 10, type="message") for number in range(9)], 100)
    assert len(packing.chosen) == 9


def spoken(name, score, tokens, rank):
    made = choice(name, score, tokens, section="history", type="message")
    return replace(made, candidate=replace(made.candidate, findings=(Finding("history", rank, 0.5, kind="history"),)))


def test_the_latest_messages_come_first_into_the_share_of_the_history():
    messages = [spoken("old", 0.9, 20, 3), spoken("newer", 0.1, 60, 2), spoken("newest", 0.1, 100, 1)]
    packing = Density().pack([*messages, choice("file", 0.5, 50)], Room(200, {}, {"history": 160}), cut)
    # by score per token "newest" would come last and find no room
    assert forms(packing) == {"newest": "included", "newer": "included", "old": "included"}
    assert outcome(packing, "newest").reason == "among the latest that the share of the history holds"


def test_without_a_share_of_the_history_messages_compete_with_the_rest():
    messages = [spoken("old", 0.9, 20, 2), spoken("newest", 0.1, 100, 1)]
    assert forms(pack([*messages, choice("file", 0.5, 50)], 100)) == {"old": "included", "file": "included"}


def test_a_message_too_long_for_the_share_leaves_it_to_those_before_it():
    messages = [spoken("short", 0.1, 30, 2), spoken("long", 0.9, 500, 1)]
    packing = Density().pack(messages, Room(200, {}, {"history": 100}), cut)
    assert forms(packing) == {"short": "included"}


def test_a_message_may_fill_the_share_to_its_last_token():
    packing = Density().pack([spoken("newest", 0.1, 100, 1)], Room(200, {}, {"history": 100}), cut)
    assert outcome(packing, "newest").reason == "among the latest that the share of the history holds"
