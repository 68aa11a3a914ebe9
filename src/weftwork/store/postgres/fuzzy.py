"""Fuzzy search: titles and sources by trigrams, words by edit distance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weftwork.store.postgres.codec import WHOLE, phrase
from weftwork.store.postgres.read_queries import INDEX_ROW, VISIBLE
from weftwork.store.postgres.session import Reader, key_clause, node_clause
from weftwork.store.postgres.words import KEY
from weftwork.store.sql.codec import index_row
from weftwork.store.sql.session import Row
from weftwork.store.sql.word_ranking import resembling, shortlist_size
from weftwork.text import spelling
from weftwork.text.analysis import stem_forms, whole_words
from weftwork.text.spelling import SHORTEST, distance, most_typos
from weftwork.types import Filters, Hit

NEAR_WORDS = 40
"""Candidates for each unknown word of the query."""
LEAST = 0.2
"""The minimum trigram similarity of such a candidate."""
FEW = 2_000
LEAST_OF_TITLES = 0.3
"""Up to FEW passages all titles are ranked; above, those with this trigram similarity."""
MOST_WORDS = 16
"""Words of the query that are corrected at most."""


def search(
    reader: Reader, text: str, limit: int, filters: Filters, threshold: float, languages: Sequence[str]
) -> list[Hit]:
    """Trigram similarity with titles, paths and the nearest words."""
    if not reader.acls or limit < 1 or not text.strip():
        return []
    most = shortlist_size(limit)
    keys = [*_alike(reader, text[:200], most, filters), *_near(reader, text, most, filters, languages)]
    rows = reader.searched(
        f"""SELECT {INDEX_ROW} FROM passages p JOIN nodes n ON n.workspace = %(ws)s AND n.pk = p.node
            WHERE p.workspace = %(ws)s AND p.key = ANY (%(keys)s::bigint[]) AND n.acl = {VISIBLE}""",
        keys=list(dict.fromkeys(keys)),
    )
    return resembling(text, map(index_row, rows), limit, threshold)


def _alike(reader: Reader, text: str, limit: int, filters: Filters) -> list[int]:
    """Keys of the first passages of nodes whose title or source is similar to a text."""
    clause, values = node_clause(filters, "n.pk")
    if reader.passages <= FEW:
        rows = reader.searched(_RANKED + clause + _BEST, text=text, limit=limit, **values)
    else:
        alike = reader.searched("SELECT node, likeness FROM weftwork_alike(%(text)s, %(least)s::real)", text=text,
                                least=LEAST_OF_TITLES)  # fmt: skip
        nodes, likeness = [row[0] for row in alike], [row[1] for row in alike]
        rows = reader.searched(_ALIKE + clause + _BEST, nodes=nodes, likeness=likeness, limit=limit, **values)
    return [row[0] for row in rows]


_RANKED = f"""SELECT key FROM (
    SELECT p.key, (SELECT count(DISTINCT gram) FROM unnest(show_trgm(n.title) || show_trgm(n.source)) AS own (gram)
                   WHERE gram = ANY (show_trgm(%(text)s))) AS likeness
    FROM nodes n JOIN passages p ON p.workspace = %(ws)s AND p.node = n.pk AND p.ordinal = 0
    WHERE n.workspace = %(ws)s AND n.acl = {VISIBLE}"""
_ALIKE = f"""SELECT key FROM (
    SELECT p.key, n.likeness FROM unnest(%(nodes)s::bigint[], %(likeness)s::real[]) AS n (pk, likeness)
    JOIN passages p ON p.workspace = %(ws)s AND p.node = n.pk AND p.ordinal = 0 AND p.acl = {VISIBLE} WHERE true"""
_BEST = ") found WHERE likeness > 0 ORDER BY likeness DESC, key LIMIT %(limit)s"


def _near(reader: Reader, text: str, limit: int, filters: Filters, languages: Sequence[str]) -> list[int]:
    """Keys of passages with a near match of a word that occurs nowhere in scope."""
    words = [word for word in dict.fromkeys(whole_words(text[:1000])) if len(word) >= SHORTEST][:MOST_WORDS]
    occurring = _known(reader, words, filters, languages)
    unknown = [word for word in words if word not in occurring]
    if not unknown:
        return []
    rows = _alike_words(reader, unknown)
    near = [(asked, word) for asked, word in rows if distance(asked, word, most_typos(asked)) is not None]
    return _containing(reader, near, limit, filters, languages)


def corrections(reader: Reader, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Words of visible passages that are nearest to misspelt ones."""
    known: dict[str, list[str]] = {}
    for asked, word in _alike_words(reader, words):
        known.setdefault(asked, []).append(word)
    return {word: spelling.corrections(word, known.get(word, ())) for word in words}


def _alike_words(reader: Reader, words: Sequence[str]) -> list[Row]:
    """Pairs of a word that is asked for and a known one with similar trigrams."""
    if not words or not reader.acls:
        return []
    return reader.searched(
        "SELECT asked, word FROM weftwork_words_like(%(words)s::text[], %(least)s::real, %(most)s)",
        words=list(words),
        least=LEAST,
        most=NEAR_WORDS,
    )


def _lookups(words: Iterable[tuple[str, str]], languages: Sequence[str]) -> list[tuple[str, str, str]]:
    """Pairs of a word that is asked for and a known one, as the posting lists and the lexemes to look up."""
    return [
        (asked, stem, phrase([WHOLE + word]))
        for asked, word in words
        for forms in stem_forms(word, languages)
        for stem in dict.fromkeys(forms)
    ]


def _known(reader: Reader, words: Sequence[str], filters: Filters, languages: Sequence[str]) -> set[str]:
    """The words that occur in scope, unstemmed."""
    lookups = _lookups(((word, word) for word in words), languages)
    if not lookups:
        return set()
    clause, values = key_clause(filters, "p.key")
    asked, stems, lexemes = (list(column) for column in zip(*lookups, strict=True))
    rows = reader.searched(
        f"""SELECT q.asked
            FROM unnest(%(asked)s::text[], %(stems)s::text[], %(lexemes)s::text[]) AS q (asked, stem, lexeme)
            WHERE EXISTS (
                SELECT 1 FROM words w CROSS JOIN unnest(w.postings) AS o (posting)
                JOIN passages p ON p.workspace = %(ws)s AND p.key = {KEY}
                WHERE w.workspace = %(ws)s AND w.term = q.stem AND w.acl = {VISIBLE}
                  AND p.lexemes @@ q.lexeme::tsquery{clause})""",
        asked=asked,
        stems=stems,
        lexemes=lexemes,
        **values,
    )
    return {row[0] for row in rows}


def _containing(
    reader: Reader, words: Sequence[tuple[str, str]], limit: int, filters: Filters, languages: Sequence[str]
) -> list[int]:
    """Keys of passages with these (query word, near match) pairs; most query words first."""
    lookups = _lookups(words, languages)
    if not lookups:
        return []
    clause, values = key_clause(filters, "p.key")
    asked, stems, lexemes = (list(column) for column in zip(*lookups, strict=True))
    rows = reader.searched(
        f"""SELECT p.key
            FROM unnest(%(asked)s::text[], %(stems)s::text[], %(lexemes)s::text[]) AS q (asked, stem, lexeme)
            JOIN words w ON w.workspace = %(ws)s AND w.term = q.stem AND w.acl = {VISIBLE}
            CROSS JOIN unnest(w.postings) AS o (posting)
            JOIN passages p ON p.workspace = %(ws)s AND p.key = {KEY} AND p.lexemes @@ q.lexeme::tsquery
            WHERE true{clause} GROUP BY p.key ORDER BY count(DISTINCT q.asked) DESC, p.key LIMIT %(limit)s""",
        asked=asked,
        stems=stems,
        lexemes=lexemes,
        limit=limit,
        **values,
    )
    return [row[0] for row in rows]
