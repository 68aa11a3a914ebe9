"""Search by words and by trigrams: the index shortlists, the viewer's own statistics rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from weftwork.store.index.rows import IndexDamaged, Row, Scope
from weftwork.store.index.words import WordIndex
from weftwork.store.sql.codec import index_row
from weftwork.store.sql.word_ranking import best_hits, resembling, shortlist_size
from weftwork.store.sqlite.index_sync import DerivedIndexes
from weftwork.store.sqlite.read_queries import INDEX_ROWS
from weftwork.store.sqlite.session import Reader
from weftwork.text import bm25, spelling
from weftwork.text.analysis import WordQuery, analyse, whole_words
from weftwork.types import Filters, Hit

Answer = TypeVar("Answer")

SAMPLED = 40
"""Passages in which the correction of a word is looked for."""


def scope_for(reader: Reader, filters: Filters) -> Scope:
    """The restriction of an index search to a viewer and filters."""
    excluded = frozenset(reader.numbers(filters.exclude).values()) if filters.exclude else frozenset()
    return Scope(reader.acls, filters, excluded)


def by_words(reader: Reader, derived: DerivedIndexes, query: WordQuery, limit: int, filters: Filters) -> list[Hit]:
    """BM25 over visible passages, as a share of the query's highest possible score."""
    if not reader.acls or not (query.terms or query.phrases or query.prefixes):
        return []
    documents = reader.passages
    scope = scope_for(reader, filters)

    def shortlist(index: WordIndex) -> tuple[dict[str, int], list[int]]:
        counts = _frequencies(reader, index, tuple(query.terms))
        return counts, index.shortlist(query, scope, shortlist_size(limit), counts, documents)

    counts, keys = _with_words(reader, derived, shortlist)
    weights = {term: query.terms[term] * bm25.idf(documents, count) for term, count in counts.items() if count}
    ceiling = bm25.ceiling(weights.values())
    average = reader.words / documents if documents else 1.0
    hits = [
        Hit(row.key, bm25.score(weights, analyse(row.searchable), average) / ceiling if ceiling else 0.5)
        for row in _rows(reader, keys)
    ]
    return best_hits(hits, limit)


def by_resemblance(
    reader: Reader, derived: DerivedIndexes, text: str, limit: int, filters: Filters, threshold: float
) -> list[Hit]:
    """Trigram similarity with titles, paths and the nearest words."""
    if not reader.acls or not text.strip():
        return []
    scope = scope_for(reader, filters)
    keys = _with_words(reader, derived, lambda index: index.fuzzy(text, scope, shortlist_size(limit)))
    return resembling(text, _rows(reader, keys), limit, threshold)


def corrections(reader: Reader, derived: DerivedIndexes, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Words of visible passages that are nearest to misspelt ones."""
    if not reader.acls:
        return {}
    scope = Scope(reader.acls)

    def nearest(index: WordIndex) -> dict[str, list[int]]:
        return {word: index.nearly(word, scope, SAMPLED) for word in words}

    keys = _with_words(reader, derived, nearest)
    rows = {row.key: row for row in _rows(reader, list(dict.fromkeys(key for each in keys.values() for key in each)))}
    known = {key: frozenset(whole_words(row.searchable)) for key, row in rows.items()}
    return {
        word: spelling.corrections(word, set().union(*(known.get(key, ()) for key in keys[word]))) for word in words
    }


def frequencies(reader: Reader, derived: DerivedIndexes, terms: Sequence[str]) -> dict[str, int]:
    """Document frequencies among visible passages."""
    return _with_words(reader, derived, lambda index: _frequencies(reader, index, terms))


def _frequencies(reader: Reader, index: WordIndex, terms: Sequence[str]) -> dict[str, int]:
    """Document frequencies among visible passages, memoised for the snapshot."""
    missing = [term for term in terms if term not in reader.frequencies]
    if missing:
        reader.frequencies.update(index.document_frequencies(missing, reader.acls))
    return {term: reader.frequencies[term] for term in terms}


def _with_words(reader: Reader, derived: DerivedIndexes, ask: Callable[[WordIndex], Answer]) -> Answer:
    """Query the word index; if its files are damaged, rebuild it and retry once."""
    try:
        return ask(derived.words(reader.connection))
    except IndexDamaged:
        return ask(derived.repair_words(reader.connection))


def _rows(reader: Reader, keys: Sequence[int]) -> list[Row]:
    return [index_row(row) for row in reader.rows(INDEX_ROWS, keys=list(keys))]
