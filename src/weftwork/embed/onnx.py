"""Embeddings by a sentence encoder in a local folder: an ONNX graph and a tokenizer.json; no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from weftwork.embed.card import ModelCard, card_of
from weftwork.embed.lazy import Lazy
from weftwork.embed.protocol import Matrix, Vector
from weftwork.embed.vectors import BatchEmbedding, unit_rows
from weftwork.errors import EmbeddingError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

GRAPHS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
TOKENIZER = "tokenizer.json"
CHARACTERS_PER_TOKEN = 32
"""Characters read of a text for each token of the limit: the tokenizer would read all of it first."""
_TYPES: dict[str, type[np.signedinteger]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxEmbedder(BatchEmbedding):
    """Pools the last hidden state as the model's card says, or takes the graph's own `sentence_embedding`.

    Texts run one at a time and unpadded: measured no slower than batches on a processor, in a quarter of the
    memory, and a text's vector cannot depend on its neighbours (docs/decisions/0003-embeddings.md).
    """

    def __init__(
        self,
        folder: str | Path,
        model: str | None = None,
        *,
        card: ModelCard | None = None,
        max_tokens: int | None = None,
        threads: int = 0,
    ) -> None:
        if max_tokens is not None and max_tokens < 1:
            raise InvalidInput(f"max_tokens must be at least 1, not {max_tokens}")
        path = Path(folder)
        read = Lazy(lambda: card or card_of(path))
        self._card = Lazy(lambda: read.get() if max_tokens is None else replace(read.get(), max_tokens=max_tokens))
        self._encoder = Lazy(lambda: _Encoder.from_folder(path, self._card.get(), threads))
        self._model = Lazy(lambda: model or _fingerprint(path, self._card.get()))
        self._dimensions = Lazy(lambda: len(self._encoder.get().vector("dimensions")))

    @property
    def card(self) -> ModelCard:
        """Return what the model needs and how far it is trusted."""
        return self._card.get()

    @property
    def model(self) -> str:
        """The given name, else the folder's name with a hash of its files and of what shapes the vectors."""
        return self._model.get()

    @property
    def dimensions(self) -> int:
        """The length of every vector, found by running the graph once."""
        return self._dimensions.get()

    def embed_query(self, text: str) -> Vector:
        """The vector of a question, with the prefix that the model wants before one."""
        row: Vector = self._prefixed(self.card.query_prefix, [text])[0]
        return row

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        """Return one row per passage, with the prefix that the model wants before one; zero for a blank text."""
        return self._prefixed(self.card.passage_prefix, texts)

    def _prefixed(self, prefix: str, texts: Sequence[str]) -> Matrix:
        return super().embed_batch([prefix + text if text.strip() else "" for text in texts] if prefix else texts)

    def _encode(self, texts: list[str]) -> Matrix:
        encoder = self._encoder.get()
        return unit_rows(np.stack([encoder.vector(text) for text in texts]))


@dataclass(frozen=True, slots=True)
class _Encoder:
    tokenizer: Tokenizer
    session: InferenceSession
    inputs: dict[str, type[np.signedinteger]]
    output: str
    pooling: str
    max_characters: int

    @classmethod
    def from_folder(cls, folder: Path, card: ModelCard, threads: int) -> _Encoder:
        tokenizer, session = open_model(folder, card.max_tokens, threads)
        longest = card.max_tokens * CHARACTERS_PER_TOKEN
        return cls(tokenizer, session, graph_inputs(session), _output(session), card.pooling, longest)

    def vector(self, text: str) -> Vector:
        """The pooled output for one text, not yet of length one."""
        encoding = self.tokenizer.encode(text[: self.max_characters])
        (output,) = self.session.run([self.output], feeds(encoding, self.inputs))
        row = output[0].astype(np.float32)
        if row.ndim == 1:
            return cast("Vector", row)
        return cast("Vector", row[0] if self.pooling == "cls" else row.mean(axis=0))


def open_model(folder: Path, max_tokens: int, threads: int = 0) -> tuple[Tokenizer, InferenceSession]:
    """The tokenizer and the graph of a folder; 0 threads leaves their number to the runtime."""
    try:
        import onnxruntime  # noqa: PLC0415
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra(error.name or "onnxruntime", "onnx") from error
    tokenizer = Tokenizer.from_file(str(_first(folder, TOKENIZER)))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    graph = str(_first(folder, *GRAPHS))
    return tokenizer, onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def feeds(encoding: Encoding, inputs: Mapping[str, type[np.signedinteger]]) -> dict[str, npt.NDArray[np.signedinteger]]:
    """The inputs of a graph for one text or pair of texts."""
    values: dict[str, Sequence[int]] = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
        "position_ids": range(len(encoding.ids)),
    }
    return {name: np.asarray([values[name]], dtype=kind) for name, kind in inputs.items()}


def graph_inputs(session: InferenceSession) -> dict[str, type[np.signedinteger]]:
    """The inputs that a graph declares, with their types; refuse others than those of text."""
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
    raise EmbeddingError(f"{folder} has no {' or '.join(names[:2])}: give a folder with an exported model")


def _fingerprint(folder: Path, card: ModelCard) -> str:
    graph = _first(folder, *GRAPHS)
    digest = blake2b(digest_size=8)
    # Large models keep their weights beside the graph, as model.onnx_data or model.onnx.data.
    for path in (*sorted(graph.parent.glob(f"{graph.name}*")), _first(folder, TOKENIZER)):
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    if (card.pooling, card.passage_prefix) != ("mean", ""):
        digest.update(f"{card.pooling}\0{card.passage_prefix}".encode())
    return f"onnx:{folder.resolve().name}:{digest.hexdigest()}@{card.max_tokens}"
