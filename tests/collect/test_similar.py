from weftwork.collect import SimilarCollector
from weftwork.store.contract.kit import node, put

BREAK = "Break this into subtasks"


def tasks(store):
    put(
        store,
        node("focus", "paint the garden fence green", type="todo"),
        node("near", "paint the garden gate green", type="kanban_card"),
        node("far", "call the bank about money", type="todo"),
        node("page", "paint the garden fence green, all of it", type="page"),
        node("hidden", "paint the garden fence green again", type="todo", access=frozenset({"ana"})),
    )


def test_tasks_resemble_tasks_of_any_kind_the_nearest_first(store, desk):
    tasks(store)
    scores = desk.scores(SimilarCollector(share=0), BREAK, focus="focus", user="ben")
    assert list(scores) == ["near", "far"]
    assert scores["near"] > scores["far"]
    assert list(desk.scores(SimilarCollector(), BREAK, focus="focus", user="ben")) == ["near"]  # the other is far off
    assert list(desk.scores(SimilarCollector(limit=1), BREAK, focus="focus", user="ben")) == ["near"]
    assert next(iter(desk.scores(SimilarCollector(), BREAK, focus="focus"))) == "hidden"


def test_other_nodes_resemble_their_own_type_alone(store, desk):
    tasks(store)
    put(store, node("other", "a page about nothing"))
    assert list(desk.scores(SimilarCollector(), BREAK, focus="page")) == ["other"]


def test_excluded_nodes_are_left_out(store, desk):
    tasks(store)
    assert list(desk.scores(SimilarCollector(), BREAK, focus="focus", user="ben", exclude=["near"])) == ["far"]


def test_without_a_focus_an_embedding_or_a_text_there_is_nothing(store, desk):
    tasks(store)
    put(store, node("blank", type="todo", title=""))
    assert desk.scores(SimilarCollector(), f"{BREAK}: paint") == {}
    assert desk.scores(SimilarCollector(), BREAK, focus="focus", embedder=None) == {}
    assert desk.scores(SimilarCollector(), BREAK, focus="blank") == {}
    assert desk.scores(SimilarCollector(), BREAK, focus="hidden", user="ben") == {}


def test_other_requests_have_no_use_for_things_like_the_focus(store, desk):
    tasks(store)
    for query in ("Explain this", "Translate this to German", "Who paints the fence?"):
        assert desk.scores(SimilarCollector(), query, focus="focus") == {}
    for query in ("Split this into smaller tasks", "How long will this take?", "Find tasks like this"):
        assert desk.scores(SimilarCollector(), query, focus="focus")
