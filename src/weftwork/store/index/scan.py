"""The arithmetic of the vector search: lengths, cosines, sign bits and their distances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from weftwork.embed.protocol import Matrix, Vector

Words = npt.NDArray[np.uint64]
Distances = npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float64]

DECIMALS = 6
"""A cosine is rounded to these: float32 vectors carry no more."""

WORD_BITS = 64
_PICKED = 512
_BLOCK = 65_536  # half a megabyte of words: stays in the cache between the three passes


def unit_rows(matrix: Matrix) -> Matrix:
    """Scale each row to length one; rows that are zero or not finite become zero."""
    wide = matrix.astype(np.float64)
    norms = np.sqrt(row_sums(wide * wide))[:, np.newaxis]
    usable = np.isfinite(norms) & (norms > 0)
    unit: Floats = np.divide(wide, norms, out=np.zeros_like(wide), where=usable)
    return unit.astype(np.float32)


def cosines(rows: Matrix, query: Vector) -> Floats:
    """The cosines of unit vectors; the same number for the same pair, whatever the other rows are."""
    products = rows.astype(np.float64) * query.astype(np.float64)
    sums = row_sums(products)
    np.clip(sums, -1.0, 1.0, out=sums)
    # Adding zero turns -0.0 into 0.0.
    return np.round(sums, DECIMALS) + np.float64(0.0)


def row_sums(terms: Floats) -> Floats:
    """The sum of each row; overwrites `terms`.

    A product of matrices, or `sum`, may add in an order that depends on the shape, the alignment and
    the processor. Folding a row in half adds element to element: there is only one order.
    """
    width = terms.shape[1]
    while width > 1:
        half = (width + 1) // 2
        terms[:, : width - half] += terms[:, half:width]
        width = half
    return terms[:, 0]


def picked_products(vectors: Matrix, rows: npt.NDArray[np.int64], query: Vector) -> Vector:
    """Rough dot products of some rows.

    `vecdot` and not `@`: a matrix product is spread over all cores and waits for the slowest, which on a
    busy machine more than doubled its time. Blocks, so that picked rows stay in the cache.
    """
    products = np.empty(len(rows), dtype=np.float32)
    room = np.empty((_PICKED, vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), _PICKED):
        block = rows[start : start + _PICKED]
        np.take(vectors, block, axis=0, out=room[: len(block)], mode="clip")
        np.vecdot(room[: len(block)], query, out=products[start : start + len(block)])
    return products


def rounding_margin(dimensions: int) -> float:
    """The rounding error of a float32 dot product of unit vectors (Higham 2002, 3.1)."""
    return dimensions * float(np.finfo(np.float32).eps) + 10.0**-DECIMALS


def sign_words(matrix: Matrix) -> tuple[Words, ...]:
    """The sign bits of each row in words of 64: the first word of all rows, then the second, and so on.

    The signs are taken as they are: centring them on a mean would let hidden rows move the visible ones.
    """
    count, dimensions = matrix.shape
    words = word_count(dimensions)
    octets = np.zeros((count, words * 8), dtype=np.uint8)
    octets[:, : (dimensions + 7) // 8] = np.packbits(matrix > 0, axis=1)
    return tuple(np.ascontiguousarray(column) for column in octets.view("<u8").T)


def word_count(dimensions: int) -> int:
    """The number of words with one bit for each dimension."""
    return -(-dimensions // WORD_BITS)


def hamming(codes: Sequence[Words], query: Sequence[Words]) -> Distances:
    """The Hamming distance of each row from the query, in signs."""
    count = len(codes[0])
    distances = np.zeros(count, dtype=np.uint16)
    differing = np.empty(min(count, _BLOCK), dtype=np.uint64)
    bits = np.empty(min(count, _BLOCK), dtype=np.uint8)
    for start in range(0, count, _BLOCK):
        block = distances[start : start + _BLOCK]
        size = len(block)
        for word, asked in zip(codes, query, strict=True):
            np.bitwise_xor(word[start : start + size], asked[0], out=differing[:size])
            np.bitwise_count(differing[:size], out=bits[:size])
            np.add(block, bits[:size], out=block)
    return distances


def radius(distances: Sequence[Distances], count: int, dimensions: int) -> int:
    """The smallest distance within which there are `count` rows, if there are that many."""
    low, high = 0, dimensions
    while low < high:
        middle = (low + high) // 2
        if sum(int(np.count_nonzero(part <= middle)) for part in distances) >= count:
            high = middle
        else:
            low = middle + 1
    return low
