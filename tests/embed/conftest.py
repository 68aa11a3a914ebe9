import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

VOCABULARY = ["[UNK]", "red", "green", "blue"]
TABLE = np.array([[1, 1, 1], [3, 0, 0], [0, 4, 0], [0, 0, 5]], dtype=np.float32)

TinyModel = Callable[..., Path]


def write_tokenizer(folder: Path) -> None:
    words = {word: number for number, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(folder / "tokenizer.json"))


def write_graph(path: Path, outputs: dict[str, list[str | int]], inputs: dict[str, int]) -> None:
    """A graph that looks each token up in TABLE; `sentence_embedding` is the last token's row."""
    table = numpy_helper.from_array(TABLE, "table")
    last = numpy_helper.from_array(np.array(-1), "last")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"]),
        helper.make_node("Gather", ["last_hidden_state", "last"], ["sentence_embedding"], axis=1),
        helper.make_node("Identity", ["last_hidden_state"], ["tokens"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["batch", "words"]) for name, kind in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        [table, last],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(model.SerializeToString())


@pytest.fixture
def tiny_model(tmp_path: Path) -> TinyModel:
    """Writes a real ONNX encoder of four words and three dimensions, and gives its folder."""

    def write(
        *outputs: str,
        graph: str = "model.onnx",
        extra_input: str | None = None,
        kind: int = TensorProto.INT64,
    ) -> Path:
        folder = tmp_path / "tiny"
        folder.mkdir(exist_ok=True)
        write_tokenizer(folder)
        shapes: dict[str, list[str | int]] = {
            name: ["batch", 3] if name == "sentence_embedding" else ["batch", "words", 3]
            for name in outputs or ("last_hidden_state",)
        }
        inputs = {"input_ids": kind} | ({extra_input: kind} if extra_input else {})
        write_graph(folder / graph, shapes, inputs)
        return folder

    return write


@pytest.fixture
def passages() -> list[str]:
    """Prose of passage length, with what trips tokenizers: scripts, runs of spaces, control characters."""
    path = Path(__file__).parent / "passages.json"
    passages: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return passages
