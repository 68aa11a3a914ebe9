"""Pages as many vectors: what is kept of each, and the search by MaxSim in two stages, as in the embedded store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from weftwork.errors import DimensionError
from weftwork.store.postgres.codec import TEXT
from weftwork.store.postgres.load import insert
from weftwork.store.postgres.scope import Reader, filter_clause
from weftwork.store.rules import Kind, best_pages
from weftwork.store.sqlite.pages import AT_ONCE, EXACT, PER_RESULT, max_sim, packed, refuse_length, sketch
from weftwork.types import Filters, Hit

if TYPE_CHECKING:
    from psycopg import Connection

    from weftwork.embed.protocol import Matrix


def put(connection: Connection[Any], workspace: int, model: str, pages: Mapping[int, Matrix]) -> None:
    """Keep the vectors of pages, by the keys of their nodes."""
    known = connection.execute(
        "SELECT width FROM page_vectors WHERE workspace = %s AND model = %s LIMIT 1", (workspace, model)
    ).fetchone()
    width = known[0] if known else None
    rows: list[tuple[object, ...]] = []
    for node, vectors in pages.items():
        matrix = np.asarray(vectors, dtype=np.float32)
        if matrix.ndim != 2 or width not in (None, matrix.shape[1]):
            raise DimensionError(
                f"a page's vectors of the shape {matrix.shape} cannot be kept with those of {model!r}, which have "
                f"{width}: embed with the same model, or give the other one another name"
            )
        width = matrix.shape[1]
        rows.append((workspace, model, node, width, packed(sketch(matrix)), packed(matrix)))
    connection.execute(
        "DELETE FROM page_vectors WHERE workspace = %s AND model = %s AND node = ANY (%s::bigint[])",
        (workspace, model, list(pages)),
    )
    insert(connection, "page_vectors", ("workspace", "model", "node", "width", "sketch", "vectors"), rows)


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
        f"""SELECT v.node, v.width FROM page_vectors v JOIN nodes n ON n.workspace = %(ws)s AND n.pk = v.node
            WHERE v.workspace = %(ws)s AND v.model = %(model)s AND n.acl = {{visible}} AND length(v.sketch) > 0{clause}
            ORDER BY v.node""",
        model=model,
        **values,
    )
    for _, width in rows[:1]:
        refuse_length(query, width, model)
    return [node for node, _ in rows]


def _scored(reader: Reader, query: Matrix, model: str, nodes: Sequence[int], what: Kind) -> Iterator[tuple[int, float]]:
    """What the sketches or the vectors of these pages come to, some pages at a time."""
    step, name = AT_ONCE[what], {"sketch": "v.node", "vectors": "p.key"}[what]
    for start in range(0, len(nodes), step):
        rows = reader.rows(
            f"""SELECT {name}, v.{what} FROM page_vectors v
                JOIN passages p ON p.workspace = %(ws)s AND p.node = v.node AND p.ordinal = 0 AND p.acl = {{visible}}
                WHERE v.workspace = %(ws)s AND v.model = %(model)s AND v.node = ANY (%(nodes)s::bigint[])
                ORDER BY v.node""",
            model=model,
            nodes=list(nodes[start : start + step]),
        )
        if rows:
            scores = max_sim(query, [blob for _, blob in rows])
            yield from zip([each for each, _ in rows], scores, strict=True)


def without_vectors(connection: Connection[Any], workspace: int, model: str, limit: int) -> list[tuple[Any, ...]]:
    """Id, document, text and fields of document pages that have no vectors of a model yet."""
    return connection.execute(
        f"""SELECT n.id, d.id, {TEXT}, n.fields
            FROM nodes n LEFT JOIN nodes d ON d.workspace = %(ws)s AND d.pk = n.parent
            WHERE n.workspace = %(ws)s AND n.type = 'document_page' AND NOT EXISTS (
                SELECT 1 FROM page_vectors v WHERE v.workspace = %(ws)s AND v.model = %(model)s AND v.node = n.pk)
            ORDER BY n.pk LIMIT %(limit)s""".encode(),
        {"ws": workspace, "model": model, "limit": limit},
    ).fetchall()
