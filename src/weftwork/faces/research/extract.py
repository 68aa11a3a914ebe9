"""Extractive answers without a model: the best sentences of the sources, each with its citation."""

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
from weftwork.text.languages import language_of
from weftwork.text.sentences import split_sentences

MOST_SENTENCES = 5
WORDS, MEANING, PAGE, OPENING = 0.45, 0.2, 0.3, 0.05
"""Weights of the query's words, the cosine of the sentence, the score of its page, and that it opens the page."""
BY_HEADING = 0.9
"""What a word of the query counts for where it stands in the heading right above the sentence."""
ENOUGH = 0.85
"""Share of the best sentence's worth below which a sentence no longer answers."""
ALIKE = 0.6
"""Share of common words from which a sentence is a near-duplicate of another."""
FEWEST_WORDS, MOST_WORDS = 4, 120
NOTHING = "Nothing in these documents answers this."

_MARKS = re.compile(r"^(?:[#>\s]+|[-*+•]\s+|\d{1,3}[.)]\s+)+")
_ENTRY = re.compile(r"[-*+•]\s|\d{1,3}[.)]\s")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
"""A Markdown link; a sentence that is nothing else, as in a table of contents, says nothing."""
_LIKE_A_CITATION = re.compile(r"[\[【]([^\[\]【】]{0,80}?\d[^\[\]【】]{0,80})[\]】]")


@dataclass(frozen=True, slots=True)
class Quoted:
    """A sentence of a source, without Markdown's marks around it."""

    text: str
    number: int
    """Of its source."""
    words: frozenset[str]
    opens: bool
    under: frozenset[str] = frozenset()
    """Words of the heading that it opens the section of."""


def extract_answer(query: str, sources: Sequence[SourceDocument], embedder: EmbeddingProvider | None = None) -> str:
    """The sentences that answer best, one a line, in the order of their sources, each with its citation."""
    language = language_of(query, least=1)
    sentences = [
        sentence for number, source in enumerate(sources, 1) for sentence in _sentences(source, number, language)
    ]
    weights = _weights(query, sentences, language)
    matching = [sentence for sentence in sentences if (sentence.words | sentence.under) & weights.keys()]
    if not matching:
        return NOTHING
    cosines = _cosines(query, matching, embedder)
    standing = [source.relevance_score for source in sources]
    best = max(standing) or 1.0
    worth = {
        sentence: WORDS * max(_covered(sentence.words, weights), BY_HEADING * _covered(sentence.under, weights))
        + MEANING * cosine
        + PAGE * standing[sentence.number - 1] / best
        + OPENING * sentence.opens
        for sentence, cosine in zip(matching, cosines, strict=True)
    }
    chosen = _chosen(sorted(matching, key=lambda sentence: -worth[sentence]), worth)
    places = {sentence: place for place, sentence in enumerate(matching)}
    ordered = sorted(chosen, key=lambda sentence: places[sentence])
    return "\n".join(f"{sentence.text} [{sentence.number}]" for sentence in ordered)


def _sentences(source: SourceDocument, number: int, language: str) -> Iterable[Quoted]:
    """The sentences of a source that can be quoted: no headings, rules or rows of tables."""
    opens, under = True, frozenset[str]()
    for text in _with_list_entries(sentence.text for sentence in split_sentences(clean(source.markdown_content))):
        if text.startswith("#"):
            under = frozenset(analyse(text, language))
            continue
        words = analyse(text, language)
        if FEWEST_WORDS <= len(words) <= MOST_WORDS and _LINK.sub("", text).strip(" .,;:|-"):
            yield Quoted(_without_citations(_LINK.sub(r"\1", text)), number, frozenset(words), opens, under)
            opens, under = False, frozenset()


def _without_citations(text: str) -> str:
    """A sentence in which no number stands in brackets, as a citation does, but in code, which has none."""
    pieces = text.split("`")
    pieces[::2] = [_LIKE_A_CITATION.sub(r"(\1)", piece) for piece in pieces[::2]]
    paired = len(pieces) % 2 and "" not in pieces[1:-1]
    if paired and not _LIKE_A_CITATION.search("".join(pieces[::2])):
        return "`".join(pieces)
    return _LIKE_A_CITATION.sub(r"(\1)", text.replace("`", "'"))  # other marks could make code of our citations


def _with_list_entries(sentences: Iterable[str]) -> Iterable[str]:
    """Headings, and sentences without Markdown marks; one with a colon at its end has the list entries after it."""
    leading: list[str] = []
    for sentence in sentences:
        entry = bool(_ENTRY.match(sentence))
        if leading and not (entry and len(" ".join((*leading, sentence)).split()) <= MOST_WORDS):
            yield _joined(leading)
            leading = []
        if sentence.startswith(("#", "|", "<!--", "```")):
            if sentence.startswith("#"):
                yield sentence
            continue
        plain = " ".join(_EMPHASIS.sub("", _MARKS.sub("", sentence)).split())
        if leading or plain.endswith(":"):
            leading.append(plain)
        if entry or not leading:
            yield plain  # an entry may be all that is asked for
    if leading:
        yield _joined(leading)


def _joined(leading: Sequence[str]) -> str:
    first, *entries = leading
    return f"{first} {'; '.join(entry.rstrip('.;,') for entry in entries)}".strip()


def _weights(query: str, sentences: Sequence[Quoted], language: str) -> dict[str, float]:
    """The weights of the query's words: the rarer in the sentences, the higher."""
    words = query_terms(analyse(query, language), language)
    spread = {word: sum(word in sentence.words for sentence in sentences) for word in words}
    return {word: math.log1p(len(sentences) / count) for word, count in spread.items() if count}


def _covered(words: frozenset[str], weights: Mapping[str, float]) -> float:
    """The share of the query that a sentence covers, by the weights of its words."""
    return math.fsum(weight for word, weight in sorted(weights.items()) if word in words) / math.fsum(weights.values())


def _cosines(query: str, sentences: Sequence[Quoted], embedder: EmbeddingProvider | None) -> list[float]:
    if embedder is None:
        return [0.0] * len(sentences)
    rows: Matrix = embedder.embed_batch([query, *(sentence.text for sentence in sentences)])
    return [max(0.0, float(value)) for value in np.vecdot(rows[1:], rows[0])]


def _chosen(ranked: Sequence[Quoted], worth: Mapping[Quoted, float]) -> list[Quoted]:
    """The best sentences, without near-duplicates and those much worse than the first."""
    chosen: list[Quoted] = []
    for sentence in ranked:
        if len(chosen) == MOST_SENTENCES or worth[sentence] < ENOUGH * worth[ranked[0]]:
            break
        if all(
            len(sentence.words & other.words) < ALIKE * min(len(sentence.words), len(other.words)) for other in chosen
        ):
            chosen.append(sentence)
    return chosen
