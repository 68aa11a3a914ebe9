"""Pages as many vectors: what is kept of each, and the search by MaxSim in two stages.

A sketch of a page, a few means of its vectors, is compared with the query first; then all vectors of those pages that
came out best, and of no others. Where there are few pages, all are compared in full. Both stages read only pages that
the viewer may see, and how many are compared depends on nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from weftwork.errors import DimensionError
from weftwork.store.rules import Kind, best_pages
from weftwork.store.sqlite.codec import ids
from weftwork.store.sqlite.scope import Reader, filter_clause
from weftwork.types import Filters, Hit

if TYPE_CHECKING:
    from weftwork.embed.protocol import Matrix

SKETCH = 8
"""Vectors in a sketch: each is the mean of a stretch of the page, from top to bottom."""
EXACT = 200
"""Up to so many visible pages, all are compared in full; above, the best of so many sketches."""
PER_RESULT = 10
"""And at least so many for each result that is asked for."""
AT_ONCE = {"sketch": 1024, "vectors": 128}
"""Pages whose sketches, or vectors, are in memory at once: tens of megabytes, whatever the model."""
NAMES = {"sketch": "v.node", "vectors": "p.key"}
"""What a page is called by who asks for its sketch, or for its vectors."""


def put(connection: sqlite3.Connection, workspace: int, model: str, pages: Mapping[int, Matrix]) -> None:
    """Keep the vectors of pages, by the keys of their nodes."""
    known = connection.execute(
        "SELECT width FROM page_vectors WHERE workspace = ? AND model = ? LIMIT 1", (workspace, model)
    ).fetchone()
    width = known[0] if known else None
    rows = []
    for node, vectors in pages.items():
        matrix = np.asarray(vectors, dtype=np.float32)
        if matrix.ndim != 2 or width not in (None, matrix.shape[1]):
            raise DimensionError(
                f"a page's vectors of the shape {matrix.shape} cannot be kept with those of {model!r}, which have "
                f"{width}: embed with the same model, or give the other one another name"
            )
        width = matrix.shape[1]
        rows.append((workspace, model, node, width, packed(sketch(matrix)), packed(matrix)))
    connection.executemany(
        """INSERT OR REPLACE INTO page_vectors (workspace, model, node, width, sketch, vectors)
           VALUES (?, ?, ?, ?, ?, ?)""",
        rows,
    )


def sketch(vectors: Matrix) -> Matrix:
    """A few means that stand for all vectors of a page."""
    if len(vectors) <= SKETCH:
        return vectors
    means = np.stack([part.mean(axis=0) for part in np.array_split(vectors, SKETCH)])
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    found: Matrix = np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 0)
    return found


def max_sim(query: Matrix, pages: Sequence[bytes]) -> list[float]:
    """How well each page answers each part of the query at its best, on average: from 0 to 1."""
    width = query.shape[1]
    rows = np.frombuffer(b"".join(pages), dtype=np.float16).reshape(-1, width).astype(np.float32)
    ends = np.cumsum([len(page) // (2 * width) for page in pages])
    best = np.maximum.reduceat(rows @ query.T, np.concatenate(([0], ends[:-1])), axis=0)
    # Six digits, since the last ones depend on how many pages are multiplied together.
    scores = np.minimum(np.maximum(best, 0.0).mean(axis=1, dtype=np.float64), 1.0).round(6)
    return [float(score) for score in scores]


def search(reader: Reader, query: Matrix, model: str, limit: int, filters: Filters) -> list[Hit]:
    """The visible pages that answer best, by the keys of their first passages."""
    if not len(query) or not reader.acls or limit < 1:
        return []
    nodes = _visible(reader, query, model, filters)
    return best_pages(nodes, max(EXACT, limit * PER_RESULT), limit, partial(_scored, reader, query, model))


def _visible(reader: Reader, query: Matrix, model: str, filters: Filters) -> list[int]:
    """The pages among which the viewer searches."""
    clause, values = filter_clause(filters)
    rows = reader.rows(
        f"""SELECT v.node, v.width FROM page_vectors v CROSS JOIN nodes n ON n.pk = v.node
            WHERE v.workspace = :ws AND v.model = :model AND n.acl IN {{visible}} AND length(v.sketch) > 0{clause}
            ORDER BY v.node""",
        model=model,
        **values,
    )
    for _, width in rows[:1]:
        refuse_length(query, width, model)
    return [node for node, _ in rows]


def _scored(reader: Reader, query: Matrix, model: str, nodes: Sequence[int], what: Kind) -> Iterator[tuple[int, float]]:
    """What the sketches or the vectors of these pages come to, some pages at a time."""
    step = AT_ONCE[what]
    for start in range(0, len(nodes), step):
        rows = reader.rows(
            f"""SELECT {NAMES[what]}, v.{what} FROM page_vectors v
                CROSS JOIN passages p ON p.node = v.node AND p.ordinal = 0
                WHERE v.workspace = :ws AND v.model = :model AND v.node IN (SELECT value FROM json_each(:nodes))
                  AND p.acl IN {{visible}} ORDER BY v.node""",
            model=model,
            nodes=ids(nodes[start : start + step]),
        )
        if rows:
            scores = max_sim(query, [blob for _, blob in rows])
            yield from zip([name for name, _ in rows], scores, strict=True)


def refuse_length(query: Matrix, width: int, model: str) -> None:
    """Raise if a query cannot be compared with the pages of a model."""
    if query.shape[1] != width:
        raise DimensionError(
            f"the query's vectors have {query.shape[1]} numbers, those of {model!r} {width}: embed it with this model"
        )


def packed(matrix: Matrix) -> bytes:
    """Vectors as they are kept."""
    return matrix.astype(np.float16).tobytes()


def without_vectors(connection: sqlite3.Connection, workspace: int, model: str, limit: int) -> list[tuple[Any, ...]]:
    """Id, document, text and fields of document pages that have no vectors of a model yet."""
    return connection.execute(
        """SELECT n.id, (SELECT d.id FROM nodes d WHERE d.pk = n.parent), (SELECT group_concat(text, '') FROM
                   (SELECT text FROM passages WHERE node = n.pk ORDER BY ordinal)), n.fields
           FROM nodes n WHERE n.workspace = ?1 AND n.type = 'document_page'
             AND NOT EXISTS (SELECT 1 FROM page_vectors v WHERE v.workspace = ?1 AND v.model = ?2 AND v.node = n.pk)
           ORDER BY n.pk LIMIT ?3""",
        (workspace, model, limit),
    ).fetchall()
