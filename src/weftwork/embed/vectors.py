"""Post-processing that all providers share: unit length, blank texts, lone surrogates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from weftwork.embed.protocol import Matrix, Vector


def unit_rows(matrix: npt.NDArray[np.floating]) -> Matrix:
    """Scale each row to length one; zero rows stay zero."""
    # In float64 the order of the additions cannot reach the float32 result, whatever the batch or processor.
    wide = matrix.astype(np.float64)
    norms = np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
    unit: npt.NDArray[np.float64] = np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0)
    return unit.astype(np.float32)


def blend(parts: Sequence[tuple[Vector, float]]) -> Vector:
    """The weighted sum of vectors, scaled to length one; zero if the sum is."""
    largest = max(weight for _, weight in parts)
    whole = np.sum([weight / largest * vector.astype(np.float64) for vector, weight in parts], axis=0)
    unit: Vector = unit_rows(whole[np.newaxis])[0]
    return unit


class _Encoding(Protocol):
    @property
    def dimensions(self) -> int: ...

    def embed_batch(self, texts: Sequence[str]) -> Matrix: ...

    def _encode(self, texts: list[str]) -> Matrix: ...


class BatchEmbedding:
    """Mixin of providers that encode batches, without blank texts and lone surrogates."""

    def embed(self: _Encoding, text: str) -> Vector:
        """Return the vector of one text, the same as in any batch."""
        row: Vector = self.embed_batch([text])[0]
        return row

    def embed_batch(self: _Encoding, texts: Sequence[str]) -> Matrix:
        """Return one row per text, zero for blank ones, independent of the rest of the batch."""
        written = [position for position, text in enumerate(texts) if text.strip()]
        if not written:
            return np.zeros((len(texts), self.dimensions), dtype=np.float32)
        rows = self._encode([well_formed(texts[position]) for position in written])
        matrix = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        matrix[written] = rows
        return matrix


def well_formed(text: str) -> str:
    """Replace lone surrogates, which no tokenizer or JSON server accepts, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
