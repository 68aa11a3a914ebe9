"""The contract's own interfaces can be handed to the builder, and keep permissions and budgets."""

import asyncio
from dataclasses import dataclass, replace

import pytest

from weftwork import Node
from weftwork.errors import InvalidInput
from weftwork.faces.workspace import ContextBuilder, ContextItem, ContextRequest, Focus, TokenBudget, User

from .desk import blocks, section, shown


@pytest.fixture
def weft(empty):
    empty.weft.add(
        [
            Node(id="quince", type="page", title="Quince", text="Quince jam needs sugar and patience."),
            Node(id="recipe", type="page", title="Recipe", text="Quince jam: boil the quince with sugar. " * 6),
            Node(id="board", type="page", title="Board", text="Ask the neighbours for jars."),
            Node(id="secret", type="page", title="Secret", text="What my rival puts in.", access=frozenset({"ben"})),
        ]
    )
    return empty.weft


def build(weft, query="quince jam", *, user="ana", parts, **request):
    builder = ContextBuilder(weft, **parts)
    payload = asyncio.run(builder.build(ContextRequest(query=query, user=User(user), **request)))
    checked = builder.validate(payload)
    assert checked.valid, checked.violations
    return payload


@dataclass
class Pinboard:
    """A collector of the contract: blocks that the team has pinned."""

    pinned: tuple[str, ...]
    section: str = "relations"
    relevance: float = 0.9

    async def collect(self, request):
        await asyncio.sleep(0)
        self.asked = request.query
        return [
            ContextItem(block_id=name, block_type="page", content="as the collector has it", relevance=self.relevance)
            for name in self.pinned
        ]


def test_blocks_of_a_collector_stand_in_its_section_with_the_content_of_the_store(weft):
    pinboard = Pinboard(("board",))
    payload = build(weft, parts={"collectors": [pinboard]})
    assert pinboard.asked == "quince jam"
    assert blocks(payload, "relations") == ["board"]
    assert section(payload, "relations").items[0].content.startswith("Ask the neighbours")
    assert "Pinboard" in payload.metadata.collectors_used
    decision = next(each for each in payload.context.trace if each.node == "board")
    assert [(each.collector, each.score) for each in decision.findings] == [("Pinboard", 0.9)]
    assert "board" not in [each.node for each in build(weft, parts={}).context.trace]


def test_a_collector_cannot_bring_in_what_the_user_may_not_see(weft):
    parts = {"collectors": [Pinboard(("secret", "nowhere", "board"))]}
    payload = build(weft, parts=parts)
    assert "rival" not in payload.serialized and "as the collector has it" not in payload.serialized
    assert blocks(payload, "relations") == ["board"]
    assert [warning.split(",")[0] for warning in payload.context.warnings] == [
        "collector 'Pinboard' gave 'secret'",
        "collector 'Pinboard' gave 'nowhere'",
    ]
    assert "secret" in blocks(build(weft, parts=parts, user="ben"), "relations")


def test_a_section_that_is_closed_takes_nothing_from_a_collector(weft):
    budget = TokenBudget(relations=0)
    payload = build(weft, parts={"collectors": [Pinboard(("board",))]}, token_budget=budget)
    assert blocks(payload, "relations") == []


def test_a_relevance_that_is_no_share_is_refused(weft):
    with pytest.raises(InvalidInput, match=r"collector 'Pinboard' gave 'board' a relevance of 7: give 0 to 1"):
        build(weft, parts={"collectors": [Pinboard(("board",), relevance=7)]})


class Shortest:
    """A scorer of the contract: the shorter the better."""

    def __init__(self):
        self.seen = []

    def score(self, item, request):
        self.seen.append((item.block_id, item.relevance, request.query))
        return 1.0 / (1.0 + len(item.content))


def test_a_scorer_takes_the_place_of_the_five_weights(weft):
    scorer = Shortest()
    payload = build(weft, parts={"scorer": scorer})
    assert blocks(payload, "semantic")[0] == "quince"
    assert {name for name, *_ in scorer.seen} >= {"quince", "recipe"}
    assert all(0 < worth <= 1 and query == "quince jam" for _, worth, query in scorer.seen)
    for decision in payload.context.trace:
        assert decision.signals.keys() == {"scorer"} and decision.score == pytest.approx(decision.signals["scorer"])


@dataclass
class Chosen:
    items: list


class LowestFirst:
    """An allocator of the contract that takes the least relevant item alone, or all of them."""

    def __init__(self, most=1, cut=None):
        self.most, self.cut, self.budgets = most, cut, []

    def allocate(self, items, budget):
        self.budgets.append(budget)
        chosen = sorted(items, key=lambda item: item.relevance)[: self.most]
        return Chosen([replace(item, content=item.content[: self.cut]) for item in chosen] if self.cut else chosen)


def test_an_allocator_chooses_in_place_of_the_greedy_one(weft):
    greedy = build(weft, parts={})
    payload = build(weft, parts={"allocator": LowestFirst()})
    assert len(blocks(greedy, "semantic")) > 1
    assert len(shown(payload, "semantic")) == 1
    reasons = {each.node: each.reason for each in payload.context.trace}
    assert reasons[shown(payload, "semantic")[0]] == "taken by the allocator"
    assert "left out by the allocator" in reasons.values()


def test_an_allocator_that_takes_everything_stays_within_the_budget(weft):
    allocator = LowestFirst(most=1000)
    budget = TokenBudget(total=90, focus=40, semantic=40, relations=10, history=0, activity=0, system=10)
    payload = build(weft, parts={"allocator": allocator}, token_budget=budget)
    assert weft.tools.counter.count(payload.serialized) <= 80
    assert all(0 <= each.total <= 80 and each.system == 0 for each in allocator.budgets)


def test_what_an_allocator_makes_shorter_is_shown_shorter(weft):
    whole = build(weft, parts={"allocator": LowestFirst(most=1000)})
    payload = build(weft, parts={"allocator": LowestFirst(most=1000, cut=150)})
    assert 0 < len(section(payload, "semantic").items) <= len(section(whole, "semantic").items)
    assert payload.metadata.total_tokens < whole.metadata.total_tokens
    cut = next(each for each in payload.context.trace if each.node == "recipe")
    assert (cut.fate, cut.reason) == ("truncated", "shortened, as the allocator has it")
    assert payload.context.truncated


def test_what_was_asked_for_is_there_whatever_an_allocator_takes(weft):
    payload = build(weft, parts={"allocator": LowestFirst(most=0)}, focus=Focus(block_id="board"))
    assert blocks(payload, "focus") == ["board"]
