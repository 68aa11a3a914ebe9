"""Search by words: BM25 with the viewer's own statistics, shortlisted in SQL.

Both stores shortlist by the same quantised impacts and compute scores from the same words, so that they find the same
passages with the same scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weftwork.store.postgres.codec import phrase
from weftwork.store.postgres.read_queries import VISIBLE
from weftwork.store.postgres.session import Reader, node_clause
from weftwork.store.sql.word_ranking import best_hits, shortlist_size
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
    ceiling = bm25.ceiling(ranking.weights.values())
    hits = []
    for key, matches in _shortlist(reader, ranking, shortlist_size(limit), filters).items():
        worth = sum(ranking.weights[term] * bm25.impact(*matches[term], average) for term in sorted(matches))
        hits.append(Hit(key, worth / ceiling if ceiling else 0.5))
    return best_hits(hits, limit)


class _Ranking:
    """A query, and the idf of its terms for the viewer."""

    def __init__(self, query: WordQuery, counts: Mapping[str, int], passages: int) -> None:
        self.query = query
        self.weights = {term: query.terms[term] * bm25.idf(passages, count) for term, count in counts.items()}
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
    def occurrences(self) -> str:
        """A query for the term frequencies of the shortlisted passages."""
        starts = [_COUNT_START.replace("{number}", str(number)) for number in range(len(self.query.prefixes))]
        return " UNION ALL ".join([_OCCURRENCES, *starts])

    @property
    def values(self) -> dict[str, Any]:
        """Values of the queries' parameters."""
        parameters: dict[str, Any] = {
            "terms": self.terms,
            "points": [points for term in self.terms for points in bm25.points(self.weights[term])],
        }
        for number, words in enumerate(self.query.phrases):
            parameters |= {f"word{number}": max(words, key=len), f"phrase{number}": phrase(words)}
        for number, start in enumerate(self.query.prefixes):
            parameters |= {f"start{number}": start, f"stop{number}": start + LAST}
        return parameters


def _shortlist(
    reader: Reader, ranking: _Ranking, limit: int, filters: Filters
) -> dict[int, dict[str, tuple[int, int]]]:
    """The shortlisted passages: frequency of each term and length of the passage, by key."""
    clause, values = node_clause(filters, "w.node")
    if not ranking.parts:
        return {}
    query = f"WITH {_BEST.replace('{parts}', ranking.parts)} {ranking.occurrences}"
    query = query.replace("{required}", ranking.required + clause)
    matches: dict[int, dict[str, tuple[int, int]]] = {}
    for key, term, frequency, length in reader.searched(query, limit=limit, **ranking.values, **values):
        by_term = matches.setdefault(key, {})
        if term is not None:
            by_term[term] = (frequency, length)
    return matches


_PLACE = "array_position(%(terms)s::text[], w.term) - 1"
_TERMS = f"""SELECT w.key, (%(points)s::bigint[])[{bm25.LEVELS} * ({_PLACE}) + w.step + 1] AS points FROM words w
    WHERE w.workspace = %(ws)s AND w.term = ANY (%(terms)s::text[]) AND w.acl = {VISIBLE}{{required}}"""
_START = f"""SELECT w.key, 0::bigint AS points FROM words w
    WHERE w.workspace = %(ws)s AND w.term >= %(start{{number}})s AND w.term < %(stop{{number}})s
      AND w.acl = {VISIBLE}{{required}}"""
_PLACES = f"""SELECT w.key, 0::bigint AS points FROM words w
    WHERE w.workspace = %(ws)s AND w.term = %(word0)s AND w.acl = {VISIBLE}{{required}}"""
_IN_PHRASE = f""" AND w.key IN (
    SELECT r.key FROM words r JOIN passages p ON p.workspace = %(ws)s AND p.key = r.key
    WHERE r.workspace = %(ws)s AND r.term = %(word{{number}})s AND r.acl = {VISIBLE}
      AND p.lexemes @@ %(phrase{{number}})s::tsquery)"""
_IN_START = f""" AND w.key IN (
    SELECT r.key FROM words r WHERE r.workspace = %(ws)s AND r.acl = {VISIBLE}
      AND r.term >= %(start{{number}})s AND r.term < %(stop{{number}})s)"""

_BEST = """best AS MATERIALIZED (
    SELECT key FROM ({parts}) hits GROUP BY key ORDER BY sum(points) DESC, key LIMIT %(limit)s)"""
_OCCURRENCES = """SELECT b.key, w.term, w.frequency::bigint, w.length FROM best b
    LEFT JOIN words w ON w.workspace = %(ws)s AND w.term = ANY (%(terms)s::text[]) AND w.key = b.key"""
_COUNT_START = """SELECT b.key, %(start{number})s || '*', sum(w.frequency)::bigint, max(w.length)
    FROM best b JOIN words w ON w.workspace = %(ws)s AND w.key = b.key
        AND w.term >= %(start{number})s AND w.term < %(stop{number})s GROUP BY b.key"""


def frequencies(reader: Reader, terms: Sequence[str]) -> dict[str, int]:
    """Document frequencies among visible passages, memoised for the snapshot; `pre*` is a prefix."""
    missing = [term for term in terms if term not in reader.frequencies]
    if missing:
        whole = [term for term in missing if not term.endswith(PREFIX)]
        starts = [term.removesuffix(PREFIX) for term in missing if term.endswith(PREFIX)]
        rows = reader.searched(
            f"""SELECT term, count(*) FROM words
               WHERE workspace = %(ws)s AND term = ANY (%(whole)s::text[]) AND acl = {VISIBLE} GROUP BY term
               UNION ALL
               SELECT s.start || '*', (SELECT count(DISTINCT key) FROM words WHERE workspace = %(ws)s
                   AND term >= s.start AND term < s.stop AND acl = {VISIBLE})
               FROM unnest(%(starts)s::text[], %(stops)s::text[]) AS s (start, stop)""",
            whole=whole,
            starts=starts,
            stops=[start + LAST for start in starts],
        )
        reader.frequencies.update(dict.fromkeys(missing, 0) | {term: count for term, count in rows})
    return {term: reader.frequencies[term] for term in terms}
