"""Signals of word overlap with the query (thread contract)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from weftwork.query import words_of
from weftwork.score.facts import Facts
from weftwork.score.node_type import is_part_of_file
from weftwork.types import Candidate


def text_similarity(candidate: Candidate, facts: Facts) -> float | None:
    """Cosine of the TF-IDF vectors, with the rarity of words among the passages that the viewer may see.

    Where texts have embeddings, it is the mean of this and of the evidence of words and meaning together.
    """
    similarity = cosine(tf_idf(content_of(candidate), facts.idf), tf_idf(facts.question.text, facts.idf))
    if not facts.similarities:
        return similarity
    return (similarity + min(1.0, facts.evidence.get(candidate.key, 0.0))) / 2


def content_of(candidate: Candidate) -> str:
    """The text of a passage as its file has it: a part of a file begins with its heading."""
    title, text = candidate.node.title, candidate.passage.text
    return f"{title}\n{text}" if is_part_of_file(candidate) and not candidate.passage.ordinal else text or title


def keyword_match(candidate: Candidate, facts: Facts) -> float | None:
    """Share of the keywords that occur in the content; None if the query has none."""
    keywords = facts.question.keywords
    if not keywords:
        return None
    content = f"{candidate.node.title}\n{candidate.passage.text}".lower()
    return sum(keyword in content for keyword in keywords) / len(keywords)


def tf_idf(text: str, idf: Mapping[str, float]) -> dict[str, float]:
    """Share of each word among all words, times its rarity where that is known, else 1."""
    words = words_of(text)
    return {word: count / len(words) * idf.get(word, 1.0) for word, count in Counter(words).items()}


def cosine(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """The angle between two bags of words; 0 if either is empty."""
    dot = math.fsum(value * right[word] for word, value in left.items() if word in right)
    norms = math.hypot(*left.values()) * math.hypot(*right.values())
    return 0.0 if norms == 0 else dot / norms
