import os
import subprocess
import sys

import numpy as np
import pytest

from weftwork.embed.hashing import HashingEmbedder
from weftwork.errors import InvalidInput


def test_the_same_words_give_the_same_vector_in_any_order_and_case() -> None:
    embedder = HashingEmbedder()
    assert (embedder.embed("The quick, brown fox") == embedder.embed("fox BROWN quick the")).all()


def test_shared_words_bring_texts_nearer() -> None:
    question, near, far = HashingEmbedder(256).embed_batch(["red apple pie", "apple pie recipe", "tax law"])
    assert question @ near == pytest.approx(2 / 3, abs=0.1)
    assert abs(question @ far) < 0.3


def test_a_word_lands_where_its_blake2b_hash_says() -> None:
    # blake2b("apple", 8 bytes) = 0x960eb5a047f5aedf: the last bit is the sign, the rest modulo 4 the place.
    vector = HashingEmbedder(4).embed("apple")
    assert np.flatnonzero(vector).tolist() == [3]
    assert vector[3] == 1


@pytest.mark.parametrize("seed", ["0", "1"])
def test_vectors_do_not_depend_on_the_hash_seed(seed: str) -> None:
    code = "from weftwork.embed.hashing import HashingEmbedder as H; print(H(8).embed('a b c').tobytes().hex())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert done.stdout.strip() == HashingEmbedder(8).embed("a b c").tobytes().hex()


def test_the_model_name_tells_the_dimensions() -> None:
    assert HashingEmbedder(32).model == "hashing-32"
    assert HashingEmbedder(32).dimensions == 32


def test_dimensions_below_one_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 1, not 0"):
        HashingEmbedder(0)
