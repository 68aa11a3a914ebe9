from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weftwork.embed.card import ModelCard
from weftwork.embed.lazy import Lazy
from weftwork.embed.protocol import Matrix
from weftwork.embed.vectors import BatchEmbedding, unit_rows
from weftwork.errors import MissingExtra

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class SentenceTransformerEmbedder(BatchEmbedding):
    """A model of the sentence-transformers library, by name or folder."""

    def __init__(self, name_or_folder: str, device: str | None = None) -> None:
        self.model = f"sentence-transformers:{name_or_folder}"
        self.card = ModelCard(name=name_or_folder)
        self._encoder = Lazy(lambda: _load(name_or_folder, device))
        self._dimensions = Lazy(lambda: len(self._encode(["dimensions"])[0]))

    @property
    def dimensions(self) -> int:
        """The length of every vector, found by running the model once."""
        return self._dimensions.get()

    def _encode(self, texts: list[str]) -> Matrix:
        rows = self._encoder.get().encode(texts, convert_to_numpy=True, show_progress_bar=False)
        return unit_rows(np.asarray(rows))


def _load(name_or_folder: str, device: str | None) -> SentenceTransformer:
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("sentence-transformers", "sentence-transformers") from error
    return SentenceTransformer(name_or_folder, device=device)
