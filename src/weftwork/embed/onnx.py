"""Embeddings by a sentence encoder in a local folder: an ONNX graph and a tokenizer.json; no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from weftwork.embed.lazy import Lazy
from weftwork.embed.protocol import Matrix, Vector
from weftwork.embed.vectors import BatchEmbedding, unit_rows
from weftwork.errors import EmbeddingError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_CHARACTERS_PER_TOKEN = 32
_TYPES: dict[str, type[np.signedinteger]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxEmbedder(BatchEmbedding):
    """Mean of the last hidden state, or the graph's own `sentence_embedding`.

    Texts run one at a time and unpadded: measured no slower than batches on a processor, in a quarter of the
    memory, and a text's vector cannot depend on its neighbours (docs/decisions/0003-embeddings.md).
    """

    def __init__(self, folder: str | Path, model: str | None = None, *, max_tokens: int = 256) -> None:
        if max_tokens < 1:
            raise InvalidInput(f"max_tokens must be at least 1, not {max_tokens}")
        path = Path(folder)
        self._encoder = Lazy(lambda: _Encoder.from_folder(path, max_tokens))
        self._model = Lazy(lambda: model or _fingerprint(path, max_tokens))
        self._dimensions = Lazy(lambda: len(self._encoder.get().vector("dimensions")))

    @property
    def model(self) -> str:
        """The given name, else the folder's name with a hash of its files and the token limit."""
        return self._model.get()

    @property
    def dimensions(self) -> int:
        """The length of every vector, found by running the graph once."""
        return self._dimensions.get()

    def _encode(self, texts: list[str]) -> Matrix:
        encoder = self._encoder.get()
        return unit_rows(np.stack([encoder.vector(text) for text in texts]))


@dataclass(frozen=True, slots=True)
class _Encoder:
    tokenizer: Tokenizer
    session: InferenceSession
    inputs: dict[str, type[np.signedinteger]]
    output: str
    max_characters: int

    @classmethod
    def from_folder(cls, folder: Path, max_tokens: int) -> _Encoder:
        try:
            import onnxruntime  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtra("onnxruntime", "onnx") from error
        tokenizer = Tokenizer.from_file(str(_first(folder, "tokenizer.json")))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)
        graph = _first(folder, "model.onnx", "onnx/model.onnx")
        session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
        return cls(tokenizer, session, _inputs(session), _output(session), max_tokens * _CHARACTERS_PER_TOKEN)

    def vector(self, text: str) -> Vector:
        """The pooled output for one text, not yet of length one."""
        encoding = self.tokenizer.encode(text[: self.max_characters])
        values: dict[str, Sequence[int]] = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
            "position_ids": range(len(encoding.ids)),
        }
        feeds = {name: np.asarray([values[name]], dtype=kind) for name, kind in self.inputs.items()}
        (output,) = self.session.run([self.output], feeds)
        row = output[0].astype(np.float32)
        pooled: Vector = row if row.ndim == 1 else row.mean(axis=0)
        return pooled


def _inputs(session: InferenceSession) -> dict[str, type[np.signedinteger]]:
    supported = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
    declared = {node.name: node.type for node in session.get_inputs()}
    strange = sorted(name for name, kind in declared.items() if name not in supported or kind not in _TYPES)
    if strange:
        raise EmbeddingError(f"the graph wants inputs that text does not give: {', '.join(strange)}")
    return {name: _TYPES[kind] for name, kind in declared.items()}


def _output(session: InferenceSession) -> str:
    ranks = {node.name: len(node.shape) for node in session.get_outputs()}
    if ranks.get("sentence_embedding") == 2:
        return "sentence_embedding"
    hidden = [name for name, rank in ranks.items() if rank == 3]
    if not hidden:
        raise EmbeddingError(f"no output can be pooled among {', '.join(ranks)}: export `last_hidden_state`")
    return "last_hidden_state" if "last_hidden_state" in hidden else hidden[0]


def _first(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise EmbeddingError(f"{folder} has no {' or '.join(names)}: give a folder with an exported model")


def _fingerprint(folder: Path, max_tokens: int) -> str:
    graph = _first(folder, "model.onnx", "onnx/model.onnx")
    digest = blake2b(digest_size=8)
    # Large models keep their weights beside the graph, as model.onnx_data or model.onnx.data.
    for path in (*sorted(graph.parent.glob("model.onnx*")), _first(folder, "tokenizer.json")):
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return f"onnx:{folder.resolve().name}:{digest.hexdigest()}@{max_tokens}"
