from importlib.util import find_spec

import pytest

from weftwork.embed.sbert import SentenceTransformerEmbedder
from weftwork.errors import MissingExtra

INSTALLED = find_spec("sentence_transformers") is not None


@pytest.mark.skipif(INSTALLED, reason="sentence-transformers is installed")
def test_the_error_for_the_absent_library_has_the_command_that_installs_it() -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'weftwork\[sentence-transformers\]'$"):
        SentenceTransformerEmbedder("all-MiniLM-L6-v2").embed("x")


@pytest.mark.skipif(not INSTALLED, reason="needs  pip install 'weftwork[sentence-transformers]'")
def test_a_small_model_made_on_the_spot_gives_unit_vectors(tmp_path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import BoW

    SentenceTransformer(modules=[BoW(["red", "green", "blue"])]).save(str(tmp_path))
    embedder = SentenceTransformerEmbedder(str(tmp_path), device="cpu")
    assert embedder.dimensions == 3
    assert embedder.embed_batch(["red", "", "red red"]).tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]


def test_the_model_name_holds_the_name_of_the_weights() -> None:
    assert SentenceTransformerEmbedder("org/name").model == "sentence-transformers:org/name"
