"""The inverted index: tables derived from the words of passages, updated in the writing transaction.

`words` is the posting list: for each stem of each passage its frequency, the length of the passage, the quantised
impact, and the access list. A viewer's statistics are sums over visible rows, and ranking reads no passage.
`vocabulary` counts the passages of each unstemmed word by access list, so that corrections of a typo come from what the
viewer may see. `acls` has the totals of passages and words.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from weftwork.store.postgres.session import Session
from weftwork.text import bm25

_IMPACT = f"""l.frequency * {bm25.K1 + 1}::float8
    / (l.frequency + {bm25.K1} * ({1 - bm25.B} + {bm25.B} * p.words / {bm25.REFERENCE_LENGTH}::float8))"""
_STEP = f"width_bucket({_IMPACT}, ARRAY{list(bm25.BOUNDS)}::float8[])"


def file(session: Session, nodes: Collection[int]) -> None:
    """Index the passages of these nodes."""
    session.run(
        f"""INSERT INTO words (workspace, term, key, node, acl, frequency, step, length)
           SELECT %(ws)s, l.lexeme, p.key, p.node, p.acl, l.frequency, {_STEP}, p.words
           FROM passages p CROSS JOIN LATERAL (
               SELECT lexeme, cardinality(positions) AS frequency, positions FROM unnest(p.lexemes)) l
           WHERE p.workspace = %(ws)s AND p.node = ANY (%(nodes)s::bigint[]) AND l.positions IS NOT NULL""",
        nodes=list(nodes),
    )
    count(session, nodes, 1)


def remove(session: Session, nodes: Collection[int]) -> None:
    """Remove the passages of these nodes from the index, before they are deleted."""
    count(session, nodes, -1)
    session.run(
        """DELETE FROM words w USING passages p CROSS JOIN unnest(tsvector_to_array(p.lexemes)) AS l (term)
           WHERE p.workspace = %(ws)s AND p.node = ANY (%(nodes)s::bigint[])
             AND w.workspace = %(ws)s AND w.term = l.term AND w.key = p.key""",
        nodes=list(nodes),
    )


def count(session: Session, nodes: Collection[int], sign: Literal[1, -1]) -> None:
    """Add the passages of these nodes to the totals of their access lists, or subtract them."""
    numbers = list(nodes)
    session.run(
        """UPDATE acls a SET passages = a.passages + %(sign)s * f.passages, words = a.words + %(sign)s * f.words
           FROM (SELECT acl, count(*) AS passages, sum(words) AS words FROM passages
                 WHERE workspace = %(ws)s AND node = ANY (%(nodes)s::bigint[]) GROUP BY acl) f
           WHERE a.workspace = %(ws)s AND a.id = f.acl""",
        nodes=numbers,
        sign=sign,
    )
    if sign == 1:
        session.run(_FOUND + _ADD, nodes=numbers)
    else:
        session.run(_FOUND + _DROP, nodes=numbers)
        session.run(_FOUND + _TAKE, nodes=numbers)


_FOUND = """WITH found AS MATERIALIZED (
    SELECT substr(l.word, 2) AS word, p.acl, count(*) AS passages
    FROM passages p CROSS JOIN unnest(tsvector_to_array(p.lexemes)) AS l (word)
    WHERE p.workspace = %(ws)s AND p.node = ANY (%(nodes)s::bigint[]) AND l.word LIKE '=%%'
    GROUP BY 1, 2 ORDER BY 1, 2)
"""
_ADD = """, known AS (
    UPDATE vocabulary v SET passages = v.passages + f.passages FROM found f
    WHERE v.workspace = %(ws)s AND v.word = f.word AND v.acl = f.acl RETURNING v.word, v.acl)
    INSERT INTO vocabulary (workspace, word, acl, passages)
    SELECT %(ws)s, f.word, f.acl, f.passages FROM found f
    WHERE NOT EXISTS (SELECT 1 FROM known k WHERE k.word = f.word AND k.acl = f.acl)"""
_TAKE = """UPDATE vocabulary v SET passages = v.passages - f.passages FROM found f
    WHERE v.workspace = %(ws)s AND v.word = f.word AND v.acl = f.acl"""
_DROP = """DELETE FROM vocabulary v USING found f
    WHERE v.workspace = %(ws)s AND v.word = f.word AND v.acl = f.acl AND v.passages <= f.passages"""
