"""Plain questions of the graph face are answered by the default searches."""

from weftwork.collect import ForQuestions, LexicalCollector
from weftwork.request import Topic
from weftwork.store.contract.kit import node, put


def found(desk, query, **more):
    return {
        candidate.node.id: candidate.distance
        for candidate in desk.gather(ForQuestions(LexicalCollector()), query=query, **more)
    }


def test_what_a_question_finds_is_a_start(store, desk):
    put(store, node("a", "The mirror is coated."), node("b", "A quince."))
    assert found(desk, "who coated the mirror") == {"a": 0}
    assert found(desk, "who coated the mirror", topics=(Topic("who coated the mirror"),)) == {"a": 0}


def test_nothing_is_searched_for_where_something_is_named(store, desk):
    put(store, node("a", "The mirror is coated."), node("b", "A mirror.", title="Mirror"))
    assert found(desk, "Mirror") == {}
    assert found(desk, "b") == {}
    assert found(desk, "mirror coated", focus="b") == {}
    assert found(desk, "mirror coated", topics=(Topic("quince"), Topic("mirror"))) == {}
    assert found(desk, " ") == {}
