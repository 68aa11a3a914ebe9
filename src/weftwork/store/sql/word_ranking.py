"""Ranking of passages by words: the size of the shortlist, and trigram similarity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from weftwork.store.index.rows import Row
from weftwork.text import bm25
from weftwork.text.analysis import WordQuery
from weftwork.text.trigrams import share_of_words, similarity
from weftwork.types import Hit

SPARE = 10
"""Minimum of passages that are shortlisted beyond the limit, since the shortlist uses quantised impacts."""

INSIDE = 0.9
"""Weight of words inside a passage. A name counts by 1 − (1 − likeness)²: of a hundred mistyped names of files, words
inside others would otherwise come before eleven."""
PARTS = 4


def shortlist_size(limit: int) -> int:
    """The number of passages to score exactly for `limit` results."""
    return limit + max(SPARE, limit // 2)


def term_weights(query: WordQuery, counts: Mapping[str, int], documents: int) -> dict[str, float]:
    """The weights of the query's terms that occur; the stems of one word in several languages weigh the same."""
    totals: Counter[str] = Counter()
    for term, count in counts.items():
        totals[query.forms.get(term, term)] += count
    return {
        term: query.terms[term] * bm25.idf(documents, min(documents, totals[query.forms.get(term, term)]))
        for term, count in counts.items()
        if count
    }


def highest_score(query: WordQuery, weights: Mapping[str, float]) -> float:
    """An upper bound of the score of any passage, which has a word in one language."""
    return bm25.ceiling({query.forms.get(term, term): weight for term, weight in weights.items()}.values())


def best_hits(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """The hits with the highest scores, ties in the order of their keys."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def resembling(text: str, rows: Iterable[Row], limit: int, threshold: float) -> list[Hit]:
    """The passages whose title, path or words resemble a text by more than the threshold, best first."""
    words = [word for word in text.split() if len(word) > 3]
    hits = []
    for row in rows:
        name = max(similarity(text, row.title), *(similarity(text, end) for end in _ends(row.source)))
        inside = INSIDE * share_of_words(words, row.searchable)
        if max(name, inside) > threshold:
            hits.append(Hit(row.key, max(1.0 - (1.0 - name) ** 2, inside)))
    return best_hits(hits, limit)


def _ends(path: str) -> list[str]:
    """A path, and its last parts without the suffix: nobody types the folders above a file."""
    parts = path.rpartition(".")[0].split("/") if "." in path.rpartition("/")[2] else path.split("/")
    return [path, *("/".join(parts[-count:]) for count in range(1, min(PARTS, len(parts)) + 1))]
