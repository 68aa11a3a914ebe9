"""An answer without a model: the sentences of the sources that answer best, quoted, each with its citation."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weftwork.embed.protocol import EmbeddingProvider, Matrix
from weftwork.faces.research.values import SourceDocument
from weftwork.render.quote import clean
from weftwork.text.analysis import analyse, query_terms
from weftwork.text.sentences import split_sentences

MOST_SENTENCES = 5
WORDS, MEANING, PAGE, OPENING = 0.45, 0.2, 0.3, 0.05
"""What counts: the query's words, how near the sentence is, the standing of its page, and that it opens the page."""
ENOUGH = 0.85
"""Share of the best sentence's worth below which a sentence no longer answers."""
ALIKE = 0.6
"""Share of common words from which a sentence says what another one has said."""
FEWEST_WORDS, MOST_WORDS = 4, 120
NOTHING = "The sources do not answer this question."

_MARKS = re.compile(r"^(?:[#>\s]+|[-*+•]\s+|\d{1,3}[.)]\s+)+")
_ENTRY = re.compile(r"[-*+•]\s|\d{1,3}[.)]\s")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)")
_LIKE_A_CITATION = re.compile(r"[\[【]([^\[\]【】]{0,80}?\d[^\[\]【】]{0,80})[\]】]")


@dataclass(frozen=True, slots=True)
class Quoted:
    """A sentence of a source, without Markdown's marks around it."""

    text: str
    number: int
    """Of its source."""
    words: frozenset[str]
    opens: bool


def extract_answer(query: str, sources: Sequence[SourceDocument], embedder: EmbeddingProvider | None = None) -> str:
    """The sentences that answer best, one a line, in the order of their sources, each with its citation."""
    sentences = [each for number, source in enumerate(sources, 1) for each in _sentences(source, number)]
    weights = _weights(query, sentences)
    telling = [each for each in sentences if each.words & weights.keys()]
    if not telling:
        return NOTHING
    nearness = _nearness(query, telling, embedder)
    standing = [source.relevance_score for source in sources]
    best = max(standing) or 1.0
    worth = {
        each: WORDS * _covered(each.words, weights)
        + MEANING * near
        + PAGE * standing[each.number - 1] / best
        + OPENING * each.opens
        for each, near in zip(telling, nearness, strict=True)
    }
    chosen = _chosen(sorted(telling, key=lambda each: -worth[each]), worth)
    places = {each: place for place, each in enumerate(telling)}
    return "\n".join(f"{each.text} [{each.number}]" for each in sorted(chosen, key=lambda each: places[each]))


def _sentences(source: SourceDocument, number: int) -> Iterable[Quoted]:
    """What can be quoted of a source: sentences, no headings, rules or rows of tables."""
    opens = True
    for text in _with_their_lists(each.text for each in split_sentences(clean(source.markdown_content))):
        words = analyse(text)
        if FEWEST_WORDS <= len(words) <= MOST_WORDS:
            # A number in brackets is a citation in this answer, and nothing but ours may be one; code has none.
            quoted = _LIKE_A_CITATION.sub(r"(\1)", text.replace("`", "'"))
            yield Quoted(quoted, number, frozenset(words), opens)
            opens = False


def _with_their_lists(sentences: Iterable[str]) -> Iterable[str]:
    """Sentences without their marks; one that ends with a colon says nothing without the entries after it."""
    leading: list[str] = []
    for sentence in sentences:
        entry = bool(_ENTRY.match(sentence))
        if leading and not (entry and _length(leading) + len(sentence.split()) <= MOST_WORDS):
            yield _joined(leading)
            leading = []
        if sentence.startswith(("#", "|", "<!--", "```")):
            continue
        plain = " ".join(_EMPHASIS.sub("", _MARKS.sub("", sentence)).split())
        if leading or plain.endswith(":"):
            leading.append(plain)
        if entry or not leading:
            yield plain  # an entry may be all that is asked for
    if leading:
        yield _joined(leading)


def _length(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)


def _joined(leading: Sequence[str]) -> str:
    first, *entries = leading
    return f"{first} {'; '.join(entry.rstrip('.;,') for entry in entries)}".strip()


def _weights(query: str, sentences: Sequence[Quoted]) -> dict[str, float]:
    """The query's words, each by how few of the sentences have it."""
    spread = {word: sum(word in each.words for each in sentences) for word in query_terms(analyse(query))}
    return {word: math.log1p(len(sentences) / count) for word, count in spread.items() if count}


def _covered(words: frozenset[str], weights: Mapping[str, float]) -> float:
    """Which part of the query a sentence has, by the weights of its words."""
    return math.fsum(weight for word, weight in sorted(weights.items()) if word in words) / math.fsum(weights.values())


def _nearness(query: str, sentences: Sequence[Quoted], embedder: EmbeddingProvider | None) -> list[float]:
    if embedder is None:
        return [0.0] * len(sentences)
    rows: Matrix = embedder.embed_batch([query, *(each.text for each in sentences)])
    return [max(0.0, float(value)) for value in np.vecdot(rows[1:], rows[0])]


def _chosen(ranked: Sequence[Quoted], worth: Mapping[Quoted, float]) -> list[Quoted]:
    """The best, as long as they say something new and are not much worse than the first."""
    chosen: list[Quoted] = []
    for each in ranked:
        if len(chosen) == MOST_SENTENCES or worth[each] < ENOUGH * worth[ranked[0]]:
            break
        if not any(_alike(each.words, other.words) for other in chosen):
            chosen.append(each)
    return chosen


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * min(len(one), len(other))
