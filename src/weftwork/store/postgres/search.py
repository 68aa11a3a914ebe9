"""Search by words: BM25 with the viewer's own statistics, shortlisted in SQL.

Both stores shortlist by the same quantised impacts and compute scores from the same words, so that they find the same
passages with the same scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weftwork.store.postgres.codec import phrase
from weftwork.store.postgres.read_queries import VISIBLE
from weftwork.store.postgres.session import Reader, key_clause
from weftwork.store.postgres.words import FREQUENCY, KEY, LENGTH, STEP
from weftwork.store.sql.word_ranking import best_hits, highest_score, shortlist_size, term_weights
from weftwork.text import bm25
from weftwork.text.analysis import PREFIX, WordQuery
from weftwork.types import Filters, Hit

LAST = chr(0x10FFFF)


def by_words(reader: Reader, query: WordQuery, limit: int, filters: Filters) -> list[Hit]:
    """BM25 over visible passages, as a share of the query's highest possible score."""
    if not reader.acls or limit < 1 or not (query.terms or query.phrases or query.prefixes):
        return []
    counts = frequencies(reader, tuple(query.terms))
    if not all(counts[prefix + PREFIX] for prefix in query.prefixes):
        return []
    ranking = _Ranking(query, {term: count for term, count in counts.items() if count}, reader.passages)
    average = reader.words / reader.passages if reader.passages else 1.0
    ceiling = highest_score(query, ranking.weights)
    hits = []
    for key, matches in _shortlist(reader, ranking, shortlist_size(limit), filters).items():
        worth = sum(ranking.weights[term] * bm25.impact(*matches[term], average) for term in sorted(matches))
        hits.append(Hit(key, worth / ceiling if ceiling else 0.5))
    return best_hits(hits, limit)


class _Ranking:
    """A query, and the idf of its terms for the viewer."""

    def __init__(self, query: WordQuery, counts: Mapping[str, int], passages: int) -> None:
        self.query = query
        self.weights = term_weights(query, counts, passages)
        self.terms = [term for term in self.weights if not term.endswith(PREFIX)]

    @property
    def parts(self) -> str:
        """Subqueries of term occurrences, and of phrases and prefixes, which add no points."""
        words = [_TERMS] if self.terms else []
        starts = [_START.replace("{number}", str(number)) for number in range(len(self.query.prefixes))]
        return " UNION ALL ".join([*words, *starts, *([_PLACES] if self.query.phrases else [])])

    @property
    def required(self) -> str:
        """Conditions on the key of a passage: it has each phrase and each prefix."""
        phrases = (_IN_PHRASE.replace("{number}", str(number)) for number in range(len(self.query.phrases)))
        starts = (_IN_START.replace("{number}", str(number)) for number in range(len(self.query.prefixes)))
        return "".join((*phrases, *starts))

    @property
    def values(self) -> dict[str, Any]:
        """Values of the queries' parameters."""
        parameters: dict[str, Any] = {
            "terms": self.terms,
            "points": [points for term in self.terms for points in bm25.points(self.weights[term])],
        }
        for number, words in enumerate(self.query.phrases):
            longest = [max(form, key=len) for form in words]
            parameters |= {f"word{number}": longest, f"phrase{number}": phrase(*words)}
        for number, start in enumerate(self.query.prefixes):
            parameters |= {f"start{number}": start, f"stop{number}": start + LAST}
        return parameters


def _shortlist(
    reader: Reader, ranking: _Ranking, limit: int, filters: Filters
) -> dict[int, dict[str, tuple[int, int]]]:
    """The shortlisted passages: frequency of each term and length of the passage, by key."""
    clause, values = key_clause(filters, KEY)
    if not ranking.parts:
        return {}
    query = _BEST.replace("{parts}", ranking.parts).replace("{required}", ranking.required + clause)
    matches: dict[int, dict[str, tuple[int, int]]] = {}
    for key, term, frequency, length in reader.searched(query, limit=limit, **ranking.values, **values):
        by_term = matches.setdefault(key, {})
        if term is not None:
            by_term[term] = (frequency, length)
    return matches


_POSTINGS = "words w CROSS JOIN unnest(w.postings) AS o (posting)"
_PLACE = "array_position(%(terms)s::text[], w.term) - 1"
_TERMS = f"""SELECT {KEY} AS key, w.term, {FREQUENCY} AS frequency, {LENGTH} AS length,
        (%(points)s::bigint[])[{bm25.LEVELS} * ({_PLACE}) + {STEP} + 1] AS points FROM {_POSTINGS}
    WHERE w.workspace = %(ws)s AND w.term = ANY (%(terms)s::text[]) AND w.acl = {VISIBLE}{{required}}"""
_START = f"""SELECT {KEY}, %(start{{number}})s || '{PREFIX}', sum({FREQUENCY})::bigint, max({LENGTH}), 0::bigint
    FROM {_POSTINGS} WHERE w.workspace = %(ws)s AND w.term >= %(start{{number}})s AND w.term < %(stop{{number}})s
      AND w.acl = {VISIBLE}{{required}} GROUP BY 1"""
_PLACES = f"""SELECT {KEY}, NULL, 0::bigint, 0::bigint, 0::bigint FROM {_POSTINGS}
    WHERE w.workspace = %(ws)s AND w.term = ANY (%(word0)s::text[]) AND w.acl = {VISIBLE}{{required}}"""
_IN_PHRASE = f""" AND {KEY} IN (
    SELECT p.key FROM passages p WHERE p.workspace = %(ws)s AND p.lexemes @@ %(phrase{{number}})s::tsquery
      AND p.key IN (SELECT {KEY} FROM {_POSTINGS}
        WHERE w.workspace = %(ws)s AND w.term = ANY (%(word{{number}})s::text[]) AND w.acl = {VISIBLE}))"""
_IN_START = f""" AND {KEY} IN (
    SELECT {KEY} FROM {_POSTINGS} WHERE w.workspace = %(ws)s AND w.acl = {VISIBLE}
      AND w.term >= %(start{{number}})s AND w.term < %(stop{{number}})s)"""
_BEST = """WITH hits (key, term, frequency, length, points) AS MATERIALIZED ({parts}), best AS MATERIALIZED (
        SELECT key FROM hits GROUP BY key ORDER BY sum(points) DESC, key LIMIT %(limit)s)
    SELECT h.key, h.term, h.frequency, h.length FROM best b JOIN hits h ON h.key = b.key"""


def frequencies(reader: Reader, terms: Sequence[str]) -> dict[str, int]:
    """Document frequencies among visible passages, memoised for the snapshot; `pre*` is a prefix."""
    missing = [term for term in terms if term not in reader.frequencies]
    if missing:
        whole = [term for term in missing if not term.endswith(PREFIX)]
        starts = [term.removesuffix(PREFIX) for term in missing if term.endswith(PREFIX)]
        rows = reader.searched(
            f"""SELECT term, sum(cardinality(postings))::bigint FROM words
               WHERE workspace = %(ws)s AND term = ANY (%(whole)s::text[]) AND acl = {VISIBLE} GROUP BY term
               UNION ALL
               SELECT s.start || '*', (SELECT count(DISTINCT {KEY}) FROM {_POSTINGS} WHERE w.workspace = %(ws)s
                   AND w.term >= s.start AND w.term < s.stop AND w.acl = {VISIBLE})
               FROM unnest(%(starts)s::text[], %(stops)s::text[]) AS s (start, stop)""",
            whole=whole,
            starts=starts,
            stops=[start + LAST for start in starts],
        )
        reader.frequencies.update(dict.fromkeys(missing, 0) | {term: count for term, count in rows})
    return {term: reader.frequencies[term] for term in terms}
