"""The default embedder: the mean of the static token vectors of WordLlama, which the wheel brings along."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from weftwork.embed.card import ModelCard, known_cards
from weftwork.embed.lazy import Lazy
from weftwork.embed.protocol import Matrix
from weftwork.embed.vectors import BatchEmbedding, unit_rows
from weftwork.errors import EmbeddingError
from weftwork.text.tokens import CACHED_CHARACTERS, writable

if TYPE_CHECKING:
    import splintr

MAX_CHARACTERS = 8192
"""Characters read of a text: about 2,000 tokens. The tokenizer's own limit would apply only afterwards."""

PACKAGES = ("weftwork_weights", "wordllama")
"""Where the files are: in our own wheel, or in the package that they come from."""
_CHUNK = 512
_WEIGHTS = "l2_supercat_256.safetensors"
_TOKENIZER = "l2_supercat_tokenizer_config.json"
_TOKENS = 32_000
REINSTALL = "pip install --force-reinstall weftwork"


class StaticEmbedder(BatchEmbedding):
    """WordLlama's vectors, read from a file; no download, no key."""

    model = "wordllama-l2-supercat-256"
    dimensions = 256

    @property
    def card(self) -> ModelCard:
        """Return how far it is trusted."""
        return known_cards()["static"]

    def __init__(self, *packages: str) -> None:
        """`packages` are those to look for the files in."""
        self._model = Lazy(lambda: _model_in(_folder(packages or PACKAGES)))

    def _encode(self, texts: list[str]) -> Matrix:
        model = self._model.get()
        sums = [model.sums(texts[start : start + _CHUNK]) for start in range(0, len(texts), _CHUNK)]
        return unit_rows(np.concatenate(sums))


@dataclass(slots=True)
class _Model:
    tokenizer: splintr.AnyTokenizer
    table: npt.NDArray[np.float16]
    lead: int
    """Tokens that the tokenizer puts before each text, and that are no part of it."""
    seen: int = 0
    """Characters since the tokenizer's cache, which holds pieces of any length, was emptied."""

    @classmethod
    def from_folder(cls, folder: Path) -> _Model:
        """Read the tokenizer and map the weights, which processes then share and no start-up pays for."""
        import splintr  # noqa: PLC0415 - loaded at first use, to keep the start of a process fast

        table = _map_tensor(_file(folder, _WEIGHTS), "embedding.weight")
        if table.shape != (_TOKENS, StaticEmbedder.dimensions):
            raise EmbeddingError(f"weights of shape {table.shape} in {folder}: run  {REINSTALL}")
        tokenizer = splintr.from_json(str(_file(folder, _TOKENIZER)))
        return cls(tokenizer, table, len(tokenizer.encode("a")) - len(tokenizer.encode_raw("a")))

    def sums(self, texts: list[str]) -> Matrix:
        """The sum of each text's token vectors, added in the order of the text."""
        self.seen += sum(map(len, texts))
        if self.seen > CACHED_CHARACTERS:
            self.seen = 0
            self.tokenizer.clear_cache()
        encoded = [self.tokenizer.encode_flat(writable(text[:MAX_CHARACTERS])) for text in texts]
        ids = np.frombuffer(b"".join(encoded), dtype="<u4")
        if len(texts) == 1:  # a question, for which the whole vocabulary is too much to look through
            alone: Matrix = np.add.reduce(self.table[ids[self.lead :]].astype(np.float32), axis=0, keepdims=True)
            return alone
        used = np.flatnonzero(np.bincount(ids, minlength=_TOKENS))
        rows = self.table[used].astype(np.float32)
        places = np.zeros(_TOKENS, dtype=np.int64)
        places[used] = np.arange(len(used))
        positions = places[ids]
        ends = np.cumsum([len(tokens) // ids.itemsize for tokens in encoded])
        spans = zip([self.lead, *(ends[:-1] + self.lead)], ends, strict=True)
        return np.stack([np.add.reduce(rows.take(positions[start:end], axis=0), axis=0) for start, end in spans])


@lru_cache(maxsize=1)
def _model_in(folder: Path) -> _Model:
    """The model, read once for all stores that a process opens: the tokenizer alone takes 150 ms."""
    return _Model.from_folder(folder)


def _folder(packages: tuple[str, ...]) -> Path:
    """The first folder of these packages that has the weights."""
    for place in _places(packages):
        if next(place.rglob(_WEIGHTS), None) is not None:
            return place
    raise EmbeddingError(f"the weights of the default model are missing: run  {REINSTALL}")


def _places(packages: tuple[str, ...]) -> Iterator[Path]:
    for package in packages:
        spec = find_spec(package)
        if spec is not None:
            yield from map(Path, spec.submodule_search_locations or ())


def _file(folder: Path, name: str) -> Path:
    path = next(folder.rglob(name), None)
    if path is None:
        raise EmbeddingError(f"{name} is missing in {folder}: run  {REINSTALL}")
    return path


def _map_tensor(path: Path, name: str) -> npt.NDArray[np.float16]:
    """Memory-map a float16 tensor of a safetensors file: 8 bytes of header length, JSON header, data."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(length))[name]
    offset = 8 + length + entry["data_offsets"][0]
    mapped = np.memmap(path, dtype="<f2", mode="r", offset=offset, shape=tuple(entry["shape"]))
    return np.asarray(mapped)
