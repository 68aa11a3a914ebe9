import pytest

from weftwork.score.node_type import confidence, source_priority, type_match

from .making import candidate, facts, found


@pytest.mark.parametrize(
    ("query", "type", "expected"),
    [
        ("open task list", "todo", 0.9),
        ("open task list", "kanban_card", 0.9),
        ("open task list", "page", 0.5),
        ("a summary please", "page", 0.8),
        ("a summary please", "todo", 0.5),
        ("a summary of all tasks", "page", 0.8),
        ("a summary of all tasks", "todo", 0.9),
        ("what about mirrors", "todo", 0.5),
        ("multitasking", "todo", 0.5),
    ],
)
def test_a_type_matches_when_the_query_asks_for_it(query, type, expected):
    assert type_match(candidate(type=type), facts(query)) == expected


def test_preferred_types_match_whatever_the_query_says():
    asked = facts("a summary", request={"prefer_types": frozenset({"page", "memory"})})
    assert type_match(candidate(type="memory"), asked) == 0.9
    assert type_match(candidate(type="page"), asked) == 0.9
    assert type_match(candidate(type="file"), asked) == 0.5


@pytest.mark.parametrize(
    ("type", "ordinal", "expected"),
    [
        ("file", 0, 0.7),
        ("file", 3, 0.6),  # a later passage of a file is a chunk of it
        ("page", 0, 0.7),  # pages, notes and documents count as files
        ("note", 1, 0.6),
        ("document", 0, 0.7),
        ("chunk", 0, 0.6),
        ("message", 0, 0.5),
        ("message", 2, 0.5),
        ("reference", 0, 1.0),
        ("memory", 0, 0.3),
    ],
)
def test_sources_have_the_priority_of_the_thread_contract(type, ordinal, expected):
    assert source_priority(candidate(type=type, ordinal=ordinal, findings=[found("words", 1.0)]), facts()) == expected


def test_an_explicit_reference_comes_first_whatever_its_type():
    both = [found("words", 0.1), found("reference", 1.0)]
    assert source_priority(candidate(type="message", findings=both), facts()) == 1.0


def test_confidence_is_what_the_node_says_and_zero_is_not_unknown():
    assert confidence(candidate(confidence=0.25), facts()) == 0.25
    assert confidence(candidate(confidence=0.0), facts()) == 0.0
    assert confidence(candidate(), facts()) is None
