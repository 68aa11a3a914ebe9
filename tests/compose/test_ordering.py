"""Orders that differ from the scores."""

from weftwork.compose.ordering import STEP, with_descending_scores

from .making import candidate


def test_scores_fall_along_the_order_and_one_that_had_to_rise_keeps_its_own_as_a_signal():
    given = [candidate("a", key=1, score=0.2), candidate("b", key=2, score=0.5), candidate("c", key=3, score=0.3)]
    ordered = with_descending_scores(given)
    assert [each.node.id for each in ordered] == ["a", "b", "c"]
    assert [each.score for each in ordered] == [0.5 + STEP, 0.5, 0.3]
    assert [each.signals.get("rank") for each in ordered] == [0.2, None, None]
    assert with_descending_scores([]) == []
