"""Search by words and by resemblance: the index shortlists, the viewer's own statistics decide."""

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
from weftwork.text import bm25
from weftwork.text.analysis import analyse, parse
from weftwork.types import Filters, Hit

Answer = TypeVar("Answer")


def scope_for(reader: Reader, filters: Filters) -> Scope:
    """What the indexes need to know of a viewer and a request."""
    excluded = frozenset(reader.numbers(filters.exclude).values()) if filters.exclude else frozenset()
    return Scope(reader.acls, filters, excluded)


def by_words(reader: Reader, derived: DerivedIndexes, text: str, limit: int, filters: Filters) -> list[Hit]:
    """BM25 over what the viewer may see; a score is the share of the highest that the query could give."""
    query = parse(text)
    if not reader.acls or not (query.terms or query.phrases or query.prefixes):
        return []
    documents = reader.passages
    scope = scope_for(reader, filters)

    def shortlist(index: WordIndex) -> tuple[dict[str, int], list[int]]:
        counts = _frequencies(reader, index, query.terms)
        return counts, index.shortlist(query, scope, shortlist_size(limit), counts, documents)

    counts, keys = _with_words(reader, derived, shortlist)
    weights = {term: bm25.idf(documents, count) for term, count in counts.items() if count}
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


def frequencies(reader: Reader, derived: DerivedIndexes, terms: Sequence[str]) -> dict[str, int]:
    """In how many visible passages each term occurs."""
    return _with_words(reader, derived, lambda index: _frequencies(reader, index, terms))


def _frequencies(reader: Reader, index: WordIndex, terms: Sequence[str]) -> dict[str, int]:
    """In how many visible passages each term occurs, asked of the index once in a snapshot."""
    missing = [term for term in terms if term not in reader.frequencies]
    if missing:
        reader.frequencies.update(index.document_frequencies(missing, reader.acls))
    return {term: reader.frequencies[term] for term in terms}


def _with_words(reader: Reader, derived: DerivedIndexes, ask: Callable[[WordIndex], Answer]) -> Answer:
    """Ask the word index; if its files turn out to be damaged, make it again and ask once more."""
    try:
        return ask(derived.words(reader.connection))
    except IndexDamaged:
        return ask(derived.repair_words(reader.connection))


def _rows(reader: Reader, keys: Sequence[int]) -> list[Row]:
    return [index_row(row) for row in reader.rows(INDEX_ROWS, keys=list(keys))]
