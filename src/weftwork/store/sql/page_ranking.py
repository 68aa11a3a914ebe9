"""Document pages as many vectors each: their storage, and their ranking by MaxSim in two stages.

A sketch of a page, a few means of its vectors, is compared with the query first; then all vectors of those pages that
came out best, and of no others. Where there are few pages, all are compared in full. Both stages read only pages that
the viewer may see, and how many are compared depends on nothing else.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from weftwork.errors import DimensionError
from weftwork.types import Hit

if TYPE_CHECKING:
    from weftwork.embed.protocol import Matrix

SKETCH = 8
"""Vectors in a sketch: each is the mean of a stretch of the page, from top to bottom."""
EXACT = 200
"""Visible pages up to which all are compared in full; above, this many of the best sketches are."""
PER_RESULT = 10
"""Pages that are compared in full for each result that is asked for, at least."""
Stage = Literal["sketch", "vectors"]
AT_ONCE: Mapping[Stage, int] = {"sketch": 1024, "vectors": 128}
"""Pages whose sketches, or vectors, are in memory at once: tens of megabytes, whatever the model."""
Stored = Callable[[Sequence[int], Stage], Iterable[tuple[Any, ...]]]
"""Reads (node, sketch) or (key of the first passage, vectors) of some nodes."""


def page_rows(model: str, pages: Mapping[int, Matrix], width: int | None) -> list[dict[str, object]]:
    """The vectors of pages as they are stored, by node; `width` is that of the model's stored pages."""
    rows: list[dict[str, object]] = []
    for node, vectors in pages.items():
        matrix = np.asarray(vectors, dtype=np.float32)
        if matrix.ndim != 2 or width not in (None, matrix.shape[1]):
            raise DimensionError(
                f"a page's vectors of the shape {matrix.shape} cannot be kept with those of {model!r}, which have "
                f"{width}: embed with the same model, or give the other one another name"
            )
        width = matrix.shape[1]
        stored = {"sketch": _packed(sketch(matrix)), "vectors": _packed(matrix)}
        rows.append({"model": model, "node": node, "width": width, **stored})
    return rows


def best_pages(query: Matrix, nodes: Sequence[int], limit: int, stored: Stored) -> list[Hit]:
    """The pages that answer the query best, by the keys of their first passages."""
    shortlist = max(EXACT, limit * PER_RESULT)
    if len(nodes) > shortlist:
        promised = ((-score, node) for node, score in _scored(query, nodes, "sketch", stored))
        nodes = sorted(node for _, node in heapq.nsmallest(shortlist, promised))
    hits = [Hit(key, score) for key, score in _scored(query, nodes, "vectors", stored)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def _scored(query: Matrix, nodes: Sequence[int], stage: Stage, stored: Stored) -> Iterator[tuple[int, float]]:
    """Scores of nodes by their sketches, or of keys by their vectors, some pages at a time."""
    step = AT_ONCE[stage]
    for start in range(0, len(nodes), step):
        rows = list(stored(nodes[start : start + step], stage))
        if rows:
            yield from zip([name for name, _ in rows], max_sim(query, [blob for _, blob in rows]), strict=True)


def sketch(vectors: Matrix) -> Matrix:
    """A few means that stand for all vectors of a page."""
    if len(vectors) <= SKETCH:
        return vectors
    means = np.stack([part.mean(axis=0) for part in np.array_split(vectors, SKETCH)])
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    normalised: Matrix = np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 0)
    return normalised


def max_sim(query: Matrix, pages: Sequence[bytes]) -> list[float]:
    """MaxSim of each page: the mean over the query's vectors of the best cosine, in [0, 1]."""
    width = query.shape[1]
    rows = np.frombuffer(b"".join(pages), dtype=np.float16).reshape(-1, width).astype(np.float32)
    ends = np.cumsum([len(page) // (2 * width) for page in pages])
    best = np.maximum.reduceat(rows @ query.T, np.concatenate(([0], ends[:-1])), axis=0)
    # Six digits, since the last ones depend on how many pages are multiplied together.
    scores = np.minimum(np.maximum(best, 0.0).mean(axis=1, dtype=np.float64), 1.0).round(6)
    return [float(score) for score in scores]


def check_width(query: Matrix, width: int, model: str) -> None:
    """Raise DimensionError if a query cannot be compared with the pages of a model."""
    if query.shape[1] != width:
        raise DimensionError(
            f"the query's vectors have {query.shape[1]} numbers, those of {model!r} {width}: embed it with this model"
        )


def _packed(matrix: Matrix) -> bytes:
    return matrix.astype(np.float16).tobytes()
