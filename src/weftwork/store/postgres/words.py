"""The inverted index: tables derived from the words of passages, updated in the writing transaction.

`words` has the posting lists: a row for each stem, access list and block of 4,096 passages, with one number a passage
that holds its key, its length, the stem's frequency in it and its quantised impact. A viewer's statistics are sums over
visible rows, and ranking reads no passage. `vocabulary` counts the passages of each unstemmed word by access list, so
that corrections of a typo come from what the viewer may see. `acls` has the totals of passages and words.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from weftwork.store.postgres.session import Session
from weftwork.text import bm25

BLOCK_BITS = 12
"""A row has the postings of 2^12 keys: small enough to be rewritten by an edit, large enough for rare words."""
KEY = "(o.posting >> 32)"
LENGTH = "(o.posting >> 12 & 1048575)"
FREQUENCY = "(o.posting >> 4 & 255)"
STEP = "(o.posting & 15)"
"""The parts of a posting `o.posting`."""

_IMPACT = f"""l.frequency * {bm25.K1 + 1}::float8
    / (l.frequency + {bm25.K1} * ({1 - bm25.B} + {bm25.B} * p.words / {bm25.REFERENCE_LENGTH}::float8))"""
_STEP = f"width_bucket({_IMPACT}, ARRAY{list(bm25.BOUNDS)}::float8[])"
_POSTING = f"(p.key << 32) | (LEAST(p.words, 1048575) << 12) | (l.frequency::bigint << 4) | {_STEP}"


def file(session: Session, nodes: Collection[int]) -> None:
    """Index the passages of these nodes."""
    session.run(
        f"""INSERT INTO words (workspace, term, acl, block, postings)
            SELECT p.workspace, l.lexeme, p.acl, (p.key >> {BLOCK_BITS})::int, array_agg({_POSTING} ORDER BY p.key)
            FROM passages p CROSS JOIN LATERAL (
                SELECT lexeme, cardinality(positions) AS frequency, positions FROM unnest(p.lexemes)) l
            WHERE p.workspace = %(ws)s AND p.node = ANY (%(nodes)s::bigint[]) AND l.positions IS NOT NULL
            GROUP BY 1, 2, 3, 4 ORDER BY 2, 3, 4
            ON CONFLICT (workspace, term, acl, block) DO UPDATE SET postings = words.postings || excluded.postings""",
        nodes=list(nodes),
    )
    count(session, nodes, 1)


def remove(session: Session, nodes: Collection[int]) -> None:
    """Remove the passages of these nodes from the index, before they are deleted or get another list."""
    count(session, nodes, -1)
    session.run(_WITHOUT, nodes=list(nodes))
    session.run(_EMPTY, nodes=list(nodes))


_THEIR_BLOCKS = f"""SELECT p.workspace, l.term, p.acl, p.key >> {BLOCK_BITS} AS block, array_agg(p.key) AS keys
    FROM passages p CROSS JOIN unnest(tsvector_to_array(p.lexemes)) AS l (term)
    WHERE p.workspace = %(ws)s AND p.node = ANY (%(nodes)s::bigint[]) GROUP BY 1, 2, 3, 4"""
_THEIRS = (
    "w.workspace = %(ws)s AND w.workspace = t.workspace AND w.term = t.term AND w.acl = t.acl AND w.block = t.block"
)
_WITHOUT = f"""UPDATE words w SET postings = ARRAY(
        SELECT o.posting FROM unnest(w.postings) AS o (posting) WHERE {KEY} <> ALL (t.keys))
    FROM ({_THEIR_BLOCKS}) t WHERE {_THEIRS}"""
_EMPTY = f"DELETE FROM words w USING ({_THEIR_BLOCKS}) t WHERE {_THEIRS} AND w.postings = '{{}}'"


def count(session: Session, nodes: Collection[int], sign: Literal[1, -1]) -> None:
    """Add the passages of these nodes to the totals of their access lists, or subtract them."""
    numbers = list(nodes)
    session.run(
        """UPDATE acls a SET passages = a.passages + %(sign)s * f.passages, words = a.words + %(sign)s * f.words
           FROM (SELECT workspace, acl, count(*) AS passages, sum(words) AS words FROM passages
                 WHERE workspace = %(ws)s AND node = ANY (%(nodes)s::bigint[]) GROUP BY workspace, acl) f
           WHERE a.workspace = %(ws)s AND a.workspace = f.workspace AND a.id = f.acl""",
        nodes=numbers,
        sign=sign,
    )
    if sign == 1:
        session.run(_ADD, nodes=numbers)
    else:
        session.run(_TAKE, nodes=numbers)
        session.run(_DROP, nodes=numbers)


_FOUND = """SELECT p.workspace, substr(l.word, 2) AS word, p.acl, count(*) AS passages
    FROM passages p CROSS JOIN unnest(tsvector_to_array(p.lexemes)) AS l (word)
    WHERE p.workspace = %(ws)s AND p.node = ANY (%(nodes)s::bigint[]) AND l.word LIKE '=%%'
    GROUP BY 1, 2, 3"""
_ADD = f"""INSERT INTO vocabulary (workspace, word, acl, passages) {_FOUND} ORDER BY 2, 3
    ON CONFLICT (workspace, word, acl) DO UPDATE SET passages = vocabulary.passages + excluded.passages"""
_SAME = "v.workspace = %(ws)s AND v.workspace = f.workspace AND v.word = f.word AND v.acl = f.acl"
_TAKE = f"UPDATE vocabulary v SET passages = v.passages - f.passages FROM ({_FOUND}) f WHERE {_SAME}"
_DROP = f"DELETE FROM vocabulary v USING ({_FOUND}) f WHERE {_SAME} AND v.passages <= 0"
