"""Search by words and by resemblance: the index shortlists, the viewer's own statistics decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from weftwork.store.index.rows import IndexDamaged, Row, Scope
from weftwork.store.index.words import WordIndex
from weftwork.store.sqlite.codec import ROW, ids, index_row
from weftwork.store.sqlite.index_sync import DerivedIndexes
from weftwork.store.sqlite.scope import Reader
from weftwork.text import bm25
from weftwork.text.analysis import analyse, parse
from weftwork.text.trigrams import share_of_words, similarity
from weftwork.types import Filters, Hit

Answer = TypeVar("Answer")

SPARE = 10
"""Passages that are shortlisted beyond the limit, or half as many as the limit: steps of impact are near the exact
score, not equal to it."""


def scope_for(reader: Reader, filters: Filters) -> Scope:
    """What the indexes need to know of a viewer and a request."""
    excluded = frozenset(reader.numbers(filters.exclude).values()) if filters.exclude else frozenset()
    return Scope(reader.acls, filters, excluded)


def by_words(reader: Reader, derived: DerivedIndexes, text: str, limit: int, filters: Filters) -> list[Hit]:
    """BM25 over what the viewer may see; a score is the share of the highest that the query could give."""
    query = parse(text)
    if not reader.acls or not (query.terms or query.phrases or query.prefixes):
        return []
    documents, words = _totals(reader)
    scope = scope_for(reader, filters)

    def shortlist(index: WordIndex) -> tuple[dict[str, int], list[int]]:
        frequencies = _frequencies(reader, index, query.terms)
        return frequencies, index.shortlist(query, scope, deeper(limit), frequencies, documents)

    frequencies, keys = _with_words(reader, derived, shortlist)
    weights = {term: bm25.idf(documents, count) for term, count in frequencies.items() if count}
    ceiling = bm25.ceiling(weights.values())
    average = words / documents if documents else 1.0
    hits = [
        Hit(row.key, bm25.score(weights, analyse(row.searchable), average) / ceiling if ceiling else 0.5)
        for row in _rows(reader, keys)
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def by_resemblance(
    reader: Reader, derived: DerivedIndexes, text: str, limit: int, filters: Filters, threshold: float
) -> list[Hit]:
    """Trigram similarity with titles, paths and the nearest words."""
    if not reader.acls or not text.strip():
        return []
    scope = scope_for(reader, filters)
    keys = _with_words(reader, derived, lambda index: index.fuzzy(text, scope, deeper(limit)))
    hits = [Hit(row.key, resemblance(text, row)) for row in _rows(reader, keys)]
    best = sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]
    return [hit for hit in best if hit.score > threshold]


def resemblance(text: str, row: Row) -> float:
    """How much a query looks like a title, a path, or words inside; words count a little less."""
    words = [word for word in text.split() if len(word) > 3]
    inside = share_of_words(words, row.searchable)
    return max(similarity(text, row.title), similarity(text, row.source), 0.9 * inside)


def word_weights(reader: Reader, derived: DerivedIndexes, words: Sequence[str]) -> dict[str, float]:
    """Inverse document frequency of each word among the visible passages."""
    stems = {word: analyse(word) for word in words}
    terms = sorted({stem for found in stems.values() for stem in found})
    documents, _ = _totals(reader)
    if not documents or not terms:
        return {}
    counts = _with_words(reader, derived, lambda index: _frequencies(reader, index, terms))
    return {
        word: max(bm25.idf(documents, counts.get(stem, 0)) for stem in found) for word, found in stems.items() if found
    }


def unknown_words(reader: Reader, derived: DerivedIndexes, words: Sequence[str]) -> list[str]:
    """Those of these words none of whose stems occurs in a visible passage."""
    stems = {word: analyse(word) for word in words}
    terms = sorted({stem for found in stems.values() for stem in found})
    counts = _with_words(reader, derived, lambda index: _frequencies(reader, index, terms))
    return [word for word, found in stems.items() if found and not any(counts[stem] for stem in found)]


def _frequencies(reader: Reader, index: WordIndex, terms: Sequence[str]) -> dict[str, int]:
    """In how many visible passages each term occurs, asked of the index once in a snapshot."""
    missing = [term for term in terms if term not in reader.frequencies]
    if missing:
        reader.frequencies.update(index.document_frequencies(missing, reader.acls))
    return {term: reader.frequencies[term] for term in terms}


def deeper(limit: int) -> int:
    """How many are shortlisted for so many results."""
    return limit + max(SPARE, limit // 2)


def _with_words(reader: Reader, derived: DerivedIndexes, ask: Callable[[WordIndex], Answer]) -> Answer:
    """Ask the word index; if its files turn out to be damaged, make it again and ask once more."""
    try:
        return ask(derived.words(reader.connection))
    except IndexDamaged:
        return ask(derived.repair_words(reader.connection))


def _totals(reader: Reader) -> tuple[int, int]:
    """Number of visible passages, and of the words in them."""
    row = reader.rows(
        "SELECT COALESCE(SUM(passages), 0), COALESCE(SUM(words), 0) FROM acls WHERE workspace = :ws AND id IN {visible}"
    )[0]
    return row[0], row[1]


def _rows(reader: Reader, keys: Sequence[int]) -> list[Row]:
    found = reader.rows(
        f"""SELECT {ROW} FROM passages p CROSS JOIN nodes n ON n.pk = p.node
            WHERE p.key IN (SELECT value FROM json_each(:keys)) AND n.workspace = :ws AND n.acl IN {{visible}}""",
        keys=ids(keys),
    )
    return [index_row(row) for row in found]
