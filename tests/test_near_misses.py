"""Near misses: with so many more tokens it is in, with one fewer it is not, whatever the packer."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weftwork import Edge, Node, Weft
from weftwork.near_misses import WHOLE, NearMisses
from weftwork.pack import PACKERS
from weftwork.recipe import get_recipe
from weftwork.store.contract.kit import NOW

WORDS = "mirror telescope library birch polish april lens tube focus star moon night grind base ship".split()


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    """Notes of many sizes, some of them linked, so that several sections compete."""
    with Weft.open(tmp_path_factory.mktemp("near") / "w.weft", embedder="hashing", clock=lambda: NOW) as opened:
        opened.add(
            [
                Node(
                    id=f"n{n:02}",
                    type=("page", "task", "file")[n % 3],
                    title=f"Note {n}",
                    text="mirror " + " ".join(WORDS[(n * 7 + k * (n + 1)) % len(WORDS)] for k in range(10 + 9 * n)),
                )
                for n in range(24)
            ],
            [Edge(source="n00", target=f"n{n:02}") for n in range(1, 24, 4)],
        )
        yield opened


def fate(context, decision):
    return next(
        (each.fate for each in context.trace if (each.node, each.citation) == (decision.node, decision.citation)), None
    )


@given(
    packer=st.sampled_from(PACKERS),
    name=st.sampled_from(["default", "workspace", "graph"]),
    budget=st.integers(60, 2500),
    focus=st.sampled_from([None, "n00"]),
    picks=st.tuples(st.integers(0, 50), st.integers(0, 50)),
)
@example(packer="density", name="default", budget=823, focus="n00", picks=(3, 4))
@settings(max_examples=30)
def test_so_many_more_tokens_let_it_in_and_one_fewer_does_not(weft, packer, name, budget, focus, picks):
    recipe = replace(get_recipe(name), packer=packer)

    def build(total):
        return weft.context("mirror telescope", budget=total, recipe=recipe, focus=focus)

    context = build(budget)
    left_out = [each for each in context.trace if each.missing_tokens is not None and each.fate not in WHOLE]
    misses = NearMisses(build, context)
    # Two of them, since what was found out for the first is used for the second.
    for decision in [left_out[place % len(left_out)] for place in picks] if left_out else ():
        more = misses.more_tokens(decision, most=budget)
        if more is None:
            assert fate(build(2 * budget), decision) not in WHOLE
        else:
            assert 0 < more <= budget
            assert fate(build(budget + more), decision) in WHOLE
            assert fate(build(budget + more - 1), decision) not in WHOLE


def test_what_is_in_needs_nothing_more(weft):
    context = weft.context("mirror", budget=2000)
    shown = next(each for each in context.trace if each.fate == "included")
    assert NearMisses(lambda total: pytest.fail("there is nothing to try"), context).more_tokens(shown, most=100) == 0


def test_what_no_budget_lets_in_says_so(weft):
    """A section that is closed stays closed, however large the budget is."""
    recipe = replace(get_recipe("default"), sections={"semantic": 0}, share=False)
    context = weft.context("mirror", budget=500, recipe=recipe)
    closed = next(each for each in context.trace if each.section == "semantic")
    tried = []

    def build(total):
        tried.append(total)
        return weft.context("mirror", budget=total, recipe=recipe)

    assert NearMisses(build, context).more_tokens(closed, most=3000) is None
    assert tried[-1] == 3500


def test_the_answer_does_not_depend_on_what_else_was_asked(weft):
    context = weft.context("mirror telescope", budget=700)
    left_out = [each for each in context.trace if each.missing_tokens is not None and each.fate not in WHOLE][:6]

    def build(total):
        return weft.context("mirror telescope", budget=total)

    alone = [NearMisses(build, context).more_tokens(each, most=700) for each in left_out]
    together = NearMisses(build, context)
    assert [together.more_tokens(each, most=700) for each in left_out] == alone
    assert len(set(alone)) > 1
