"""The contract's own interfaces (3, 4.1 and 5.1), as parts of the one pipeline.

    builder = ContextBuilder(weft, collectors=[Pinboard()], scorer=ByLength(), allocator=Alternating())

They see items and requests in the contract's shapes. Permissions and budgets are kept for them: a block that the user
may not see is left out, and what an allocator takes beyond the budget is not taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from weftwork.collect import Found, Inquiry
from weftwork.errors import InvalidInput
from weftwork.faces.workspace.budget import TokenBudget
from weftwork.faces.workspace.payload import ContextItem, ItemMetadata
from weftwork.faces.workspace.request import ContextRequest
from weftwork.pack import Choice, Ledger, Packing, Room, Shorten, shortened, take_pinned
from weftwork.render.values import iso
from weftwork.score import Facts, Profile
from weftwork.score.relevance import relevance
from weftwork.types import Candidate, NodeInfo

SECTION = "semantic"
"""The section of the findings of a collector that does not name one."""
PARTS = 4
"""The most passages of a long block that are offered."""


class ContextCollector(Protocol):
    """Finds blocks; it may have a `name`, and a `section` for what it finds."""

    async def collect(self, request: ContextRequest) -> Sequence[ContextItem]:
        """Blocks that exist, by their ids, the best first; of the content the store's own is shown."""


class RelevanceScorer(Protocol):
    """Says how relevant an item is, in place of the five weights."""

    def score(self, item: ContextItem, request: ContextRequest) -> float:
        """Return a score from 0 to 1; `item.relevance` is that of the collectors."""


class AllocatedContext(Protocol):
    """The result of an allocator."""

    @property
    def items(self) -> Sequence[ContextItem]:
        """The given items that it takes, whole or with less content."""


class BudgetAllocator(Protocol):
    """Chooses among items, in place of the greedy allocator."""

    def allocate(self, items: Sequence[ContextItem], budget: TokenBudget) -> AllocatedContext:
        """Items within the budget, whose `total` is the room left."""


@dataclass(frozen=True, slots=True)
class GivenBlocks:
    """The findings of a collector of the contract, as a collector of the pipeline."""

    items: tuple[ContextItem, ...]
    name: str
    section: str

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The passages of these blocks, as far as the user may see them."""
        asked = {item.block_id: item for item in self.items}
        excluded = inquiry.request.filters.exclude
        passages = inquiry.view.passages([name for name in asked if name not in excluded], PARTS)
        for name in asked:
            if name not in passages and name not in excluded:
                inquiry.warnings.append(f"collector {self.name!r} gave {name!r}, which this user cannot see: left out")
        return [
            Found(key, asked[name].relevance, f"given by {self.name}")
            for name in asked
            for key in passages.get(name, ())
        ]


async def collected(collectors: Sequence[ContextCollector], request: ContextRequest) -> tuple[GivenBlocks, ...]:
    """The findings of the contract's collectors, run one after the other on the caller's event loop."""
    found = []
    for collector in collectors:
        name = getattr(collector, "name", type(collector).__name__)
        items = tuple(await collector.collect(request))
        for item in items:
            if not 0.0 <= item.relevance <= 1.0:
                raise InvalidInput(
                    f"collector {name!r} gave {item.block_id!r} a relevance of {item.relevance!r}: give 0 to 1"
                )
        found.append(GivenBlocks(items, name, getattr(collector, "section", SECTION)))
    return tuple(found)


def scored_by(scorer: RelevanceScorer, request: ContextRequest) -> Profile:
    """A profile whose only signal is this scorer."""

    def signal(candidate: Candidate, facts: Facts) -> float:
        return scorer.score(item_of(candidate, relevance(candidate, facts) or 0.0), request)

    return Profile("own scorer", {"scorer": 1.0}, own={"scorer": signal})


def item_of(candidate: Candidate, worth: float) -> ContextItem:
    """A candidate in the contract's shape."""
    return ContextItem(
        block_id=candidate.node.id,
        block_type=candidate.node.type,
        content=candidate.passage.text or candidate.node.title,
        relevance=worth,
        metadata=item_metadata(candidate.node, candidate.trail, candidate.node.title),
    )


def item_metadata(node: NodeInfo, trail: Sequence[str], page_title: str) -> ItemMetadata:
    """The origin of a block."""
    return ItemMetadata(
        page_title=page_title or None,
        path=tuple(reversed(trail)),
        last_modified=iso(node.updated_at) if node.updated_at else None,
    )


@dataclass(frozen=True, slots=True)
class AllocatorPacker:
    """An allocator of the contract as a packer: it chooses among hits, and never gets past the room."""

    allocator: BudgetAllocator
    budget: TokenBudget
    """The sections that there are."""
    name: str = "allocator"

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Take pinned choices, and then those of the allocator, in its order."""
        ledger = Ledger(choices, room)
        take_pinned(ledger, shorten)
        caps = {name: room.cap(name) for name in self.budget.sections}
        budget = TokenBudget(**{**caps, "total": ledger.free, "system": 0})
        offered = {
            index: item_of(choice.candidate, choice.score)
            for index, choice in enumerate(choices)
            if choice.after is None and not ledger.settled(index)
        }
        for item in self.allocator.allocate(list(offered.values()), budget).items:
            # One that was made shorter is another object, with the id of its block.
            same = (index for index, other in offered.items() if other is item)
            alike = (index for index, other in offered.items() if other.block_id == item.block_id)
            index = next(same, next(alike, None))
            if index is None or ledger.settled(index):
                continue
            if offered[index].content == item.content and ledger.missing(index) is None:
                ledger.take(index, "taken by the allocator")
                continue
            share = min(1.0, len(item.content) / (len(offered[index].content) or 1))
            limit = min(ledger.left_for(index), choices[index].heading + int(share * choices[index].tokens))
            less = None if ledger.is_open(index) else shortened(choices[index], limit, shorten)
            if less is None:
                ledger.drop(index, "too little would be left of it", ledger.missing(index))
            else:
                ledger.take_shortened(index, less, "shortened, as the allocator has it")
        for index in range(len(choices)):
            if not ledger.settled(index):
                ledger.drop(index, "left out by the allocator")
        return ledger.packing()
