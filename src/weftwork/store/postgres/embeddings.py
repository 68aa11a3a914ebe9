"""Vectors of passages: exactly compared where there are few, else those of a shortlist by their signs.

The shortlist is drawn from the rows that the viewer may see, and how long it is depends on nothing else; so a row that
is hidden can neither push a visible one out of it nor change how thorough the search is. Where an administrator made
an index of nearest vectors (`tuning.py`), large workspaces draw it from that, in a small part of the time.
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
from weftwork.store.postgres.scope import Model, Reader, node_clause
from weftwork.types import Filters, Hit

if TYPE_CHECKING:
    from psycopg import Connection

    from weftwork.embed.protocol import Vector

EFFORT = Effort(shortlist=8_000)
"""Less than the embedded store's: a row costs more here. docs/decisions/0014-postgres.md has the measurements."""
NEAR, STEPS, MOST = 100, 400, 200_000
"""Rows that are taken from an index of nearest vectors and compared, those that it follows, and passes over at most."""
DEARER = 10
"""To pass over a row in such an index costs about as much as to compare the signs of so many."""
SPARE = 10
"""Rows that are compared in full beyond the limit: PostgreSQL's distances are rounded otherwise than ours."""


def put(connection: Connection[Any], workspace: int, model: str, given: Mapping[str, Vector]) -> list[int]:
    """Give the passages with these digests their vectors; the nodes that have such passages."""
    if not given:
        return []
    number = _model(connection, workspace, model, given)
    rows = connection.execute(
        "SELECT key, node, acl, digest FROM passages WHERE workspace = %s AND digest = ANY (%s::text[]) ORDER BY key",
        (workspace, list(given)),
    ).fetchall()
    connection.execute(
        "DELETE FROM embeddings WHERE workspace = %s AND model = %s AND key = ANY (%s::bigint[])",
        (workspace, number, [row[0] for row in rows]),
    )
    sent = {digest: (sign_bits(vector), vector_text(vector)) for digest, vector in given.items()}
    insert(
        connection,
        "embeddings",
        ("workspace", "model", "key", "node", "acl", "bits", "vector"),
        [(workspace, number, key, node, acl, *sent[digest]) for key, node, acl, digest in rows],
    )
    return sorted({row[1] for row in rows})


def _model(connection: Connection[Any], workspace: int, model: str, given: Mapping[str, Vector]) -> int:
    """The number of a model, whose vectors all have one length: a search could not compare others."""
    row = connection.execute(
        "SELECT model, dimensions FROM models WHERE workspace = %s AND name = %s", (workspace, model)
    ).fetchone()
    shapes = [np.shape(vector) for vector in given.values()]
    wanted = shapes[0] if row is None else (row[1],)
    for shape in shapes:
        if len(shape) != 1 or shape != wanted:
            raise DimensionError(
                f"a vector of the shape {shape} cannot be kept with those of {model!r}, which have "
                f"{wanted}: embed with the same model, or give the other one another name"
            )
    if row is not None:
        return int(row[0])
    number = take_numbers(connection, workspace, "model", 1)
    connection.execute("INSERT INTO models VALUES (%s, %s, %s, %s)", (workspace, model, number, wanted[0]))
    return number


def search(
    reader: Reader,
    vector: Vector,
    *,
    model: str,
    limit: int,
    filters: Filters,
    threshold: float,
    effort: Effort = EFFORT,
) -> list[Hit]:
    """The nearest visible passages: by cosine, then by key."""
    known, query = asked(reader, vector, model)
    if known is None or limit < 1 or not query.any() or not reader.acls:
        return []
    clause, values = node_clause(filters, "e.node")
    compared = effort.compared(reader.passages, limit)
    values |= {
        "model": known.number,
        "query": vector_text(query),
        "bits": sign_bits(query),
        "compared": compared,
        "limit": limit + SPARE,
    }
    if compared >= reader.passages:
        rows = reader.searched(_EXACT.replace("{filters}", clause), **values)
    else:
        rows = _by_graph(reader, known, limit, clause, values) if _is_near_enough(known, reader, filters) else []
        if len(rows) < limit:  # the index gives up before it has found what is rare
            rows = reader.searched(_SHORTLIST.replace("{filters}", clause), **values)
    scored = _scored(query, rows)
    best = sorted((-score, key) for key, score in scored.items() if score >= threshold)[:limit]
    return [Hit(key, -score) for score, key in best]


def _is_near_enough(model: Model, reader: Reader, filters: Filters) -> bool:
    """Whether an index of nearest vectors finds enough before as much is read as there are visible rows.

    It has the rows of others, too, and passes over them one by one; each costs as much as several sign bits.
    """
    if not model.indexed or replace(filters, as_of=None) != Filters():
        return False
    passed = STEPS + NEAR * model.indexed / reader.passages
    return passed * DEARER < reader.passages


def _by_graph(
    reader: Reader, model: Model, limit: int, clause: str, values: Mapping[str, object]
) -> list[tuple[Any, ...]]:
    """The nearest by the index, compared in full."""
    reader.searched(_THOROUGH)
    text = _GRAPH.replace("{filters}", clause).replace("{dimensions}", str(model.dimensions))
    return reader.searched(text, near=max(NEAR, 2 * limit), **values)


_THOROUGH = f"""SELECT set_config('hnsw.ef_search', '{STEPS}', true),
    set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', '{MOST}', true)"""
_SEEN = "e.workspace = %(ws)s AND e.model = %(model)s AND e.acl = {visible} AND e.bits IS NOT NULL{filters}"
# Vectors are sent from outside of the sorted rows: inside, PostgreSQL would write out every one that it compares.
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
    """Cosine of each of these visible passages that has a vector; the same numbers as a search gives."""
    known, query = asked(reader, vector, model)
    if known is None or not query.any() or not keys:
        return {}
    rows = reader.rows(
        """SELECT e.key, vector_send(e.vector) FROM embeddings e
           WHERE e.workspace = %(ws)s AND e.model = %(model)s AND e.acl = {visible} AND e.bits IS NOT NULL
             AND e.key = ANY (%(keys)s::bigint[])""",
        model=known.number,
        keys=list(keys),
    )
    return _scored(query, rows)


def kept(reader: Reader, digests: Sequence[str], model: str) -> dict[str, Vector]:
    """Vectors of those of these digests that stand for a visible passage."""
    rows = reader.rows(
        """SELECT DISTINCT ON (p.digest) p.digest, vector_send(e.vector) FROM passages p
           JOIN embeddings e ON e.workspace = %(ws)s AND e.key = p.key
           JOIN models m ON m.workspace = %(ws)s AND m.name = %(model)s AND m.model = e.model
           WHERE p.workspace = %(ws)s AND p.digest = ANY (%(digests)s::text[]) AND p.acl = {visible}""",
        model=model,
        digests=list(digests),
    )
    return {digest: read_vector(sent) for digest, sent in rows}


def asked(reader: Reader, vector: Vector, model: str) -> tuple[Model | None, Vector]:
    """What is known of a model, None where it has no vectors, and the query at length one."""
    known = reader.model(model)
    shape = np.shape(vector)
    if len(shape) != 1 or (known is not None and shape != (known.dimensions,)):
        raise DimensionError(
            f"a vector has the shape {shape}, the vectors of {model!r} have "
            f"{'one dimension' if known is None else (known.dimensions,)}: embed with the same model"
        )
    query: Vector = unit_rows(np.asarray(vector, dtype=np.float32)[np.newaxis])[0]
    return known, query


def _scored(query: Vector, rows: Iterable[tuple[Any, ...]]) -> dict[int, float]:
    """Cosines by key, worked out as the embedded store does it, so that both give the same numbers."""
    found = [(row[0], read_vector(row[1])) for row in rows]
    if not found:
        return {}
    scores = cosines(unit_rows(np.stack([vector for _, vector in found])), query).tolist()
    return dict(zip([key for key, _ in found], scores, strict=True))
