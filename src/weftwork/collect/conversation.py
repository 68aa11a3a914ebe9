"""Collector of what was said right before and after the hits in the same conversation."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry

REACH = 2
SHARES = {-1: 0.8, 1: 0.7, -2: 0.6, 2: 0.5}
"""The share of a hit's score for what is so far after it: a hit is often the question that the next turn answers.

Chosen on three LoCoMo conversations and confirmed on the other two (docs/decisions/0025-conversations-of-memories.md).
"""


@dataclass(frozen=True, slots=True)
class ConversationCollector:
    """The nodes said around each hit in its conversation, scored by a share of the hit's score."""

    name: str = "conversation"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The highest share first."""
        hits = {hit.key for hit in (*inquiry.word_hits, *inquiry.vector_hits)}
        said = [record.passage.key for record in inquiry.load(sorted(hits)) if record.node.conversation is not None]
        if not said:
            return []
        scores = inquiry.evidence if inquiry.word_hits else inquiry.cosines
        filters = inquiry.request.filters
        best: dict[int, Found] = {}
        for key, around in inquiry.view.said_around(said, REACH, as_of=filters.as_of).items():
            for offset, other in around:
                # Seen from the other one, the hit is as far on the other side.
                score = min(1.0, SHARES[-offset] * max(0.0, scores.get(key, 0.0)))
                if other not in best or score > best[other].score:
                    place = "before" if offset < 0 else "after"
                    best[other] = Found(other, score, f"said {abs(offset)} {place} a hit", "adjacent")
        ordered = sorted(best.values(), key=lambda found: (-found.score, found.key))
        others = [found.key for found in ordered if found.key not in hits][: inquiry.search_depth]
        admitted = {record.passage.key for record in inquiry.load(others) if filters.admits(record.node)}
        return [found for found in ordered if found.key in hits or found.key in admitted]
