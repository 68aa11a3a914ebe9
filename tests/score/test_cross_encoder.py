import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.embed.conftest import write_tokenizer

from weftwork import Node, Weft
from weftwork.embed.install import install
from weftwork.embed.library import Library
from weftwork.errors import EmbeddingError, InvalidInput, ModelError, UnknownName
from weftwork.faces.opening import open_configured
from weftwork.score.cross_encoder import OnnxReranker, get_reranker


@pytest.fixture
def judge(tmp_path):
    """A folder with a real graph that gives the number of tokens named `green` in question and text."""

    def write(labels=1):
        folder = tmp_path / "judge"
        folder.mkdir(exist_ok=True)
        write_tokenizer(folder)
        table = numpy_helper.from_array(np.array([[0.0], [0.0], [1.0], [0.0]], dtype=np.float32), "table")
        axes = numpy_helper.from_array(np.array([1]), "axes")
        nodes = [
            helper.make_node("Gather", ["table", "input_ids"], ["found"]),
            helper.make_node("ReduceSum", ["found", "axes"], ["sum"], keepdims=0),
            helper.make_node("Concat", ["sum"] * labels, ["logits"], axis=1),
        ]
        ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "words"])
        logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", labels])
        graph = helper.make_graph(nodes, "judge", [ids], [logits], [table, axes])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        (folder / "config.json").write_text('{"architectures": ["BertForSequenceClassification"]}')
        return folder

    return write


def test_each_text_is_graded_together_with_the_question(judge):
    assert OnnxReranker(judge()).rerank("green", ["red", "green green", "blue green"]) == [1, 3, 2]


def test_a_long_text_is_read_where_the_words_of_the_question_are(judge):
    long = "red " * 200 + "green " * 5 + "red " * 200
    assert OnnxReranker(judge(), window=40).rerank("green", [long]) == [6]


def test_texts_after_the_time_limit_are_not_read(judge):
    ticks = iter([0.0, 0.4, 0.9, 1.1, 2.0])
    reranker = OnnxReranker(judge(), seconds=1.0, clock=lambda: next(ticks))
    assert reranker.rerank("red", ["green", "green green", "green", "green"]) == [1, 2, None, None]


def test_a_graph_with_several_labels_and_a_folder_without_one_are_refused(judge, tmp_path):
    with pytest.raises(ModelError, match="2 numbers for a text"):
        OnnxReranker(judge(labels=2)).rerank("red", ["green"])
    with pytest.raises(ModelError, match=r"has no tokenizer\.json"):
        OnnxReranker(tmp_path).rerank("red", ["green"])
    with pytest.raises(InvalidInput, match="needs time and a window"):
        OnnxReranker(tmp_path, seconds=0)


def test_one_setting_turns_a_reranker_on(judge, tmp_path, monkeypatch):
    monkeypatch.setenv("WEFTWORK_MODELS", str(tmp_path / "models"))
    install(Library.from_environment(), "judge", source=judge())
    texts = {"a": "red telescope", "b": "red telescope green", "c": "red telescope green green"}
    with Weft.open(tmp_path / "notes.weft", embedder=None) as weft:
        weft.add([Node(id=name, title=name, text=text) for name, text in texts.items()])
        plain = [item.candidate.node.id for item in weft.context("red telescope").items]
    for setting, order in (("none", plain), ("judge", ["c", "b", "a"])):
        (tmp_path / "weftwork.toml").write_text(f'store = "notes.weft"\nembedder = "none"\nreranker = "{setting}"\n')
        with open_configured(tmp_path) as weft:
            assert [item.candidate.node.id for item in weft.context("red telescope").items] == order
    assert plain != ["c", "b", "a"]


def test_a_reranker_that_is_none_or_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("WEFTWORK_MODELS", str(tmp_path / "models"))
    assert get_reranker("none") is None
    with pytest.raises(UnknownName, match="unknown reranker 'judge'"):
        get_reranker("judge")
    with pytest.raises(EmbeddingError, match="weftwork models install ms-marco"):
        get_reranker("ms-marco-MiniLM-L-12-v2")
