"""The protocol of embedding providers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Vector: TypeAlias = "npt.NDArray[np.float32]"
Matrix: TypeAlias = "npt.NDArray[np.float32]"


class AnyProvider(Protocol):
    """A provider as people write one: with `embed_batch(texts)`, or with `embed(text)` alone.

    Either may be asynchronous, and give lists or arrays of any length: `CachedEmbedder` makes an `EmbeddingProvider` of
    it.
    """

    @property
    def dimensions(self) -> int:
        """The length of every vector."""

    @property
    def model(self) -> str:
        """A stable name for the weights and settings."""


class EmbeddingProvider(Protocol):
    """Turns text into vectors of length one; blank text gives the zero vector."""

    @property
    def dimensions(self) -> int:
        """The length of every vector."""

    @property
    def model(self) -> str:
        """A stable name for the weights and settings: vectors of equal names may be compared and cached."""

    def embed(self, text: str) -> Vector:
        """The vector of one text."""

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        """Return one row per text, in order; no texts give the shape (0, dimensions)."""
