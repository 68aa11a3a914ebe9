"""From when and until when a node holds, as the engine sees it: in every collector, and in what it keeps in memory."""

from datetime import UTC, datetime, timedelta

import pytest

from weftwork import Edge, Filters, Message, Node, Weft
from weftwork.errors import DimensionError, InvalidInput
from weftwork.types import NodeInfo

NOW = datetime(2026, 3, 16, 9, 30, 30, tzinfo=UTC)
DAY = timedelta(days=1)


class Clock:
    now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def weft(tmp_path, clock):
    with Weft.open(tmp_path / "valid.weft", embedder="hashing", clock=clock) as engine:
        yield engine


def node(name, **more):
    return Node(**{"id": name, "title": name, "text": f"the {name} text", **more})


def shown(context):
    return {decision.node for decision in context.trace}


@pytest.mark.parametrize(
    ("start", "end", "holds"),
    [
        (None, None, True),
        (NOW, None, True),
        (NOW + DAY, None, False),
        (None, NOW, False),
        (None, NOW + DAY, True),
        (NOW, NOW, False),
    ],
)
def test_a_beginning_is_included_and_an_end_is_not(start, end, holds):
    info = NodeInfo(id="n", valid_from=start, valid_until=end)
    assert info.valid_at(NOW) is holds
    assert info.valid_at(None)


def test_an_end_before_the_beginning_is_refused(weft):
    with pytest.raises(InvalidInput, match="must not be before its valid_from"):
        weft.add([node("n", valid_from=NOW, valid_until=NOW - DAY)])
    with pytest.raises(InvalidInput, match="valid_until of node 'n' must be None or a time"):
        weft.add([node("n", valid_until="soon")])


def test_what_is_over_is_found_by_no_collector(weft):
    over = {"valid_until": NOW}
    weft.add(
        [
            node("page"),
            node("child", parent="page", **over),
            node("focus", parent="page"),
            node("sibling", parent="page", **over),
            node("below", parent="focus", **over),
            node("linked", **over),
            node("talk", type="thread"),
            node("said", parent="talk", type="message", **over),
            node("recent", **over),
            node("titled", **over),
        ],
        [Edge(source="focus", target="linked"), Edge(source="talk", target="linked", type="reference")],
    )
    with weft.atomic() as batch:
        batch.record("me", "recent", "edit", NOW)
    context = weft.context(
        "the [[titled]] text of child sibling below linked said recent", focus="focus", thread="talk"
    )
    assert shown(context) <= {"page", "focus", "talk"}
    assert {each.node.id for each in weft.search("text child sibling linked said recent titled")} <= {
        "page",
        "focus",
        "talk",
    }


def test_the_focus_and_what_is_included_by_id_are_shown_with_their_dates(weft):
    weft.add([node("old", valid_until=NOW - DAY), node("coming", valid_from=NOW + DAY), node("other")])
    context = weft.context("nothing", focus="old", include=("coming",))
    assert {"old", "coming"} <= shown(context)
    assert "valid until: 2026-03-15T09:30:30Z" in context.text
    assert "valid from: 2026-03-17T09:30:30Z" in context.text
    assert weft.node("old").valid_until == NOW - DAY
    assert "old" not in shown(weft.context("old"))


def test_a_page_that_is_over_is_not_shown_around_a_part_of_it_that_holds(weft):
    weft.add(
        [
            node("plan", type="page", text="Quinces are sold.", valid_until=NOW - DAY),
            node("part", type="heading", text="Quinces are picked in October.", parent="plan"),
        ]
    )
    context = weft.context("when are quinces picked")
    assert "picked in October" in context.text
    assert "are sold" not in context.text
    assert "are sold" in weft.context("when are quinces picked", include=("plan",)).text


def test_no_walk_leads_through_what_is_over(weft):
    weft.add(
        [node("start"), node("bridge", valid_until=NOW), node("beyond"), node("near")],
        [
            Edge(source="start", target="bridge"),
            Edge(source="bridge", target="beyond"),
            Edge(source="start", target="near"),
        ],
    )
    assert shown(weft.context("", focus="start")) == {"start", "near"}
    then = weft.context("", focus="start", filters=Filters(as_of=NOW - DAY))
    assert shown(then) == {"start", "bridge", "beyond", "near"}


def test_messages_handed_in_always_hold(weft):
    assert len(weft.context("x", history=(Message("user", "hello"),)).items) == 1


def test_a_kept_answer_ends_when_something_begins_or_ceases_to_hold(weft, clock):
    weft.add(
        [
            node("first", text="harbour", valid_until=NOW + timedelta(seconds=5)),
            node("second", text="harbour", title="other", valid_from=NOW + timedelta(seconds=10)),
        ]
    )
    for seconds, wanted in ((0, {"first"}), (4, {"first"}), (5, set()), (9, set()), (10, {"second"}), (20, {"second"})):
        clock.now = NOW + timedelta(seconds=seconds)
        assert shown(weft.context("harbour")) == wanted
    clock.now = NOW
    assert shown(weft.context("harbour")) == {"first"}


def test_within_that_time_the_same_answer_is_kept(weft, clock):
    weft.add([node("n", text="harbour", valid_until=NOW + DAY)])
    first = weft.context("harbour")
    clock.now += timedelta(seconds=10)
    assert weft.context("harbour") is first
    assert weft.context("harbour", filters=Filters(as_of=NOW)) is not first


def test_ages_are_those_of_the_moment_that_is_asked_for(weft):
    weft.add([node("n", text="harbour", created_at=NOW - 10 * DAY, updated_at=NOW - 10 * DAY)])
    context = weft.context("harbour", filters=Filters(as_of=NOW - 5 * DAY))
    assert context.trace[0].signals["recency_linear"] == pytest.approx(1 - 5 / 30, abs=1e-3)


def test_a_moment_without_a_zone_is_in_utc(weft):
    weft.add([node("n", text="harbour", valid_until=NOW)])
    assert shown(weft.context("harbour", filters=Filters(as_of=datetime(2026, 3, 16, 9)))) == {"n"}
    with pytest.raises(InvalidInput, match="as_of must be a time"):
        weft.context("harbour", filters=Filters(as_of="2026"))  # type: ignore[arg-type]


class TestGivenVector:
    def test_it_is_used_instead_of_the_querys_own(self, weft):
        weft.add([node("tea", text="green tea"), node("ship", text="a ship at sea")])
        vector = tuple(weft.tools.embedder.embed("ship\na ship at sea").tolist())
        context = weft.context("", vector=vector, recipe="memory")
        assert context.trace[0].node == "ship"
        assert context.trace[0].signals["fused"] == pytest.approx(1.0, abs=1e-5)

    @pytest.mark.parametrize("vector", [(1.0, 2.0), ()])
    def test_another_length_is_refused(self, weft, vector):
        with pytest.raises(DimensionError, match=f"the vector has {len(vector)} dimensions"):
            weft.context("x", vector=vector, recipe="memory")

    @pytest.mark.parametrize("vector", [[1.0], "ab", (float("nan"),), (float("inf"),), ("a",)])
    def test_what_is_no_tuple_of_finite_numbers_is_refused(self, weft, vector):
        with pytest.raises(InvalidInput, match="a tuple of finite numbers"):
            weft.context("x", vector=vector, recipe="memory")

    def test_it_needs_a_provider(self, tmp_path):
        with Weft.open(tmp_path / "blind.weft", embedder=None) as blind, pytest.raises(InvalidInput, match="provider"):
            blind.context("x", vector=(1.0,), recipe="memory")


@pytest.mark.parametrize("days", [0, -1, float("nan"), "never", True])
def test_a_decay_that_is_no_number_of_days_is_refused(weft, days):
    with pytest.raises(InvalidInput, match="the decay of 'remark' must be a number of days above 0"):
        weft.context("x", decay={"remark": days})
