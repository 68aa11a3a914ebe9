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


def test_an_absent_package_is_named_with_the_command_that_installs_it() -> None:
    with pytest.raises(EmbeddingError, match="'no_such_package' is not installed: run  pip install wordllama"):
        StaticEmbedder("no_such_package").embed("x")


def test_a_package_without_the_weights_is_reported() -> None:
    with pytest.raises(EmbeddingError, match=r"l2_supercat_tokenizer_config\.json is missing"):
        StaticEmbedder("weftwork").embed("x")
