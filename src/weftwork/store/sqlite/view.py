"""A user's snapshot of a workspace, searched with the indexes beside the database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from weftwork.store.index.vectors import VectorIndex
from weftwork.store.sql.view import NO_FILTERS, SqlView
from weftwork.store.sqlite import read_queries, search
from weftwork.store.sqlite.index_sync import DerivedIndexes, read_vectors
from weftwork.store.sqlite.session import Reader
from weftwork.text.analysis import NO_WORDS, parse
from weftwork.text.spelling import is_correctable
from weftwork.types import Filters, Hit

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector


class SqliteView(SqlView):
    """Implements `weftwork.store.protocol.View`."""

    _reader: Reader

    def __init__(self, reader: Reader, derived: DerivedIndexes, names: tuple[str, str], version: int) -> None:
        super().__init__(reader, read_queries, names, version, reader.cached)
        self._derived = derived

    def search_words(
        self, text: str, *, limit: int, filters: Filters = NO_FILTERS, also: Mapping[str, float] = NO_WORDS
    ) -> list[Hit]:
        """BM25 with the statistics of what the viewer may see."""
        return search.by_words(
            self._reader, self._derived, parse(text, also, self._languages_for(text)), limit, filters
        )

    def corrections(self, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Known words that misspelt ones may stand for."""
        return search.corrections(self._reader, self._derived, [word for word in words if is_correctable(word)])

    def search_fuzzy(
        self, text: str, *, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.3
    ) -> list[Hit]:
        """Titles, paths and words that nearly match."""
        return search.by_resemblance(self._reader, self._derived, text, limit, filters, threshold)

    def prepare_vector_search(
        self, vector: Vector, *, model: str, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.0
    ) -> Callable[[], list[Hit]]:
        """Nearest passages by cosine, as a callable that does not use the connection."""
        index = self._vector_index(model, len(vector))
        scope = search.scope_for(self._reader, filters)

        def run() -> list[Hit]:
            return [Hit(key, score) for key, score in index.search(vector, scope, limit=limit, threshold=threshold)]

        return run

    def similarities(self, vector: Vector, keys: Sequence[int], *, model: str) -> dict[int, float]:
        """Cosine of each of these passages that has a vector."""
        index, reads = self._vector_index(model, len(vector)), self._reader.cached
        # What was read before through the same access lists is visible.
        unread = [key for key in keys if key not in reads.records and key not in reads.words]
        rows = self._reader.rows(read_queries.VISIBLE_KEYS, keys=unread) if unread else []
        hidden = set(unread).difference(key for (key,) in rows)
        return index.similarities(vector, [key for key in keys if key not in hidden])

    def vectors(self, digests: Sequence[str], *, model: str) -> dict[str, Vector]:
        """Vectors stored under those of these digests that belong to a visible passage."""
        visible = self._reader.rows(read_queries.VISIBLE_DIGESTS, digests=list(digests))
        return read_vectors(self._reader, model, [digest for (digest,) in visible])

    def _vector_index(self, model: str, dimensions: int) -> VectorIndex:
        return self._derived.vectors(self._reader.connection, model, dimensions, self._reader.content)

    def _frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return search.frequencies(self._reader, self._derived, terms)
