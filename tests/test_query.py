from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork.query import read_query
from weftwork.text.periods import Period

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)  # a Wednesday


def day(month, number, year=2026):
    return datetime(year, month, number, tzinfo=UTC)


def test_words_leave_out_stop_words_and_repetitions():
    question = read_query("What is the status of the Status page?", NOW)
    assert question.words == ("status", "page")


def test_keywords_have_more_than_three_letters():
    assert read_query("fix the bug in login", NOW).keywords == ("login",)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("What is the population of Portugal?", {"portugal"}),
        ("Portugal has how many inhabitants? Who says so?", set()),
        ("Does O'Neil know what Anna-Lena told me? I'm sure I've heard it.", {"o'neil", "anna-lena"}),
        ("what runs on port 8080 of srv2", {"8080", "srv2"}),
        ("How To Publish Notes To GitHub Pages", set()),
        ("How do I print a PDF with the API?", set()),
        ("What did Mel paint in July 2023?", {"mel"}),
        ("Wie verknüpfe ich zwei Notizen in Foam?", set()),
    ],
)
def test_names_are_numbers_and_what_has_a_capital_inside_a_sentence(query, names):
    assert read_query(query, NOW).names == names


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("What tasks are overdue?", {"todo", "kanban_card", "task"}),
        ("break it into subtasks", {"todo", "kanban_card", "task"}),
        ("summarize this", {"page"}),
        ("what did we decide about glue", set()),
        ("what was decided", {"decision"}),
    ],
)
def test_intent_names_types(query, wanted):
    assert read_query(query, NOW).wanted_types == wanted


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("what happened today", day(3, 18), day(3, 19)),
        ("notes from yesterday", day(3, 17), day(3, 18)),
        ("done this week", day(3, 16), day(3, 23)),
        ("done last week", day(3, 9), day(3, 16)),
        ("spent last month", day(2, 1), day(3, 1)),
        ("this year", day(1, 1), day(1, 1, 2027)),
        ("in the last 3 days", day(3, 15), day(3, 19)),
        ("on 2026-02-03", day(2, 3), day(2, 4)),
        ("in 2026-02", day(2, 1), day(3, 1)),
        ("in May 2025", day(5, 1, 2025), day(6, 1, 2025)),
        ("back in december", day(12, 1, 2025), day(1, 1)),
        ("bought on 1 February, 2023", day(2, 1, 2023), day(2, 2, 2023)),
        ("the 8th of May 2023", day(5, 8, 2023), day(5, 9, 2023)),
        ("accepted on May 23, 2023?", day(5, 23, 2023), day(5, 24, 2023)),
        ("said on May 3", day(5, 3, 2025), day(5, 4, 2025)),
        ("seen on March 18th", day(3, 18), day(3, 19)),
        ("seen 19 march 2026", day(3, 19), day(3, 20)),
        ("visited in May", day(5, 1, 2025), day(6, 1, 2025)),
        ("since last march", day(3, 1), day(3, 19)),
        ("changed since last week", day(3, 9), day(3, 19)),
        ("changed since yesterday", day(3, 17), day(3, 19)),
        ("written after 5 May 2025", day(5, 6, 2025), day(3, 19)),
        ("written before June 2025", day(1, 1, 1), day(6, 1, 2025)),
        ("kept until 2024", day(1, 1, 1), day(1, 1, 2025)),
        ("between May and July 2025", day(5, 1, 2025), day(8, 1, 2025)),
        ("from 2026-03-02 to 2026-03-04", day(3, 2), day(3, 5)),
        ("the day before yesterday", day(3, 16), day(3, 17)),
        ("the week of 23 August 2025", day(8, 18, 2025), day(8, 25, 2025)),
        ("the Friday before 15 July 2023", day(7, 14, 2023), day(7, 15, 2023)),
        ("the week before 9 June 2023", day(6, 2, 2023), day(6, 9, 2023)),
        ("the weekend after 17 July 2023", day(7, 22, 2023), day(7, 24, 2023)),
        ("a few days ago", day(3, 13), day(3, 17)),
        ("a couple of weeks ago", day(3, 1), day(3, 8)),
        ("two weekends ago", day(3, 7), day(3, 9)),
        ("said last night", day(3, 17), day(3, 19)),
        ("this morning", day(3, 18), day(3, 19)),
        ("in the past week", day(3, 11), day(3, 19)),
        ("in the last two weeks", day(3, 4), day(3, 19)),
        ("in Q3 2025", day(7, 1, 2025), day(10, 1, 2025)),
        ("sold last quarter", day(10, 1, 2025), day(1, 1)),
        ("over Christmas", day(12, 20, 2025), day(1, 2)),
        ("in the 1990s", day(1, 1, 1990), day(1, 1, 2000)),
        ("the 31 June meeting", day(6, 1, 2025), day(7, 1, 2025)),
        ("the best of in 2023", day(1, 1, 2023), day(1, 1, 2024)),
        ("what was said three days ago", day(3, 15), day(3, 16)),
        ("decided two weeks ago", day(3, 1), day(3, 8)),
        ("a month ago", day(2, 1), day(3, 1)),
        ("2 years ago", day(1, 1, 2024), day(1, 1, 2025)),
        ("called last friday", day(3, 13), day(3, 14)),
        ("what happened on Wednesday", day(3, 11), day(3, 12)),
        ("over the weekend", day(3, 14), day(3, 16)),
        ("planted in the summer", day(6, 1, 2025), day(9, 1, 2025)),
        ("planted last winter", day(12, 1, 2025), day(3, 1)),
        ("the trip in spring 2024", day(3, 1, 2024), day(6, 1, 2024)),
    ],
)
def test_a_time_in_the_query_is_understood(query, start, end):
    assert read_query(query, NOW).period == Period(start, end)


@pytest.mark.parametrize(
    "query",
    [
        "we may march on",
        "which 3 may stay",
        "may 9 of us come",
        "9999-12-31",
        "2023 words",
        "2026-13-45",
        "2026-99",
        "no time here",
        "last 0 words",
        "before 5 people came",
        "since the launch",
    ],
)
def test_what_is_no_time_is_not_taken_for_one(query):
    assert read_query(query, NOW).period is None


def test_titles_paths_and_tags_are_references():
    question = read_query("compare [[Mirror Cell]] and [[Base|the base]] with src/app.py #Optics", NOW)
    assert question.titles == ("Mirror Cell", "Base", "src/app.py")
    assert question.tags == ("Optics",)


PIECES = st.sampled_from(
    ["last ", "next ", "in ", "due ", "99999999999 ", "0 ", "-1 ", "days", "weeks ago", "years", "31 Feb ",
     "2026-13-45", "0000-01-01", "9999-12-31 ", "Q5 ", "between ", "and ", "since ", "before ",
     "the year 9999 ", "[[", "]]", "((", "))", "#", '"', "'", "@", "/a/b.md ", "²³ ", "١٢ ", "it ",
     "these ", "What links to ", "similar to ", "\u0130"]
)  # fmt: skip


@settings(max_examples=some(9000, part=90))
@given(st.text() | st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join))
def test_any_text_can_be_read(text):
    assert read_query(text, NOW).text == text


@pytest.mark.parametrize(
    "query",
    [
        "What tasks are overdue?", "anything over-due", "past due items", "past-due", "who is past the deadline",
        "missed deadlines", "behind our due dates", "late tasks", "which todos are late", "OVERDUE",
    ],
)  # fmt: skip
def test_questions_for_what_is_overdue(query):
    question = read_query(query, NOW)
    assert question.overdue
    assert question.wanted_types >= {"todo", "kanban_card", "task"}


@pytest.mark.parametrize(
    "query", ["", "what is due today?", "the coater is late", "which tasks are done?", "due process", "later"]
)
def test_other_questions_are_not_for_what_is_overdue(query):
    assert not read_query(query, NOW).overdue


@pytest.mark.parametrize(
    ("query", "keywords"),
    [
        ("दर्पण का निरीक्षण कब हुआ?", ("दर्पण", "निरीक्षण")),
        ("主镜检查", ("主镜", "镜检", "检查")),
        ("鏡の点検", ("鏡の", "の点", "点検")),
        ("ตรวจ", ("ตร", "รว", "วจ")),
        ("Inspecté naïvement", ("inspecté", "naïvement")),
    ],
)
def test_keywords_of_scripts_without_spaces_and_with_marks(query, keywords):
    assert read_query(query, NOW).keywords == keywords


def test_what_is_due_on_a_weekday_is_due_on_the_next_one():
    assert read_query("what is due on Friday?", NOW).due == Period(day(3, 20), day(3, 21))


def test_a_framework_is_no_season():
    assert read_query("beans in Spring Boot", NOW).period is None
