import pytest

from weftwork.collect import TURNS, AdjacentCollector
from weftwork.store.contract.kit import node, put
from weftwork.types import Filters


@pytest.fixture
def talk(store):
    said = ["hello there", "how was the zeppelin flight", "windy", "really", "very", "good night"]
    put(store, node("t", type="thread"))
    turns = [
        node(f"m{place}", text, title="", type="message", parent="t", position=place) for place, text in enumerate(said)
    ]
    put(store, *turns)
    return turns


def test_the_turns_around_a_hit_are_found_the_nearest_first(talk, desk):
    findings = desk.collect(AdjacentCollector(), "zeppelin", embedder=None)
    assert findings == [("m0", 0.0, "1 before a hit"), ("m2", 0.0, "1 after a hit"), ("m3", 0.0, "2 after a hit")]
    assert [name for name, *_ in desk.collect(AdjacentCollector(count=1), "zeppelin", embedder=None)] == ["m0", "m2"]


def test_what_is_a_hit_itself_is_not_found_again(talk, desk):
    findings = desk.collect(AdjacentCollector(count=1), "zeppelin windy", embedder=None)
    assert {name for name, *_ in findings} == {"m0", "m3"}


def test_filters_and_access_hold_for_what_stands_beside_too(talk, store, desk):
    with store.atomic("contract") as batch:
        batch.add_user("ben")
        batch.set_access("m2", frozenset({"ana"}))
    findings = desk.collect(AdjacentCollector(), "zeppelin", user="ben", embedder=None)
    assert [name for name, *_ in findings] == ["m0", "m3", "m4"]
    assert [name for name, *_ in desk.collect(AdjacentCollector(), "zeppelin", embedder=None, exclude=["m2"])] == [
        "m0",
        "m3",
    ]
    only = Filters(types=frozenset({"message"}), tags=frozenset({"x"}))
    assert desk.collect(AdjacentCollector(), "zeppelin", embedder=None, filters=only) == []


def test_only_around_hits_of_some_types(talk, store, desk):
    put(store, node("p1", "before"), node("p2", "a zeppelin in the hall"))
    findings = desk.collect(AdjacentCollector(types=TURNS), "zeppelin", embedder=None)
    assert {name for name, *_ in findings} == {"m0", "m2", "m3"}
    assert desk.collect(AdjacentCollector(types=frozenset({"task"})), "zeppelin", embedder=None) == []
