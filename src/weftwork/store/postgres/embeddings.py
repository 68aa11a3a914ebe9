"""Vector search: exact for few rows, else on a shortlist by sign bits or by an HNSW index.

The shortlist by sign bits is drawn from visible rows alone, and its length depends on nothing else: a hidden row can
neither push a visible one out of it nor change the thoroughness of the search. If an administrator has built HNSW
indexes (`hnsw.py`), large workspaces take the shortlist from them, which is much faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weftwork.errors import DimensionError
from weftwork.store.index.nearest import Effort
from weftwork.store.index.scan import cosines, unit_rows
from weftwork.store.postgres.access import take_numbers
from weftwork.store.postgres.codec import read_vector, sign_bits, vector_text
from weftwork.store.postgres.load import insert
from weftwork.store.postgres.read_queries import VISIBLE
from weftwork.store.postgres.session import Model, Reader, Session, node_clause
from weftwork.store.sql.batch import check_dimensions
from weftwork.types import Filters, Hit

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

EFFORT = Effort(shortlist=8_000)
"""Less than SQLite's, since a row costs more; docs/decisions/0014-postgres.md has the measurements."""
NEAR, STEPS, MOST = 100, 400, 200_000
"""Rows that are taken from the HNSW index, its ef_search, and its max_scan_tuples."""
DEARER = 10
"""The cost of one step in the HNSW index, in comparisons of sign bits."""
SPARE = 10
"""Rows that are compared exactly beyond the limit, since PostgreSQL rounds distances otherwise."""


def put(session: Session, model: str, vectors: Mapping[str, Vector]) -> list[int]:
    """Store the vectors of the passages with these digests; return their nodes."""
    if not vectors:
        return []
    number = _model(session, model, vectors)
    rows = session.rows(
        """SELECT key, node, acl, digest FROM passages
           WHERE workspace = %(ws)s AND digest = ANY (%(digests)s::text[]) ORDER BY key""",
        digests=list(vectors),
    )
    columns = {digest: (sign_bits(vector), vector_text(vector)) for digest, vector in vectors.items()}
    insert(
        session,
        "embeddings",
        ("model", "key", "node", "acl", "bits", "vector"),
        [(number, key, node, acl, *columns[digest]) for key, node, acl, digest in rows],
        key=("model", "key"),
    )
    return sorted({row[1] for row in rows})


def _model(session: Session, model: str, vectors: Mapping[str, Vector]) -> int:
    """The number of a model, which is added if it is new; check the dimensions of its vectors."""
    rows = session.rows("SELECT model, dimensions FROM models WHERE workspace = %(ws)s AND name = %(name)s", name=model)
    dimensions = check_dimensions(model, vectors, rows[0][1] if rows else None)
    if rows:
        return int(rows[0][0])
    number = take_numbers(session, "model", 1)
    session.run(
        "INSERT INTO models (workspace, name, model, dimensions) VALUES (%(ws)s, %(name)s, %(model)s, %(dimensions)s)",
        name=model,
        model=number,
        dimensions=dimensions,
    )
    return number


def search(
    reader: Reader,
    vector: Vector,
    *,
    model: str,
    limit: int,
    filters: Filters,
    threshold: float,
    effort: Effort,
) -> list[Hit]:
    """The nearest visible passages: by cosine, then by key."""
    embedded, query = asked(reader, vector, model)
    if embedded is None or limit < 1 or not query.any() or not reader.acls:
        return []
    clause, values = node_clause(filters, "e.node")
    compared = effort.compared(reader.passages, limit)
    values |= {
        "model": embedded.number,
        "query": vector_text(query),
        "bits": sign_bits(query),
        "compared": compared,
        "limit": limit + SPARE,
    }
    if compared >= reader.passages:
        rows = reader.searched(_EXACT.replace("{filters}", clause), **values)
    else:
        rows = _by_graph(reader, embedded, limit, clause, values) if _is_near_enough(embedded, reader, filters) else []
        if len(rows) < limit:  # the index stopped at max_scan_tuples
            rows = reader.searched(_SHORTLIST.replace("{filters}", clause), **values)
    scored = _scored(query, rows)
    best = sorted((-score, key) for key, score in scored.items() if score >= threshold)[:limit]
    return [Hit(key, -score) for score, key in best]


def _is_near_enough(model: Model, reader: Reader, filters: Filters) -> bool:
    """True if the HNSW index is cheaper than comparing the sign bits of all visible rows.

    It steps over the rows that are not visible.
    """
    if not model.indexed or replace(filters, as_of=None) != Filters():
        return False
    passed = STEPS + NEAR * reader.everything / reader.passages
    return passed * DEARER < reader.passages


def _by_graph(
    reader: Reader, model: Model, limit: int, clause: str, values: Mapping[str, object]
) -> list[tuple[Any, ...]]:
    """The nearest rows by the HNSW index, compared exactly."""
    reader.searched(_THOROUGH)
    text = _GRAPH.replace("{filters}", clause).replace("{dimensions}", str(model.dimensions))
    return reader.searched(text, near=max(NEAR, 2 * limit), **values)


_THOROUGH = f"""SELECT set_config('hnsw.ef_search', '{STEPS}', true),
    set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', '{MOST}', true)"""
_SEEN = f"e.workspace = %(ws)s AND e.model = %(model)s AND e.acl = {VISIBLE} AND e.bits IS NOT NULL{{filters}}"
# vector_send stands outside of the sorted subquery: inside, it would run for every row that is compared.
_COMPARED = """SELECT key, vector_send(vector) FROM (
        SELECT e.key, e.vector FROM near
        JOIN embeddings e ON e.workspace = %(ws)s AND e.model = %(model)s AND e.key = near.key
        ORDER BY e.vector <=> %(query)s::vector, e.key LIMIT %(limit)s) best"""
_EXACT = f"""SELECT key, vector_send(vector) FROM (
        SELECT e.key, e.vector FROM embeddings e WHERE {_SEEN}
        ORDER BY e.vector <=> %(query)s::vector, e.key LIMIT %(limit)s) best"""
_SHORTLIST = f"""WITH near AS MATERIALIZED (
        SELECT e.key FROM embeddings e WHERE {_SEEN}
        ORDER BY e.bits <~> %(bits)s::varbit, e.key LIMIT %(compared)s) {_COMPARED}"""
_GRAPH = f"""WITH near AS MATERIALIZED (
        SELECT e.key FROM embeddings e WHERE {_SEEN} AND vector_dims(e.vector) = {{dimensions}}
        ORDER BY l2_normalize(e.vector)::halfvec({{dimensions}}) <=> %(query)s::halfvec({{dimensions}})
        LIMIT %(near)s) {_COMPARED}"""


def similarities(reader: Reader, vector: Vector, keys: Sequence[int], model: str) -> dict[int, float]:
    """Cosine of each visible passage that has a vector; the same numbers as a search gives."""
    embedded, query = asked(reader, vector, model)
    if embedded is None or not query.any() or not keys:
        return {}
    rows = reader.rows(
        f"""SELECT e.key, vector_send(e.vector) FROM embeddings e
           WHERE e.workspace = %(ws)s AND e.model = %(model)s AND e.acl = {VISIBLE} AND e.bits IS NOT NULL
             AND e.key = ANY (%(keys)s::bigint[])""",
        model=embedded.number,
        keys=list(keys),
    )
    return _scored(query, rows)


def stored(reader: Reader, digests: Sequence[str], model: str) -> dict[str, Vector]:
    """Vectors stored under those of these digests that belong to a visible passage."""
    rows = reader.rows(
        f"""SELECT DISTINCT ON (p.digest) p.digest, vector_send(e.vector) FROM passages p
           JOIN embeddings e ON e.workspace = %(ws)s AND e.key = p.key
           JOIN models m ON m.workspace = %(ws)s AND m.name = %(model)s AND m.model = e.model
           WHERE p.workspace = %(ws)s AND p.digest = ANY (%(digests)s::text[]) AND p.acl = {VISIBLE}""",
        model=model,
        digests=list(digests),
    )
    return {digest: read_vector(sent) for digest, sent in rows}


def asked(reader: Reader, vector: Vector, model: str) -> tuple[Model | None, Vector]:
    """The model, None if it has no vectors, and the query as a unit vector."""
    embedded = reader.model(model)
    shape = np.shape(vector)
    if len(shape) != 1 or (embedded is not None and shape != (embedded.dimensions,)):
        raise DimensionError(
            f"a vector has the shape {shape}, the vectors of {model!r} have "
            f"{'one dimension' if embedded is None else (embedded.dimensions,)}: embed with the same model"
        )
    query: Vector = unit_rows(np.asarray(vector, dtype=np.float32)[np.newaxis])[0]
    return embedded, query


def _scored(query: Vector, rows: Iterable[tuple[Any, ...]]) -> dict[int, float]:
    """Cosines by key, computed as in the SQLite store, so that both give the same numbers."""
    vectors = [(row[0], read_vector(row[1])) for row in rows]
    if not vectors:
        return {}
    scores = cosines(unit_rows(np.stack([vector for _, vector in vectors])), query).tolist()
    return dict(zip([key for key, _ in vectors], scores, strict=True))
