from __future__ import annotations

import re
from hashlib import blake2b

import numpy as np

from weftwork.embed.protocol import Matrix, Vector
from weftwork.embed.vectors import BatchEmbedding, unit_rows
from weftwork.errors import InvalidInput

_WORD = re.compile(r"\w+")


class HashingEmbedder(BatchEmbedding):
    """A bag of hashed words, signed so that collisions cancel (Weinberger et al. 2009); no model."""

    def __init__(self, dimensions: int = 64) -> None:
        if dimensions < 1:
            raise InvalidInput(f"dimensions must be at least 1, not {dimensions}")
        self.dimensions = dimensions
        self.model = f"hashing-{dimensions}"

    def _encode(self, texts: list[str]) -> Matrix:
        return unit_rows(np.stack([self._counts(text) for text in texts]))

    def _counts(self, text: str) -> Vector:
        counts = np.zeros(self.dimensions, dtype=np.float32)
        for word in _WORD.findall(text.casefold()):
            number = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
            counts[(number >> 1) % self.dimensions] += 1 if number & 1 else -1
        return counts
