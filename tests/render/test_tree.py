from dataclasses import replace

from weftwork.render.tree import as_a_tree
from weftwork.types import Item, Reach, Rendering, Step

from .sample import candidate


def item(name, *way, start="a", ordinal=0):
    """A node that was reached from a start over these nodes."""
    steps = tuple(Step("child", "out", each) for each in (*way, name)) if start != name else ()
    found = replace(candidate(id=name), path=steps, distance=len(steps), reached=(Reach("x", start, len(steps)),))
    return Item(replace(found, passage=replace(found.passage, ordinal=ordinal)), Rendering("full", name, 1))


def order(*items):
    return [(each.candidate.node.id, each.candidate.passage.ordinal) for each in as_a_tree(items)]


def test_each_node_stands_below_the_one_that_led_to_it_the_best_first():
    items = [item("d", "b"), item("c"), item("a"), item("b"), item("e", "b"), item("z", start="z")]
    assert [name for name, _ in order(*items)] == ["a", "c", "b", "d", "e", "z"]


def test_what_led_there_may_be_missing():
    assert [name for name, _ in order(item("d", "b", "c"), item("a"))] == ["a", "d"]
    assert [name for name, _ in order(item("d", "b", "c"), item("b"), item("q"))] == ["b", "d", "q"]


def test_the_passages_of_a_node_stand_together_in_reading_order():
    items = [item("a", ordinal=2), item("b"), item("a", ordinal=0), item("a", ordinal=1)]
    assert order(*items) == [("a", 0), ("a", 1), ("a", 2), ("b", 0)]
