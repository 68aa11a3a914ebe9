"""The full-text index of a workspace, with permissions applied inside the search.

tantivy finds and counts. Its own scores are not used, since they rest on statistics of the whole
index. Each word of a passage is indexed under its quantised impact instead (see `bm25.level`), and a
query adds up the viewer's idf for each level: only the passage itself and what the viewer may see
decide about its rank.
"""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tantivy import (
    Document,
    FieldType,
    Index,
    Occur,
    Order,
    Query,
    Schema,
    SchemaBuilder,
    Searcher,
    TextAnalyzerBuilder,
    Tokenizer,
)

from weftwork.errors import InvalidInput, StoreError
from weftwork.store.index.columns import microseconds
from weftwork.store.index.rows import IndexDamaged, Row, Scope
from weftwork.text import bm25
from weftwork.text.analysis import PREFIX, WHOLE_WORDS, Phrase, WordQuery, indexed, marked, spaced, whole_words
from weftwork.text.spelling import SHORTEST, most_typos
from weftwork.text.trigrams import trigrams

VERSION = 4
"""Raised when fields or the analysis of texts change; an index of another version counts as damaged."""

HEAP = 100_000_000
"""Bytes that a writer may gather before it writes a segment."""

LISTED = 64
"""Number of access lists up to which an index knows which ones it holds."""

REMEMBERED = 20_000
"""Frequencies of terms that are kept for one state of the index."""

FEW = 16
"""Number of values up to which a union of terms is faster than a set of them."""

_SPLIT = f"weft-{VERSION}"
_WHOLE = f"weftwork-whole-{VERSION}"
_ALL = {"all": {"value_count": {"field": "key"}}}
_BY_LIST = {"lists": {"terms": {"field": "acl", "size": LISTED + 1}}}
_LIMITS = {"starts": {"max": {"field": "valid_from"}}, "ends": {"min": {"field": "valid_until"}}}
_ROUNDING = 1_000_000
"""More microseconds than an aggregation, which counts in floating point, can be wrong by."""

Clause = tuple[Occur, Query]


def _schema() -> Schema:
    builder = SchemaBuilder()
    builder.add_unsigned_field("key", fast=True)
    builder.add_unsigned_field("node", indexed=True)
    builder.add_unsigned_field("acl", indexed=True, fast=True)
    builder.add_integer_field("updated", fast=True)
    builder.add_float_field("confidence", fast=True)
    builder.add_integer_field("valid_from", fast=True)
    builder.add_integer_field("valid_until", fast=True)
    for name in ("type", "tag", "conversation", "meta"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name=_SPLIT, index_option="position")
    builder.add_text_field("whole", tokenizer_name=_WHOLE, index_option="basic")
    for name in ("impact", "grams"):
        builder.add_text_field(name, tokenizer_name=_SPLIT, index_option="basic")
    builder.add_unsigned_field("seq", stored=True)
    return builder.build()


_SCHEMA = _schema()


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A snapshot of the index, independent of later commits."""

    searcher: Searcher
    seq: int
    passages: int
    acls: frozenset[int] | None
    """The access lists that occur in it; None where there are too many to list."""
    last_start: float
    first_end: float
    """Between these two moments everything in it is valid."""
    frequencies: dict[tuple[str, frozenset[int]], int] = field(default_factory=dict)
    """Counts made before, by term and access lists: questions share most of their words."""


class WordIndex:
    """The full-text index of one workspace, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._meta = folder / "meta.json"
        self._refreshing = threading.Lock()
        with _damage_reported(folder):
            self._index = Index(_SCHEMA, path=str(folder))
            self._index.register_tokenizer(_SPLIT, TextAnalyzerBuilder(Tokenizer.whitespace()).build())
            self._index.register_tokenizer(_WHOLE, WHOLE_WORDS)
            self._index.config_reader("manual")
            self._stamp = self._stamped()
            self._index.reload()
            self._snapshot = _snapshot(self._index.searcher())

    @property
    def seq(self) -> int:
        """The number of the last change that the index reflects; 0 when it is empty."""
        return self._snapshot.seq

    def count(self) -> int:
        """The number of passages."""
        return self._snapshot.passages

    def refresh(self) -> None:
        """Load the commits of other processes; cheap if there are none."""
        with self._refreshing, _damage_reported(self._meta.parent):
            stamp = self._stamped()
            if stamp != self._stamp:
                self._index.reload()
                self._snapshot = _snapshot(self._index.searcher())
                self._stamp = stamp

    def apply(self, seq: int, removed: Collection[int], rows: Iterable[Row]) -> None:
        """Drop all passages of some nodes, add rows, and note the change reached, in one commit.

        Only one process at a time may do this: the caller holds a lock.
        """
        with _damage_reported(self._meta.parent):
            writer = self._index.writer(HEAP, num_threads=1)
        try:
            # By query, since tantivy-py 0.27 takes the number of a term for a signed one and finds nothing.
            writer.delete_documents_by_query(Query.term_set_query(_SCHEMA, "node", sorted(removed)))
            for row in rows:
                document = _document(row)
                with _damage_reported(self._meta.parent):
                    writer.add_document(document)
            writer.delete_documents_by_query(_word("meta", "seq"))
            with _damage_reported(self._meta.parent):
                writer.add_document(Document.from_dict({"meta": "seq", "seq": seq}, _SCHEMA))
                writer.commit()
        finally:
            # A merge that outlived the writer's lock would overwrite the next writer's commit.
            with _damage_reported(self._meta.parent):
                writer.wait_merging_threads()
        self.refresh()

    def document_frequencies(self, terms: Collection[str], acls: Collection[int]) -> dict[str, int]:
        """Document frequencies of terms under these access lists; `pre*` is a prefix."""
        snapshot, visible = self._snapshot, frozenset(acls)
        cache, counts = snapshot.frequencies, {}
        if len(cache) > REMEMBERED:
            cache.clear()
        with _damage_reported(self._meta.parent):
            for term in terms:
                count = cache.get((term, visible))
                counts[term] = _frequency(snapshot, term, visible) if count is None else count
                cache[term, visible] = counts[term]
        return counts

    def shortlist(self, query: WordQuery, scope: Scope, limit: int, weights: Mapping[str, float]) -> list[int]:
        """Keys of the passages that come first by the viewer's weights of terms, best first."""
        words = ((term, weight) for term, weight in weights.items() if not term.endswith(PREFIX))
        steps = [clause for term, weight in words for clause in _steps(term, weight)]
        required = [*map(_phrase, query.phrases), *(_term(prefix + PREFIX) for prefix in query.prefixes)]
        if not steps and not required:
            return []
        clauses = [_must(part) for part in required] or [(Occur.Must, Query.boolean_query(steps))]
        return self._best([*clauses, *(steps if required else [])], scope, limit, ranked=bool(steps))

    def fuzzy(self, text: str, scope: Scope, limit: int) -> list[int]:
        """Keys of passages whose title or path shares most trigrams, then of those with a nearly equal word."""
        grams = sorted(trigrams(text[:200]))
        alike = [(Occur.Should, _exactly(_word("grams", _filed(gram)), 1)) for gram in grams]
        return list(
            dict.fromkeys([*self._any_of(alike, scope, limit), *self._any_of(self._near(text, scope), scope, limit)])
        )

    def _near(self, text: str, scope: Scope) -> list[Clause]:
        """The neighbours of those words of a query that occur nowhere in what it is restricted to."""
        words = [word for word in dict.fromkeys(whole_words(text[:1000])) if len(word) >= SHORTEST][:16]
        unknown = [word for word in words if not self._any_of([(Occur.Should, _word("whole", word))], scope, 1)]
        return [(Occur.Should, _exactly(_nearly(word, most_typos(word)), 1)) for word in unknown]

    def nearly(self, word: str, scope: Scope, limit: int) -> list[int]:
        """Keys of passages with a word that has the fewest typos of this one."""
        for typos in range(1, most_typos(word) + 1):
            if keys := self._any_of([(Occur.Should, _nearly(word, typos))], scope, limit):
                return keys
        return []

    def _any_of(self, clauses: list[Clause], scope: Scope, limit: int) -> list[int]:
        if not clauses:
            return []
        return self._best([(Occur.Must, Query.boolean_query(clauses))], scope, limit, ranked=len(clauses) > 1)

    def _best(self, clauses: list[Clause], scope: Scope, limit: int, *, ranked: bool) -> list[int]:
        """Keys of the best matches in scope; of those that are equally good, the lowest keys."""
        snapshot = self._snapshot
        if limit < 1 or not scope.acls or not snapshot.searcher.num_docs:
            return []
        within = [*_allowed(scope.acls, snapshot.acls), *_filters(scope), *_valid(scope.filters.as_of, snapshot)]
        query = Query.boolean_query([*clauses, *within])
        with _damage_reported(self._meta.parent):
            best = _by_score if ranked else _by_key
            return best(snapshot.searcher, query, limit)

    def _stamped(self) -> tuple[int, int, int]:
        stat = self._meta.stat()
        return stat.st_ino, stat.st_mtime_ns, stat.st_size


@contextmanager
def _damage_reported(folder: Path) -> Iterator[None]:
    """Raise IndexDamaged for any failure of tantivy on unusable files."""
    try:
        yield
    except (ValueError, LookupError, OSError, RuntimeError) as error:  # a document may lack its fields
        if "LockBusy" in str(error):
            raise StoreError(f"{folder} is being written by someone else: hold its lock while applying") from error
        raise IndexDamaged(f"{folder}: {error}") from error
    except BaseException as error:
        # A panic in Rust is no Exception, and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise IndexDamaged(f"{folder}: {error}") from error


def _snapshot(searcher: Searcher) -> _Snapshot:
    hits = searcher.search(_word("meta", "seq"), limit=1).hits
    seq = int(searcher.doc(hits[0][1])["seq"][0]) if hits else 0
    totals = searcher.aggregate(Query.all_query(), {**_BY_LIST, **_LIMITS})
    lists, start, end = totals["lists"], totals["starts"]["value"], totals["ends"]["value"]
    counts = {int(bucket["key"]): int(bucket["doc_count"]) for bucket in lists["buckets"]}
    others = int(lists["sum_other_doc_count"])
    complete = len(counts) <= LISTED and not others
    return _Snapshot(
        searcher,
        seq,
        passages=sum(counts.values()) + others,
        acls=frozenset(counts) if complete else None,
        last_start=-math.inf if start is None else start,
        first_end=math.inf if end is None else end,
    )


def _document(row: Row) -> Document:
    text = row.searchable
    words, language = indexed(text)
    counts = Counter(words)
    steps = {count: f"/{bm25.level(count, len(words))}" for count in set(counts.values())}
    values: dict[str, object] = {
        "key": row.key, "node": row.node, "acl": row.acl, "updated": row.updated, "type": _clean(row.type),
        "tag": [_clean(tag) for tag in row.tags], "body": " ".join(marked(words, language)), "whole": spaced(text),
        "impact": " ".join([word + steps[count] for word, count in counts.items()]),
    }  # fmt: skip
    if row.confidence is not None:
        values["confidence"] = float(row.confidence)
    if row.conversation is not None:
        values["conversation"] = _clean(row.conversation)
    limits = ("valid_from", row.valid_from), ("valid_until", row.valid_until)
    values |= {name: moment for name, moment in limits if moment is not None}
    if row.ordinal == 0:
        values["grams"] = _filed("\n".join(trigrams(row.title) | trigrams(row.source)))
    try:
        return Document.from_dict(values, _SCHEMA)
    except ValueError as error:
        raise InvalidInput(f"passage {row.key} of node {row.node} cannot be indexed: {error}") from error


def _frequency(snapshot: _Snapshot, term: str, visible: frozenset[int]) -> int:
    if snapshot.acls is None:
        return _count(snapshot.searcher, [*_allowed(visible, None), _must(_term(term))])
    return _count_by_list(snapshot.searcher, term, visible)


def _count(searcher: Searcher, clauses: list[Clause]) -> int:
    return int(searcher.aggregate(Query.boolean_query(clauses), _ALL)["all"]["value"])


def _count_by_list(searcher: Searcher, term: str, visible: frozenset[int]) -> int:
    # One pass over the term's passages for any viewer: a filter costs more the more lists it has.
    buckets = searcher.aggregate(_term(term), _BY_LIST)["lists"]["buckets"]
    return sum(bucket["doc_count"] for bucket in buckets if bucket["key"] in visible)


def _by_score(searcher: Searcher, query: Query, limit: int) -> list[int]:
    """The best, where a group of equals at the limit is fetched whole: segments must not decide."""
    fetch = limit + limit // 2 + FEW
    while True:
        hits = searcher.search(query, limit=min(fetch, searcher.num_docs), count=False).hits
        if len(hits) < fetch or hits[-1][0] < hits[limit - 1][0]:
            break
        fetch *= 4
    keys = searcher.fast_field_values("key", [address for _, address in hits])
    ranked = sorted((-score, int(key)) for (score, _), key in zip(hits, keys, strict=True) if key is not None)
    return [key for _, key in ranked[:limit]]


def _by_key(searcher: Searcher, query: Query, limit: int) -> list[int]:
    """The lowest keys, for matches that are all equally good."""
    limit = min(limit, searcher.num_docs)
    hits = searcher.search(query, limit=limit, count=False, order_by_field="key", order=Order.Asc).hits
    return [int(key) for key, _ in hits]


def _allowed(acls: frozenset[int], present: frozenset[int] | None) -> list[Clause]:
    """The permission filter; none is needed where all that the index holds is visible."""
    if present is not None and present <= acls:
        return []
    return [_must(_one_of("acl", acls if present is None else acls & present))]


def _filters(scope: Scope) -> list[Clause]:
    filters = scope.filters
    must = [_word("tag", tag) for tag in filters.tags]
    if filters.types:
        must.append(_one_of("type", filters.types))
    if filters.conversation is not None:
        must.append(_word("conversation", filters.conversation))
    if filters.after is not None or filters.before is not None:
        first, last = (None if edge is None else microseconds(edge) for edge in (filters.after, filters.before))
        must.append(Query.range_query(_SCHEMA, "updated", FieldType.Integer, first, last))
    if filters.min_confidence is not None:
        must.append(Query.range_query(_SCHEMA, "confidence", FieldType.Float, filters.min_confidence))
    without = [_one_of("node", scope.excluded)] if scope.excluded else []
    if filters.exclude_types:
        without.append(_one_of("type", filters.exclude_types))
    return [*map(_must, must), *((Occur.MustNot, query) for query in without)]


def _valid(as_of: datetime | None, snapshot: _Snapshot) -> list[Clause]:
    """Leaves out what is not valid at a moment; nothing need be compared where all is."""
    if as_of is None:
        return []
    moment, clauses = microseconds(as_of), []
    if moment < snapshot.last_start + _ROUNDING:
        later = Query.range_query(_SCHEMA, "valid_from", FieldType.Integer, moment, None, include_lower=False)
        clauses.append((Occur.MustNot, later))
    if snapshot.first_end - _ROUNDING <= moment:
        clauses.append((Occur.MustNot, Query.range_query(_SCHEMA, "valid_until", FieldType.Integer, None, moment)))
    return clauses


def _term(term: str) -> Query:
    if term.endswith(PREFIX):
        # Not a prefix query: that one stops after fifty words.
        return Query.regex_query(_SCHEMA, "body", re.escape(term.removesuffix(PREFIX)) + ".*")
    return _word("body", term)


def _phrase(phrase: Phrase) -> Query:
    forms = [
        Query.phrase_query(_SCHEMA, "body", list(words)) if len(words) > 1 else _word("body", words[0])
        for words in phrase
    ]
    return Query.boolean_query([(Occur.Should, form) for form in forms]) if len(forms) > 1 else forms[0]


def _word(field: str, word: str) -> Query:
    return Query.term_query(_SCHEMA, field, _clean(word))


def _one_of(field: str, values: Collection[int] | Collection[str]) -> Query:
    cleaned = sorted(_clean(value) if isinstance(value, str) else value for value in values)
    if len(cleaned) > FEW:
        return Query.term_set_query(_SCHEMA, field, cleaned)
    return Query.boolean_query([(Occur.Should, Query.term_query(_SCHEMA, field, value)) for value in cleaned])


def _nearly(word: str, typos: int) -> Query:
    return Query.fuzzy_term_query(_SCHEMA, "whole", word, typos)


def _must(query: Query) -> Clause:
    return Occur.Must, Query.const_score_query(query, 0.0)


def _exactly(query: Query, points: int) -> Query:
    return Query.const_score_query(query, float(points))


def _steps(term: str, idf: float) -> list[Clause]:
    """A term's query: its idf points at each impact level."""
    return [
        (Occur.Should, _exactly(_word("impact", f"{term}/{step}"), worth))
        for step, worth in enumerate(bm25.points(idf))
    ]


def _filed(grams: str) -> str:
    """Trigrams as single words: the spaces inside them must not part them."""
    return grams.replace(" ", "_")


def _clean(value: str) -> str:
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
