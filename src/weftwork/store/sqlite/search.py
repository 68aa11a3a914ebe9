"""Search by words and by trigrams: the index shortlists, the viewer's own statistics rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from weftwork.store.index.rows import IndexDamaged, Row, Scope
from weftwork.store.index.words import WordIndex
from weftwork.store.sql.codec import index_row
from weftwork.store.sql.read_cache import CachedWords
from weftwork.store.sql.word_ranking import best_hits, highest_score, resembling, shortlist_size, term_weights
from weftwork.store.sqlite.index_sync import DerivedIndexes
from weftwork.store.sqlite.read_queries import INDEX_ROWS
from weftwork.store.sqlite.session import Reader
from weftwork.text import bm25, spelling
from weftwork.text.analysis import WordQuery, indexed, whole_words
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

    def shortlist(index: WordIndex) -> tuple[dict[str, float], list[int]]:
        weights = term_weights(query, _frequencies(reader, index, tuple(query.terms)), documents)
        return weights, index.shortlist(query, scope, shortlist_size(limit), weights)

    weights, keys = _with_words(reader, derived, shortlist)
    ceiling = highest_score(query, weights)
    average = reader.words / documents if documents else 1.0
    hits = [
        Hit(key, bm25.score_stems(weights, words.text, words.length, average) / ceiling if ceiling else 0.5)
        for key, words in _words(reader, keys).items()
    ]
    return best_hits(hits, limit)


def _words(reader: Reader, keys: Sequence[int]) -> dict[int, CachedWords]:
    """The stems of the visible passages among these keys."""
    cached = reader.cached.words
    found = {key: entry for key in keys if (entry := cached.get(key)) is not None}
    missing = [key for key in keys if key not in found]
    for row in _rows(reader, missing) if missing else ():
        stems, _ = indexed(row.searchable)
        found[row.key] = entry = CachedWords(bm25.joined(stems), len(stems), row.node)
        reader.cached.add_words(row.key, entry)
    return found


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
    """Document frequencies among visible passages, read once for each state of the workspace."""
    cached = reader.cached.frequencies
    counts = {term: cached[term] for term in terms if term in cached}
    missing = [term for term in terms if term not in counts]
    if missing:
        read = index.document_frequencies(missing, reader.acls)
        reader.cached.add_frequencies(read)
        counts |= read
    return {term: counts[term] for term in terms}


def _with_words(reader: Reader, derived: DerivedIndexes, ask: Callable[[WordIndex], Answer]) -> Answer:
    """Query the word index; if its files are damaged, rebuild it and retry once."""
    try:
        return ask(derived.words(reader.connection, reader.content))
    except IndexDamaged:
        return ask(derived.repair_words(reader.connection))


def _rows(reader: Reader, keys: Sequence[int]) -> list[Row]:
    return [index_row(row) for row in reader.rows(INDEX_ROWS, keys=list(keys))]
