import subprocess
import sys

import numpy as np
import pytest

import weftwork
from weftwork.embed.cache import EmbeddingCache
from weftwork.embed.cached import CachedEmbedder
from weftwork.embed.hashing import HashingEmbedder
from weftwork.embed.onnx import OnnxEmbedder
from weftwork.embed.protocol import EmbeddingProvider
from weftwork.embed.static import StaticEmbedder


@pytest.fixture(params=["static", "hashing", "onnx", "cached"])
def provider(request: pytest.FixtureRequest) -> EmbeddingProvider:
    match request.param:
        case "static":
            return StaticEmbedder()
        case "hashing":
            return HashingEmbedder()
        case "onnx":
            return OnnxEmbedder(request.getfixturevalue("tiny_model")())
        case _:
            return CachedEmbedder(HashingEmbedder(), EmbeddingCache())


def test_every_vector_of_text_has_length_one(provider: EmbeddingProvider) -> None:
    matrix = provider.embed_batch(["red green", "blue", "green green blue"])
    assert matrix.dtype == np.float32
    assert matrix.shape == (3, provider.dimensions)
    assert np.linalg.norm(matrix, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)


def test_no_texts_give_no_rows_of_the_right_width(provider: EmbeddingProvider) -> None:
    matrix = provider.embed_batch([])
    assert matrix.shape == (0, provider.dimensions)
    assert matrix.dtype == np.float32


def test_blank_text_gives_the_zero_vector_and_leaves_its_neighbours_alone(
    provider: EmbeddingProvider,
) -> None:
    matrix = provider.embed_batch(["", "red", " \n\t "])
    assert not matrix[0].any()
    assert not matrix[2].any()
    assert (matrix[1] == provider.embed("red")).all()
    assert not provider.embed("").any()


def test_a_text_has_the_same_bytes_alone_and_in_any_batch(provider: EmbeddingProvider, passages: list[str]) -> None:
    forwards = provider.embed_batch(passages)
    backwards = provider.embed_batch(passages[::-1] + ["red"] * 70)[: len(passages)][::-1]
    alone = np.stack([provider.embed(text) for text in passages])
    assert forwards.tobytes() == backwards.tobytes() == alone.tobytes()


def test_lone_surrogates_are_embedded_like_question_marks(provider: EmbeddingProvider) -> None:
    assert (provider.embed("red \ud800") == provider.embed("red ?")).all()


def test_the_model_name_is_stable(provider: EmbeddingProvider) -> None:
    assert provider.model == provider.model != ""


def test_importing_the_package_loads_neither_numpy_nor_a_tokenizer() -> None:
    # A bare parent, so that only what this package imports is seen.
    code = (
        f"import sys, types; weftwork = types.ModuleType('weftwork'); weftwork.__path__ = {weftwork.__path__!r}\n"
        "sys.modules['weftwork'] = weftwork; import weftwork.embed.cache, weftwork.embed.protocol\n"
        "print({'numpy', 'tokenizers', 'httpx'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
