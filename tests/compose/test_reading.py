"""What belongs around a passage, by what it is."""

from .making import reading

NOTE = reading(
    ("page", "page", 0, [20]),  # 1
    ("intro", "heading", 1, [30, 40]),  # 2, 3
    ("detail", "heading", 2, [25]),  # 4
    ("task", "todo", 3, [8]),  # 5
    ("other", "heading", 1, [50]),  # 6
)
LIST = reading(
    ("page", "page", 0, [10]),  # 1
    ("one", "list_item", 1, [5]),  # 2
    ("two", "list_item", 1, [6]),  # 3
    ("below", "list_item", 2, [4]),  # 4
    ("three", "list_item", 1, [7]),  # 5
    ("four", "list_item", 1, [7]),  # 6
)


def test_passages_stand_in_reading_order_with_their_owners():
    assert NOTE.keys == [1, 2, 3, 4, 5, 6]
    assert [NOTE.node_of(key).id for key in NOTE.keys] == ["page", "intro", "intro", "detail", "task", "other"]


def test_what_is_below_a_node_is_all_that_stands_deeper_until_the_next():
    assert NOTE.below(0) == [1, 2, 3, 4, 5, 6]
    assert NOTE.below(1) == [2, 3, 4, 5]
    assert NOTE.below(2) == [4, 5]
    assert NOTE.below(4) == [6]


def test_a_section_goes_from_its_heading_to_the_next_heading():
    assert NOTE.section(2) == [2, 3]
    assert NOTE.section(5) == [4, 5]
    assert NOTE.section(1) == [1]
    assert LIST.section(4) == [1, 2, 3, 4, 5, 6]


def test_headings_above_are_told_from_the_outermost():
    assert [NOTE.nodes[each].id for each in NOTE.headings(3)] == ["intro", "detail"]
    assert NOTE.headings(0) == []


def test_a_window_in_a_long_text_is_what_stands_beside_in_the_same_node():
    long = reading(("page", "page", 0, [9, 9, 9, 9]), ("next", "heading", 1, [9]))
    assert long.window(2) == [1, 2, 3]
    assert long.window(4) == [3, 4]
    assert long.window(5) == [5]


def test_a_list_item_has_its_lead_in_its_neighbours_and_what_is_nested():
    assert LIST.window(3) == [1, 2, 3, 4, 5]
    assert LIST.window(6) == [1, 5, 6]


def test_a_long_lead_in_or_nested_list_is_left_to_the_section():
    long = reading(("page", "page", 0, [500]), ("one", "list_item", 1, [5]), ("deep", "list_item", 2, [500]))
    assert long.window(2) == [2]


def test_a_long_item_comes_with_what_stands_beside_a_passage_of_it_without_the_long_items_around():
    items = reading(
        ("page", "page", 0, [10]),  # 1
        ("one", "list_item", 1, [150, 150]),  # 2, 3
        ("two", "list_item", 1, [150, 150, 150]),  # 4, 5, 6
        ("three", "list_item", 1, [7]),  # 7
    )
    assert items.window(5) == [1, 4, 5, 6, 7]


def test_a_turn_has_the_turns_around_it():
    chat = reading(("thread", "thread", 0, [2]), *((f"m{number}", "message", 1, [10]) for number in range(8)))
    assert chat.window(5) == [3, 4, 5, 6, 7]
    assert chat.window(2) == [2, 3, 4]


def test_code_comes_with_what_stands_before_it():
    howto = reading(("page", "page", 0, [5]), ("say", "paragraph", 1, [8]), ("run", "code", 1, [9]))
    assert howto.window(3) == [2, 3]


def test_a_page_of_a_document_is_a_section():
    pdf = reading(("doc", "document", 0, [3]), ("p1", "document_page", 1, [90, 80]), ("p2", "document_page", 1, [70]))
    assert pdf.section(3) == [2, 3]
