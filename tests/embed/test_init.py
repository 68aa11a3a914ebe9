from pathlib import Path

import pytest

from weftwork.embed import get_embedder
from weftwork.embed.hashing import HashingEmbedder
from weftwork.embed.onnx import OnnxEmbedder
from weftwork.embed.openai import OpenAIEmbedder
from weftwork.embed.sbert import SentenceTransformerEmbedder
from weftwork.embed.static import StaticEmbedder
from weftwork.errors import UnknownName


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("static", StaticEmbedder),
        ("hashing", HashingEmbedder),
        ("openai", OpenAIEmbedder),
        ("openai:text-embedding-3-large", OpenAIEmbedder),
        ("onnx:/path/to/folder", OnnxEmbedder),
        ("sentence-transformers:all-MiniLM-L6-v2", SentenceTransformerEmbedder),
    ],
)
def test_a_setting_names_a_provider_without_loading_it(spec: str, kind: type) -> None:
    assert type(get_embedder(spec)) is kind


def test_static_is_the_default() -> None:
    assert isinstance(get_embedder(), StaticEmbedder)


@pytest.mark.parametrize("spec", [None, "none", ""])
def test_no_embeddings_may_be_wanted(spec: str | None) -> None:
    assert get_embedder(spec) is None


def test_the_part_after_the_colon_reaches_the_provider(tiny_model) -> None:
    large = get_embedder("openai:text-embedding-3-large")
    assert large is not None
    assert large.dimensions == 3072
    folder: Path = tiny_model()
    local = get_embedder(f"onnx:{folder}")
    assert local is not None
    assert local.dimensions == 3


@pytest.mark.parametrize("spec", ["glove", "onnx", "onnx:", "static:large", "sentence-transformers"])
def test_an_unknown_setting_is_answered_with_the_known_ones(spec: str) -> None:
    with pytest.raises(UnknownName, match=rf"'{spec}'.*hashing, none, onnx:FOLDER, openai:MODEL") as caught:
        get_embedder(spec)
    assert caught.value.kind == "embedding provider"
