"""The default embedder: the mean of the static token vectors that ship inside `wordllama`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from weftwork.embed.lazy import Lazy
from weftwork.embed.protocol import Matrix
from weftwork.embed.vectors import BatchEmbedding, unit_rows
from weftwork.errors import EmbeddingError

MAX_CHARACTERS = 8192
"""Characters read of a text: about 2,000 tokens. The tokenizer's own limit would apply only afterwards."""

_CHUNK = 64
_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")


class StaticEmbedder(BatchEmbedding):
    """WordLlama's vectors, read from its package without importing it (280 ms); no download, no key."""

    model = "wordllama-l2-supercat-256"
    dimensions = 256

    def __init__(self, package: str = "wordllama") -> None:
        self._model = Lazy(lambda: _model_in(_package_folder(package)))

    def _encode(self, texts: list[str]) -> Matrix:
        model = self._model.get()
        sums = [model.sums(texts[start : start + _CHUNK]) for start in range(0, len(texts), _CHUNK)]
        return unit_rows(np.concatenate(sums))


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Tokenizer
    table: npt.NDArray[np.float16]

    @classmethod
    def from_folder(cls, folder: Path) -> _Model:
        """Read the tokenizer and map the weights, which processes then share and no start-up pays for."""
        tokenizer = Tokenizer.from_file(str(_existing(folder / _TOKENIZER)))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        table = _map_tensor(_existing(folder / _WEIGHTS), "embedding.weight")
        if table.shape != (tokenizer.get_vocab_size(), StaticEmbedder.dimensions):
            raise EmbeddingError(f"weights of shape {table.shape} in {folder}: run  pip install 'wordllama>=0.4,<0.5'")
        return cls(tokenizer, table)

    def sums(self, texts: list[str]) -> Matrix:
        """The sum of each text's token vectors, added in the order of the text."""
        encodings = self.tokenizer.encode_batch_fast(
            [text[:MAX_CHARACTERS] for text in texts], add_special_tokens=False
        )
        ids = [encoding.ids for encoding in encodings]
        used, positions = np.unique(np.fromiter(chain.from_iterable(ids), dtype=np.int32), return_inverse=True)
        rows = self.table[used].astype(np.float32)
        ends = np.cumsum([len(tokens) for tokens in ids])
        return np.stack([rows.take(part, axis=0).sum(axis=0) for part in np.split(positions, ends[:-1])])


@lru_cache(maxsize=1)
def _model_in(folder: Path) -> _Model:
    """The model, read once for all stores that a process opens: the tokenizer alone takes 150 ms."""
    return _Model.from_folder(folder)


def _package_folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddingError(f"the package {package!r} is not installed: run  pip install wordllama")
    return Path(spec.submodule_search_locations[0])


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise EmbeddingError(f"{path} is missing: run  pip install --force-reinstall 'wordllama>=0.4,<0.5'")
    return path


def _map_tensor(path: Path, name: str) -> npt.NDArray[np.float16]:
    """Memory-map a float16 tensor of a safetensors file: 8 bytes of header length, JSON header, data."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(length))[name]
    offset = 8 + length + entry["data_offsets"][0]
    mapped = np.memmap(path, dtype="<f2", mode="r", offset=offset, shape=tuple(entry["shape"]))
    return np.asarray(mapped)
