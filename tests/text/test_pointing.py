import pytest

from weftwork.query import STOP_WORDS
from weftwork.text.pointing import points_back, subject_of, wants_linked, wants_similar


@pytest.mark.parametrize(
    "request_text",
    [
        "Explain this",
        "Improve the writing of this paragraph",
        "Translate this to German",
        "Can you please summarise this page in three bullets?",
        "Break this task into subtasks",
        "Rewrite it in a friendlier tone",
        "Turn this into a table",
        "Can you explain this contract clause to me?",
        "What does this mean?",
        "When is this due?",
        "Fix spelling and grammar",
        "Extract action items",
        "What are the next steps?",
    ],
)
def test_a_request_that_only_points_has_nothing_to_search_for(request_text):
    assert subject_of(request_text, STOP_WORDS) == ""


@pytest.mark.parametrize(
    ("request_text", "subject"),
    [
        ("Explain how this relates to the Apollo budget", "apollo budget"),
        ("Rewrite this using our style guide", "style guide"),
        ("Compare this with the Borealis contract", "borealis contract"),
        ("What are the risks here?", "risks"),
    ],
)
def test_what_a_request_names_beside_the_focus_is_its_subject(request_text, subject):
    assert subject_of(request_text, STOP_WORDS) == subject


@pytest.mark.parametrize(
    "request_text",
    [
        "What tasks are overdue?",
        "Find the note that mentions foam",
        "How do I publish my notes to GitHub Pages?",
        "Summarize the meeting notes of last week",
        "Make a list of suppliers",
        "version",
    ],
)
def test_other_requests_do_not_point(request_text):
    assert subject_of(request_text, STOP_WORDS) is None


def test_breaking_down_planning_and_estimating_want_similar_things():
    assert all(map(wants_similar, ("Break this task into subtasks", "How long will it take?", "Something like this")))
    assert not any(map(wants_similar, ("Explain this", "Summarize this page", "Who likes foam?")))


def test_a_question_that_says_little_is_about_what_was_said_before():
    assert points_back("Who orders it?", 1)
    assert points_back("And the plywood from Brink?", 2)
    assert points_back("Why?", 0)
    assert not points_back("Which suppliers deliver plywood to Graz?", 4)
    assert not points_back("Find the notes that mention foam and plywood", 4)


def test_what_is_linked_is_asked_for_in_words():
    assert all(map(wants_linked, ("How does this relate?", "What is it connected to?", "Give me some background")))
    assert not any(map(wants_linked, ("Explain this", "Summarize this page", "Translate this to German")))
