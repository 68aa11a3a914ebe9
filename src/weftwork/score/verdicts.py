"""What a user's feedback says of the candidates for a question.

A source that helped with a question helps with questions like it, and says little of others: each vote counts as much
as its question is like the one that is asked. Only the user's own votes are read. What they move is bounded by the
profile's adjustment, and shown as the signal "feedback".
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from weftwork.collect.inquiry import Inquiry
from weftwork.history import Vote
from weftwork.query import read_query
from weftwork.text.analysis import stem_forms
from weftwork.text.languages import language_of

MOST_VOTES = 500
"""The user's latest votes that are read."""
UNLIKE = 0.2
"""The likeness up to which a vote on another question counts for nothing."""
UNASKED = 1 / 6
"""What a vote counts for that was given for no question in particular."""


def verdicts(inquiry: Inquiry, nodes: Collection[str]) -> dict[str, float]:
    """The user's verdict on each of these nodes, from −1, useless for this question, to 1; without a vote, none."""
    votes = [vote for vote in inquiry.view.votes(MOST_VOTES) if vote.node in nodes]
    if not votes:
        return {}
    likeness = _likeness(inquiry, {vote.query for vote in votes if vote.query})
    found: dict[str, float] = {}
    for vote in votes:
        count = _count(vote, likeness)
        if count:
            found[vote.node] = found.get(vote.node, 0.0) + (count if vote.useful else -count)
    return {node: min(1.0, max(-1.0, total)) for node, total in found.items()}


def _count(vote: Vote, likeness: Mapping[str, float]) -> float:
    if not vote.query:
        return UNASKED
    return max(0.0, (likeness[vote.query] - UNLIKE) / (1.0 - UNLIKE))


def _likeness(inquiry: Inquiry, queries: Collection[str]) -> dict[str, float]:
    """The cosine of each question with the one that is asked, over their words weighed by rarity."""
    asked = _stems(inquiry.question.words, inquiry.question.text)
    others = {query: _stems(read_query(query, inquiry.now).words, query) for query in queries}
    shared = {query: stems for query, stems in others.items() if not asked.keys().isdisjoint(stems)}
    words = dict.fromkeys(word for stems in (asked, *shared.values()) for word in stems.values())
    rarity = inquiry.view.idf(list(words)) if shared else {}
    found = {query: _cosine(asked, shared.get(query, {}), rarity) for query in queries}
    return {**found, inquiry.question.text: 1.0}


def _stems(words: Collection[str], text: str) -> dict[tuple[str, ...], str]:
    """The words that tell what a question is about, by their stems."""
    language = language_of(text, least=1)
    return {form: word for word in words for form in stem_forms(word, (language,))[:1]}


def _cosine(
    left: Mapping[tuple[str, ...], str], right: Mapping[tuple[str, ...], str], rarity: Mapping[str, float]
) -> float:
    norms = [sum(rarity.get(word, 0.0) ** 2 for word in words.values()) for words in (left, right)]
    both = sum(rarity.get(word, 0.0) ** 2 for stem, word in left.items() if stem in right)
    return both / math.sqrt(norms[0] * norms[1]) if both else 0.0
