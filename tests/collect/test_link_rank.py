"""Link rank: the spread itself, and the collector on a real store."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weftwork.collect import LinkRankCollector
from weftwork.collect.link_rank import spread
from weftwork.store.contract.kit import NOW, WORKSPACE, node, put
from weftwork.types import Edge, Filters


def test_without_links_every_seed_keeps_its_worth():
    assert spread({"a": 0.8, "b": 0.3}, {}) == pytest.approx({"a": 0.8, "b": 0.3})


def test_what_two_seeds_link_to_gains_more_than_what_one_does():
    worth = spread({"a": 0.8, "b": 0.7}, {"a": ["both", "one"], "b": ["both"], "both": ["a", "b"], "one": ["a"]})
    assert worth["both"] > worth["one"] > 0
    assert worth["a"] > 0.8 and worth["b"] > 0.7


def test_what_everything_links_to_gains_less():
    crowd = [f"n{number}" for number in range(40)]
    few = spread({"a": 0.8}, {"a": ["t"], "t": ["a"]})["t"]
    links = {"a": ["t"], "t": ["a", *crowd], **{name: ["t"] for name in crowd}}
    assert spread({"a": 0.8}, links)["t"] < 0.8 * few
    assert spread({"a": 0.8}, links, hub=4.0)["t"] < spread({"a": 0.8}, links, hub=8.0)["t"]


names = st.sampled_from("abcdefgh")


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(names, st.floats(0.05, 1.0), min_size=1), st.sets(st.tuples(names, names), max_size=20))
def test_no_seed_loses_and_all_worth_comes_from_a_seed(seeds, pairs):
    links = {}
    for left, right in pairs:
        if left != right:
            links.setdefault(left, set()).add(right)
            links.setdefault(right, set()).add(left)
    worth = spread(seeds, {name: sorted(others) for name, others in links.items()})
    assert all(worth[name] >= value - 1e-9 for name, value in seeds.items())
    reachable, ahead = set(seeds), list(seeds)
    while ahead:
        new = links.get(ahead.pop(), set()) - reachable
        reachable |= new
        ahead += new
    assert set(worth) <= reachable


def bridge(store, **of_node):
    """A question about a film leads to its page, which names the director; her page shares no word with it."""
    put(
        store,
        node("film", "The heron film was shot in winter.", title="Heron"),
        node("director", "Born in Lisbon.", title="Ana Sousa", **of_node),
        node("town", "A port.", title="Lisbon"),
        node("other", "Herons are birds.", title="Birds"),
        edges=(
            Edge(source="film", target="director", type="mention"),
            Edge(source="director", target="town", type="mention"),
        ),
    )


def collected(desk, **request):
    return {name: why for name, _, why in desk.collect(LinkRankCollector(), "heron film", embedder=None, **request)}


def test_links_lead_from_a_hit_to_what_shares_no_word_with_the_question(store, desk):
    bridge(store)
    scores = collected(desk)
    assert scores["director"] == "linked with a hit"
    assert scores["town"] == "two links from a hit"
    assert "film" in scores and "other" not in scores


def test_nothing_hidden_or_over_is_found_or_passed_through(store, desk):
    bridge(store, access=frozenset({"ana"}))
    assert set(collected(desk, user="ana")) == {"film", "director", "town"}
    assert collected(desk, user="ben") == {}
    with store.atomic(WORKSPACE) as batch:
        batch.set_validity("director", None, NOW)
    assert collected(desk, filters=Filters(as_of=NOW)) == {}


def test_filters_and_edge_types_of_the_request_hold(store, desk):
    bridge(store, type="person")
    assert set(collected(desk, filters=Filters(types=frozenset({"person", "page"})))) >= {"film", "director"}
    assert "director" not in collected(desk, filters=Filters(types=frozenset({"page"})))
    assert "director" not in collected(desk, filters=Filters(exclude=frozenset({"director"})))
    assert collected(desk, edge_types=("field",)) == {}


def test_only_so_many_nodes_that_no_search_found_are_offered(store, desk):
    spokes = [node(f"s{number}", "Nothing alike.") for number in range(9)]
    put(store, node("hub", "heron film"), *spokes, edges=tuple(Edge(source="hub", target=spoke.id) for spoke in spokes))
    few = replace(LinkRankCollector(), limit=4)
    findings = [name for name, *_ in desk.collect(few, "heron film", embedder=None)]
    assert len([name for name in findings if name != "hub"]) == 4
