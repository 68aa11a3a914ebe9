"""Search by words: the database shortlists by BM25 with the viewer's own statistics.

Both stores shortlist by the same steps of impact and work scores out from the same words, so that they find the same
passages and give them the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weft.store.index import bm25
from weft.store.index.analysis import PREFIX, WordQuery, analyse, parse
from weft.store.postgres.codec import phrase
from weft.store.postgres.scope import Reader, node_clause
from weft.store.sqlite.search import deeper
from weft.types import Filters, Hit

LAST = chr(0x10FFFF)
MANY = 5_000
"""Occurrences from which on the rare words of a query are looked for first."""
FIRST = 0.2
"""The share of all occurrences that is looked at then."""


def by_words(reader: Reader, text: str, limit: int, filters: Filters) -> list[Hit]:
    """BM25 over what the viewer may see; a score is the share of the highest that the query could give."""
    query = parse(text)
    if not reader.acls or limit < 1 or not (query.terms or query.phrases or query.prefixes):
        return []
    counts = frequencies(reader, query.terms)
    if not all(counts[prefix + PREFIX] for prefix in query.prefixes):
        return []
    ranking = _Ranking(query, {term: count for term, count in counts.items() if count}, reader.passages)
    average = reader.words / reader.passages if reader.passages else 1.0
    ceiling = bm25.ceiling(ranking.weights.values())
    hits = []
    for key, found in _shortlist(reader, ranking, deeper(limit), filters).items():
        worth = sum(ranking.weights[term] * bm25.impact(*found[term], average) for term in sorted(found))
        hits.append(Hit(key, worth / ceiling if ceiling else 0.5))
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


class _Ranking:
    """What is asked for, and what each term is worth to the viewer."""

    def __init__(self, query: WordQuery, counts: Mapping[str, int], passages: int) -> None:
        self.query = query
        self.weights = {term: bm25.idf(passages, count) for term, count in counts.items()}
        whole = [term for term in self.weights if not term.endswith(PREFIX)]
        self.terms = sorted(whole, key=lambda term: (counts[term], term))
        """Whole words, the rarest first."""
        self.rare = _rarest([counts[term] for term in self.terms])
        """How many of them are looked for first."""
        self.points = [bm25.points(self.weights[term]) for term in self.terms]

    @property
    def demanding(self) -> bool:
        """Whether phrases or prefixes must occur."""
        return bool(self.query.phrases or self.query.prefixes)

    @property
    def rest(self) -> int:
        """What a passage has at most from the words that are not looked for first."""
        return sum(points[-1] for points in self.points[self.rare :])

    @property
    def parts(self) -> str:
        """Queries whose rows are occurrences of terms, or places of phrases, which count nothing."""
        words = [_TERMS] if self.terms else []
        starts = [_START.replace("{number}", str(number)) for number in range(len(self.query.prefixes))]
        return " UNION ALL ".join([*words, *starts, *([_PLACES] if self.query.phrases else [])])

    @property
    def required(self) -> str:
        """Conditions on the key of a passage: each phrase and each prefix occurs in it."""
        phrases = (_IN_PHRASE.replace("{number}", str(number)) for number in range(len(self.query.phrases)))
        starts = (_IN_START.replace("{number}", str(number)) for number in range(len(self.query.prefixes)))
        return "".join((*phrases, *starts))

    @property
    def occurrences(self) -> str:
        """A query for what the passages that come first have of each term."""
        starts = [_COUNT_START.replace("{number}", str(number)) for number in range(len(self.query.prefixes))]
        return " UNION ALL ".join([_OCCURRENCES, *starts])

    @property
    def values(self) -> dict[str, Any]:
        """What the queries are given."""
        given: dict[str, Any] = {
            "terms": self.terms,
            "points": [points for own in self.points for points in own],
            "rare": self.terms[: self.rare],
            "common": self.terms[self.rare :],
            "rest": self.rest,
        }
        for number, words in enumerate(self.query.phrases):
            given |= {f"word{number}": max(words, key=len), f"phrase{number}": phrase(words)}
        for number, start in enumerate(self.query.prefixes):
            given |= {f"start{number}": start, f"stop{number}": start + LAST}
        return given


def _rarest(counts: Sequence[int]) -> int:
    """How many of the words, given how often they occur, are worth looking for before the others are."""
    total, found = sum(counts), 0
    if total < MANY:
        return len(counts)
    for place, count in enumerate(counts):
        found += count
        if found > total * FIRST:
            return max(place, 1)
    return len(counts)


def _shortlist(
    reader: Reader, ranking: _Ranking, limit: int, filters: Filters
) -> dict[int, dict[str, tuple[int, int]]]:
    """Of the passages that come first: how often each term occurs, and how long the passage is."""
    if not ranking.parts:
        return {}
    clause, values = node_clause(filters, "w.node")
    given = {"limit": limit, **ranking.values, **values}

    def asked(best: str) -> list[tuple[Any, ...]]:
        query = f"WITH {best} {ranking.occurrences}"
        return reader.searched(query.replace("{required}", ranking.required + clause), **given)

    if ranking.rare < len(ranking.terms) and not ranking.demanding:
        rows = asked(_BEST_BY_RARE)
        sums = {row[0]: row[1] for row in rows}
        if len(sums) == limit and min(sums.values()) > ranking.rest:
            return _by_key(rows)
    return _by_key(asked(_BEST.replace("{parts}", ranking.parts)))


def _by_key(rows: Iterable[tuple[Any, ...]]) -> dict[int, dict[str, tuple[int, int]]]:
    found: dict[int, dict[str, tuple[int, int]]] = {}
    for key, _, term, frequency, length in rows:
        own = found.setdefault(key, {})
        if term is not None:
            own[term] = (frequency, length)
    return found


_POINTS = (
    f"(%(points)s::bigint[])[{bm25.LEVELS} * (array_position(%(terms)s::text[], {{0}}.term) - 1) + {{0}}.step + 1]"
)
_TERMS = f"""SELECT w.key, {_POINTS.format("w")} AS points FROM words w
    WHERE w.workspace = %(ws)s AND w.term = ANY (%(terms)s::text[]) AND w.acl = {{visible}}{{required}}"""
_START = """SELECT w.key, 0::bigint AS points FROM words w
    WHERE w.workspace = %(ws)s AND w.term >= %(start{number})s AND w.term < %(stop{number})s
      AND w.acl = {visible}{required}"""
_PLACES = """SELECT w.key, 0::bigint AS points FROM words w
    WHERE w.workspace = %(ws)s AND w.term = %(word0)s AND w.acl = {visible}{required}"""
_IN_PHRASE = """ AND w.key IN (
    SELECT r.key FROM words r JOIN passages p ON p.workspace = %(ws)s AND p.key = r.key
    WHERE r.workspace = %(ws)s AND r.term = %(word{number})s AND r.acl = {visible}
      AND p.lexemes @@ %(phrase{number})s::tsquery)"""
_IN_START = """ AND w.key IN (
    SELECT r.key FROM words r WHERE r.workspace = %(ws)s AND r.acl = {visible}
      AND r.term >= %(start{number})s AND r.term < %(stop{number})s)"""

_BEST = """best AS MATERIALIZED (
    SELECT key, sum(points) AS points FROM ({parts}) hits GROUP BY key ORDER BY 2 DESC, 1 LIMIT %(limit)s)"""
# A passage without a rare word has at most what the common ones can give together. If the last of the list has more,
# none is missing from it; and of those with rare words, only what could still come into it is looked up for the others.
_BEST_BY_RARE = f"""part AS MATERIALIZED (
        SELECT w.key, sum({_POINTS.format("w")}) AS points FROM words w
        WHERE w.workspace = %(ws)s AND w.term = ANY (%(rare)s::text[]) AND w.acl = {{visible}}{{required}}
        GROUP BY w.key),
    bar AS MATERIALIZED (SELECT points FROM part ORDER BY points DESC OFFSET %(limit)s - 1 LIMIT 1),
    best AS MATERIALIZED (
        SELECT part.key, part.points + COALESCE(more.points, 0) AS points FROM part CROSS JOIN LATERAL (
            SELECT sum({_POINTS.format("c")}) AS points FROM words c
            WHERE c.workspace = %(ws)s AND c.term = ANY (%(common)s::text[]) AND c.key = part.key) more
        WHERE part.points + %(rest)s >= (SELECT points FROM bar) ORDER BY 2 DESC, 1 LIMIT %(limit)s)"""
_OCCURRENCES = """SELECT b.key, b.points, w.term, w.frequency::bigint, w.length FROM best b
    LEFT JOIN words w ON w.workspace = %(ws)s AND w.term = ANY (%(terms)s::text[]) AND w.key = b.key"""
_COUNT_START = """SELECT b.key, max(b.points), %(start{number})s || '*', sum(w.frequency)::bigint, max(w.length)
    FROM best b JOIN words w ON w.workspace = %(ws)s AND w.key = b.key
        AND w.term >= %(start{number})s AND w.term < %(stop{number})s GROUP BY b.key"""


def frequencies(reader: Reader, terms: Sequence[str]) -> dict[str, int]:
    """In how many visible passages each term occurs, asked once in a snapshot; `pre*` counts a prefix."""
    missing = [term for term in terms if term not in reader.frequencies]
    if missing:
        whole = [term for term in missing if not term.endswith(PREFIX)]
        starts = [term.removesuffix(PREFIX) for term in missing if term.endswith(PREFIX)]
        rows = reader.searched(
            """SELECT term, count(*) FROM words
               WHERE workspace = %(ws)s AND term = ANY (%(whole)s::text[]) AND acl = {visible} GROUP BY term
               UNION ALL
               SELECT s.start || '*', (SELECT count(DISTINCT key) FROM words WHERE workspace = %(ws)s
                   AND term >= s.start AND term < s.stop AND acl = {visible})
               FROM unnest(%(starts)s::text[], %(stops)s::text[]) AS s (start, stop)""",
            whole=whole,
            starts=starts,
            stops=[start + LAST for start in starts],
        )
        reader.frequencies.update(dict.fromkeys(missing, 0) | {term: count for term, count in rows})
    return {term: reader.frequencies[term] for term in terms}


def word_weights(reader: Reader, words: Sequence[str]) -> dict[str, float]:
    """Inverse document frequency of each word among the visible passages."""
    stems, terms = _stems(words)
    if not reader.passages or not terms:
        return {}
    counts = frequencies(reader, terms)
    return {
        word: max(bm25.idf(reader.passages, counts[stem]) for stem in found) for word, found in stems.items() if found
    }


def unknown_words(reader: Reader, words: Sequence[str]) -> list[str]:
    """Those of these words none of whose stems occurs in a visible passage."""
    stems, terms = _stems(words)
    counts = frequencies(reader, terms)
    return [word for word, found in stems.items() if found and not any(counts[stem] for stem in found)]


def _stems(words: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    stems = {word: analyse(word) for word in words}
    return stems, sorted({stem for found in stems.values() for stem in found})
