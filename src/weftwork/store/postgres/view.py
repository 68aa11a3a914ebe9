"""A user's snapshot of a workspace, searched by the database itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from weftwork.store.postgres import embeddings, fuzzy, read_queries, search
from weftwork.store.postgres.codec import folded
from weftwork.store.postgres.session import Reader
from weftwork.store.sql.codec import NAMES, folded_name
from weftwork.store.sql.view import NO_FILTERS, SqlView
from weftwork.text.analysis import NO_WORDS, parse
from weftwork.text.spelling import is_correctable
from weftwork.types import Filters, Hit

if TYPE_CHECKING:
    from psycopg import Connection

    from weftwork.embed.protocol import Vector


class PostgresView(SqlView):
    """Implements `weftwork.store.protocol.View`."""

    _reader: Reader

    def __init__(self, connection: Connection[Any], names: tuple[str, str], head: Sequence[Any]) -> None:
        number, version, _, lists, passages, words, everything = head
        reader = Reader(connection, number, frozenset(lists), passages, words, everything)
        super().__init__(reader, read_queries, names, version)

    def close(self) -> None:
        """Wait for reads in other threads, and refuse all later ones."""
        self._reader.lock.close()

    def find(self, title: str) -> list[str]:
        """Ids of the visible nodes whose title, source, alias or id in an export is this, ignoring case."""
        names = {"name": folded_name(title), "names": list(NAMES)}
        return [row[0] for row in self._reader.rows(read_queries.FIND, start=folded(title), title=title, **names)]

    def search_words(
        self, text: str, *, limit: int, filters: Filters = NO_FILTERS, also: Mapping[str, float] = NO_WORDS
    ) -> list[Hit]:
        """BM25 with the statistics of what the viewer may see."""
        return search.by_words(self._reader, parse(text, also, self._languages_for(text)), limit, filters)

    def corrections(self, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Known words that misspelt ones may stand for."""
        return fuzzy.corrections(self._reader, [word for word in words if is_correctable(word)])

    def search_fuzzy(
        self, text: str, *, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.3
    ) -> list[Hit]:
        """Titles, paths and words that nearly match."""
        return fuzzy.search(self._reader, text, limit, filters, threshold, tuple(self._languages()))

    def prepare_vector_search(
        self, vector: Vector, *, model: str, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.0
    ) -> Callable[[], list[Hit]]:
        """Nearest passages by cosine, as a callable; it shares this view's connection with other reads."""
        return partial(
            embeddings.search,
            self._reader,
            vector,
            model=model,
            limit=limit,
            filters=filters,
            threshold=threshold,
            effort=embeddings.EFFORT,
        )

    def similarities(self, vector: Vector, keys: Sequence[int], *, model: str) -> dict[int, float]:
        """Cosine of each of these passages that has a vector."""
        return embeddings.similarities(self._reader, vector, keys, model)

    def vectors(self, digests: Sequence[str], *, model: str) -> dict[str, Vector]:
        """Vectors stored under those of these digests that belong to a visible passage."""
        return embeddings.stored(self._reader, digests, model)

    def _frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return search.frequencies(self._reader, terms)
