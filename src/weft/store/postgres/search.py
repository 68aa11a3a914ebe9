"""Search by words: the database shortlists by BM25 with the viewer's own statistics.

Both stores shortlist by the same steps of impact and work scores out from the same words, so that they find the same
passages and give them the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.store.index import bm25
from weft.store.index.analysis import PREFIX, WordQuery, analyse, parse
from weft.store.postgres.codec import phrase
from weft.store.postgres.scope import Reader, node_clause
from weft.store.sqlite.search import deeper
from weft.types import Filters, Hit

LAST = chr(0x10FFFF)


def by_words(reader: Reader, text: str, limit: int, filters: Filters) -> list[Hit]:
    """BM25 over what the viewer may see; a score is the share of the highest that the query could give."""
    query = parse(text)
    if not reader.acls or limit < 1 or not (query.terms or query.phrases or query.prefixes):
        return []
    counts = frequencies(reader, query.terms)
    if not all(counts[prefix + PREFIX] for prefix in query.prefixes):
        return []
    weights = {term: bm25.idf(reader.passages, count) for term, count in counts.items() if count}
    average = reader.words / reader.passages if reader.passages else 1.0
    ceiling = bm25.ceiling(weights.values())
    hits = []
    for key, length, terms, found in _shortlist(reader, _Ranking(query, weights), deeper(limit), filters):
        own = dict(zip(terms or (), found or (), strict=True))
        worth = sum(weights[term] * bm25.impact(own[term], length, average) for term in sorted(own))
        hits.append(Hit(key, worth / ceiling if ceiling else 0.5))
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


@dataclass(frozen=True, slots=True)
class _Ranking:
    """What is asked for, and what each term is worth to the viewer."""

    query: WordQuery
    weights: dict[str, float]

    @property
    def parts(self) -> list[str]:
        """Queries whose rows are occurrences of terms, or places of phrases, which count nothing."""
        words = [_TERMS] if any(not term.endswith(PREFIX) for term in self.weights) else []
        starts = [_START.replace("{number}", str(number)) for number in range(len(self.query.prefixes))]
        return [*words, *starts, *([_PLACES] if self.query.phrases else [])]

    @property
    def required(self) -> str:
        """Conditions on the key of a passage: each phrase and each prefix occurs in it."""
        phrases = (_IN_PHRASE.replace("{number}", str(number)) for number in range(len(self.query.phrases)))
        starts = (_IN_START.replace("{number}", str(number)) for number in range(len(self.query.prefixes)))
        return "".join((*phrases, *starts))

    @property
    def values(self) -> dict[str, Any]:
        """What the queries are given."""
        terms = [term for term in self.weights if not term.endswith(PREFIX)]
        given: dict[str, Any] = {
            "terms": terms,
            "points": [points for term in terms for points in bm25.points(self.weights[term])],
        }
        for number, words in enumerate(self.query.phrases):
            given |= {f"word{number}": max(words, key=len), f"phrase{number}": phrase(words)}
        for number, start in enumerate(self.query.prefixes):
            given |= {f"start{number}": start, f"stop{number}": start + LAST}
        return given


def _shortlist(reader: Reader, ranking: _Ranking, limit: int, filters: Filters) -> list[tuple[Any, ...]]:
    """Key, length, terms and how often each occurs, of the passages that come first."""
    clause, values = node_clause(filters, "w.node")
    parts = " UNION ALL ".join(ranking.parts)
    if not parts:
        return []
    return reader.searched(
        f"""SELECT key, max(length), array_agg(term) FILTER (WHERE term IS NOT NULL),
                   array_agg(frequency) FILTER (WHERE term IS NOT NULL)
            FROM ({parts.replace("{required}", ranking.required + clause)}) hits GROUP BY key
            ORDER BY sum(points) DESC, key LIMIT %(limit)s""",
        limit=limit,
        **ranking.values,
        **values,
    )


_IMPACT = f"""w.frequency * {bm25.K1 + 1}::float8
    / (w.frequency + {bm25.K1} * ({1 - bm25.B} + {bm25.B} * w.length / {bm25.REFERENCE_LENGTH}::float8))"""
_STEP = f"width_bucket({_IMPACT}, ARRAY{list(bm25.BOUNDS)}::float8[])"
_TERMS = f"""SELECT w.key, w.length, w.term, w.frequency::bigint,
        (%(points)s::bigint[])[(q.place - 1) * {bm25.LEVELS} + {_STEP} + 1] AS points FROM words w
    JOIN unnest(%(terms)s::text[]) WITH ORDINALITY AS q (term, place) ON q.term = w.term
    WHERE w.workspace = %(ws)s AND w.term = ANY (%(terms)s::text[]) AND w.acl = {{visible}}{{required}}"""
_START = """SELECT w.key, max(w.length) AS length, %(start{number})s || '*' AS term,
        sum(w.frequency)::bigint AS frequency, 0::bigint AS points FROM words w
    WHERE w.workspace = %(ws)s AND w.term >= %(start{number})s AND w.term < %(stop{number})s
      AND w.acl = {visible}{required} GROUP BY w.key"""
_PLACES = """SELECT w.key, w.length, NULL::text AS term, 0::bigint AS frequency, 0::bigint AS points FROM words w
    WHERE w.workspace = %(ws)s AND w.term = %(word0)s AND w.acl = {visible}{required}"""
_IN_PHRASE = """ AND w.key IN (
    SELECT r.key FROM words r JOIN passages p ON p.workspace = %(ws)s AND p.key = r.key
    WHERE r.workspace = %(ws)s AND r.term = %(word{number})s AND r.acl = {visible}
      AND p.lexemes @@ %(phrase{number})s::tsquery)"""
_IN_START = """ AND w.key IN (
    SELECT r.key FROM words r WHERE r.workspace = %(ws)s AND r.acl = {visible}
      AND r.term >= %(start{number})s AND r.term < %(stop{number})s)"""


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
