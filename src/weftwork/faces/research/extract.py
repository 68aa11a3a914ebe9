"""Extractive answers without a model: what answers best in the sources, each with its citation."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from weftwork.embed.protocol import EmbeddingProvider, Matrix
from weftwork.faces.research.quotable import Quotable, quotables
from weftwork.faces.research.values import SourceDocument
from weftwork.render.quote import fence
from weftwork.text.analysis import analyse, query_terms
from weftwork.text.languages import language_of

MOST_QUOTES = 5
WORDS, MEANING, PAGE, OPENING = 0.45, 0.2, 0.3, 0.05
"""Weights of the query's words, the cosine of the sentence, the score of its page, and that it opens the page."""
STEPS = 0.05
"""What a list is worth beyond that where the question asks how something is done."""
ENOUGH = 0.93
"""Share of the best quote's worth below which another no longer answers."""
LEADING = 0.8
"""The same share for the source that was found first, since the search saw more of it than single sentences."""
FOLLOWED = 80
"""Words up to which the first quote is followed by what stands after it: what announces an answer is none."""
ALIKE, SAME = 0.6, 0.9
"""Shares of common words from which a quote is a near-duplicate of another, and of one that it follows."""
NOTHING = "Nothing in these documents answers this."

_HOW_TO = re.compile(r"\W*(?:how (?:do|can|could|should|would|to)|(?:what|which) (?:are the )?steps)\b", re.IGNORECASE)
_LIKE_A_CITATION = re.compile(r"[\[【]([^\[\]【】]{0,80}?\d[^\[\]【】]{0,80})[\]】]")


def extract_answer(query: str, sources: Sequence[SourceDocument], embedder: EmbeddingProvider | None = None) -> str:
    """The quotes that answer best, one a line, in the order of their sources, each with its citation."""
    language = language_of(query, least=1)
    quotes = [quote for number, source in enumerate(sources, 1) for quote in quotables(source, number, language)]
    weights = _weights(query, quotes, language)
    matching = [quote for quote in quotes if not weights.keys().isdisjoint(quote.words | quote.above)]
    if not matching:
        return NOTHING
    cosines = _cosines(query, matching, embedder)
    steps = _HOW_TO.match(query) is not None
    standing = [source.relevance_score for source in sources]
    best = max(standing) or 1.0
    worth = {
        quote: WORDS * _covered(quote, weights)
        + MEANING * cosine
        + PAGE * standing[quote.number - 1] / best
        + OPENING * quote.opens
        + (STEPS if steps and quote.parts else 0.0)
        for quote, cosine in zip(matching, cosines, strict=True)
    }
    chosen = _chosen(sorted(matching, key=lambda quote: -worth[quote]), worth)
    chosen += _following(chosen, quotes)
    return "\n".join(map(_cited, sorted(chosen, key=lambda quote: (quote.number, quote.place))))


def _cited(quote: Quotable) -> str:
    """A quote with its citation, and its code below."""
    line = f"{_without_citations(quote.text)} [{quote.number}]"
    return f"{line}\n{fence(quote.code).rstrip()}" if quote.code else line


def _without_citations(text: str) -> str:
    """A sentence in which no number stands in brackets, as a citation does, but in code, which has none."""
    pieces = text.split("`")
    pieces[::2] = [_LIKE_A_CITATION.sub(r"(\1)", piece) for piece in pieces[::2]]
    paired = len(pieces) % 2 and "" not in pieces[1:-1]
    if paired and not _LIKE_A_CITATION.search("".join(pieces[::2])):
        return "`".join(pieces)
    return _LIKE_A_CITATION.sub(r"(\1)", text.replace("`", "'"))  # other marks could make code of our citations


def _weights(query: str, quotes: Sequence[Quotable], language: str) -> dict[str, float]:
    """The weights of the query's words: the rarer in the quotes, the higher."""
    words = query_terms(analyse(query, language), language)
    spread = {
        word: sum(word in quote.words for quote in quotes) or sum(word in quote.above for quote in quotes)
        for word in words
    }
    return {word: math.log1p(len(quotes) / count) for word, count in spread.items() if count}


def _covered(quote: Quotable, weights: Mapping[str, float]) -> float:
    """The share of the query that a quote covers with what stands above it, by the weights of its words."""
    said = quote.words | quote.above
    return math.fsum(weight for word, weight in weights.items() if word in said) / math.fsum(weights.values())


def _cosines(query: str, quotes: Sequence[Quotable], embedder: EmbeddingProvider | None) -> list[float]:
    if embedder is None:
        return [0.0] * len(quotes)
    rows: Matrix = embedder.embed_batch([query, *(f"{quote.text} {quote.code}".strip() for quote in quotes)])
    return [max(0.0, float(value)) for value in np.vecdot(rows[1:], rows[0])]


def _chosen(ranked: Sequence[Quotable], worth: Mapping[Quotable, float]) -> list[Quotable]:
    """The best quotes, without near-duplicates and those much worse; first that of the first source."""
    leading = next((quote for quote in ranked if quote.number == 1), ranked[0])
    chosen = [leading] if worth[leading] >= LEADING * worth[ranked[0]] else []
    for quote in ranked:
        if len(chosen) == MOST_QUOTES or worth[quote] < ENOUGH * worth[ranked[0]]:
            break
        if not any(_alike(quote, other, ALIKE) for other in chosen):
            chosen.append(quote)
    return chosen


def _following(chosen: Sequence[Quotable], quotes: Sequence[Quotable]) -> list[Quotable]:
    """The text after the best quote, as far as its words are few."""
    best, following = chosen[0], list[Quotable]()
    room = 0 if best.parts or best.code else FOLLOWED - best.length
    after = [quote for quote in quotes if quote.number == best.number and quote.place > best.place]
    entries = "\n".join(entry for quote in after for entry in quote.parts)
    for quote in after:
        shown = quote in chosen or any(_alike(quote, other, SAME) for other in (*chosen, *following))
        if shown or quote.text in entries:  # entries of a list stand together
            continue
        room -= quote.length
        if room < 0:
            break
        following.append(quote)
    return following


def _alike(one: Quotable, other: Quotable, share: float) -> bool:
    return len(one.words & other.words) >= share * min(len(one.words), len(other.words))
