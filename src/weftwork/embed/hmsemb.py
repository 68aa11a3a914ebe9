"""Encoders in the container HMSEMB01 as an ONNX graph: a RoBERTa whose weights are int8 in groups with a scale each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from weftwork.errors import EmbeddingError, MissingExtra

MAGIC = b"HMSEMB01"

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Packed:
    """The content of a container: its header, the tokenizer's JSON, and the tensors by name in float32."""

    header: Mapping[str, Any]
    tokenizer: bytes
    tensors: Mapping[str, Array]

    @classmethod
    def from_file(cls, path: Path) -> Packed:
        """Read a container: eight bytes of magic, a length, the header, the tokenizer, the tensors."""
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise EmbeddingError(f"{path} is no HMSEMB01 container: install the package again")
            try:
                header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
                tokenizer = file.read(header["tokenizer_len"])
                tensors = {each["name"]: _tensor(file.read(each["len"]), each) for each in header["tensors"]}
            except (ValueError, KeyError, TypeError) as error:
                raise EmbeddingError(f"{path} is damaged ({error}): install the package again") from error
        return cls(header, tokenizer, tensors)


def _tensor(data: bytes, entry: Mapping[str, Any]) -> Array:
    shape = tuple(entry["shape"])
    if entry["dtype"] == "f32":
        return np.frombuffer(data, dtype="<f4").reshape(shape)
    count, group = int(np.prod(shape)), entry["group"]
    values = np.frombuffer(data[:count], dtype=np.int8).reshape(-1, group).astype(np.float32)
    scales = np.frombuffer(data[count:], dtype="<f4").reshape(-1, 1)
    tensor: Array = (values * scales).reshape(shape)
    return tensor


def write_onnx(packed: Packed, folder: Path) -> None:
    """Write `model.onnx` and `tokenizer.json`; the graph takes `input_ids` and gives `last_hidden_state`."""
    try:
        from onnx import TensorProto, helper  # noqa: PLC0415
        from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("onnx", "models") from error
    graph = _Graph(packed)
    graph.encoder()
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "encoder",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
            [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", graph.hidden])],
            graph.weights,
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=9,
    )
    quantize_dynamic(model, folder / "model.onnx", per_channel=True, weight_type=QuantType.QInt8)
    (folder / "tokenizer.json").write_bytes(packed.tokenizer)


class _Graph:
    """Nodes and weights of a RoBERTa, in the order in which they run."""

    def __init__(self, packed: Packed) -> None:
        self._arch, self._tensors = packed.header["arch"], packed.tensors
        self.hidden, self._heads = int(self._arch["hidden"]), int(self._arch["heads"])
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._known: set[str] = set()

    def encoder(self) -> None:
        """Embeddings, and layers of attention and a feed-forward part, each normalised after its sum."""
        value = self._normed(self._embedded(), "emb_ln")
        for layer in range(int(self._arch["layers"])):
            value = self._normed(self._op("Add", value, self._attention(value, layer)), f"l{layer}.aln")
            inner = self._op("Gelu", self._linear(value, f"l{layer}.f1"))
            value = self._normed(self._op("Add", value, self._linear(inner, f"l{layer}.f2")), f"l{layer}.fln")
        self._op("Identity", value, named="last_hidden_state")

    def _embedded(self) -> str:
        words = self._op("Gather", self._weight("word_emb"), "input_ids")
        start = np.int64(self._arch["position_offset"])
        length = self._op("Gather", self._op("Shape", "input_ids"), self._constant("one", np.int64(1)))
        first = self._constant("first", start)
        places = self._op("Range", first, self._op("Add", length, first), self._constant("step", np.int64(1)))
        kind = self._constant("type", self._tensors["type_emb"][0])
        return self._op("Add", self._op("Add", words, self._op("Gather", self._weight("pos_emb"), places)), kind)

    def _attention(self, value: str, layer: int) -> str:
        size = self.hidden // self._heads
        apart = self._constant("apart", np.array([0, 0, 3, self._heads, size]))
        joined = self._op("Reshape", self._linear(value, f"l{layer}.qkv"), apart)
        query, key, held = (
            self._op(
                "Gather", self._op("Transpose", joined, perm=[2, 0, 3, 1, 4]), self._constant(f"part{n}", np.int64(n))
            )
            for n in range(3)
        )
        scores = self._op("MatMul", query, self._op("Transpose", key, perm=[0, 1, 3, 2]))
        scaled = self._op("Mul", scores, self._constant("scale", np.float32(size**-0.5)))
        mixed = self._op("Transpose", self._op("MatMul", self._op("Softmax", scaled), held), perm=[0, 2, 1, 3])
        together = self._constant("together", np.array([0, 0, self.hidden]))
        return self._linear(self._op("Reshape", mixed, together), f"l{layer}.ao")

    def _linear(self, value: str, name: str) -> str:
        weight = self._constant(f"{name}.wt", np.ascontiguousarray(self._tensors[f"{name}.w"].T))
        return self._op("Add", self._op("MatMul", value, weight), self._weight(f"{name}.b"))

    def _normed(self, value: str, name: str) -> str:
        epsilon = float(self._arch["layer_norm_eps"])
        return self._op(
            "LayerNormalization", value, self._weight(f"{name}.w"), self._weight(f"{name}.b"), epsilon=epsilon
        )

    def _weight(self, name: str) -> str:
        return self._constant(name, self._tensors[name])

    def _constant(self, name: str, values: Any) -> str:
        from onnx import numpy_helper  # noqa: PLC0415

        if name not in self._known:
            self._known.add(name)
            self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def _op(self, kind: str, *inputs: str, named: str = "", **attributes: Any) -> str:
        from onnx import helper  # noqa: PLC0415

        output = named or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output
