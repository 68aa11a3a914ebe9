"""The ColPali family, end to end on a tiny model with random weights; skipped without the extra `colpali`."""

import sys

import numpy as np
import pytest

from weft import Node, Weft
from weft.embed.colpali import FAMILIES, ColPaliEmbedder, _classes
from weft.embed.visual import PageLook
from weft.errors import EmbeddingError, InvalidInput, MissingExtra


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("vidore/colpali-v1.3", "ColPali"),
        ("vidore/colqwen2-v1.0", "ColQwen2"),
        ("vidore/colqwen2.5-v0.2", "ColQwen2_5"),
        ("Metric-AI/ColQwen2_5-7b-multilingual", "ColQwen2_5"),
        ("vidore/colSmol-256M", "ColIdefics3"),
        ("vidore/ColIdefics3-x", "ColIdefics3"),
    ],
)
def test_a_checkpoints_name_tells_its_class(name, wanted):
    assert _classes(name)[0] == wanted


def test_a_folder_tells_its_class_itself(tmp_path):
    (tmp_path / "config.json").write_text('{"architectures": ["ColQwen2"]}')
    assert _classes(str(tmp_path)) == FAMILIES["colqwen2"]


def test_another_model_is_refused_with_the_names_that_would_do():
    with pytest.raises(InvalidInput, match="colqwen2"):
        ColPaliEmbedder("bert-base-uncased")


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "colpali_engine", None)
    with pytest.raises(MissingExtra, match=r"pip install 'weft\[colpali\]'"):
        ColPaliEmbedder("vidore/colpali-v1.3").embed_query("charts")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A ColPali with two layers of random weights, saved with a processor of its own."""
    torch = pytest.importorskip("torch", reason="needs  pip install 'weft[colpali]'")
    models = pytest.importorskip("colpali_engine.models", reason="needs  pip install 'weft[colpali]'")
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import PaliGemmaConfig, PreTrainedTokenizerFast, SiglipImageProcessor

    marks = ["<pad>", "<bos>", "<eos>", "<unk>", "<image>"]
    letters = sorted(ByteLevel.alphabet())
    vocabulary = {token: place for place, token in enumerate([*marks, *letters])}
    raw = Tokenizer(BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    raw.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", bos_token="<bos>", eos_token="<eos>", unk_token="<unk>",
        additional_special_tokens=["<image>"],
    )  # fmt: skip
    pictures = SiglipImageProcessor(size={"height": 28, "width": 28})
    pictures.image_seq_length = 4
    processor = models.ColPaliProcessor(image_processor=pictures, tokenizer=tokenizer)
    size = len(processor.tokenizer)
    layers = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = PaliGemmaConfig(
        text_config={
            "model_type": "gemma", "hidden_size": 32, "vocab_size": size, "num_key_value_heads": 1, "head_dim": 16,
            "pad_token_id": 0, **layers,
        },
        vision_config={
            "model_type": "siglip_vision_model", "hidden_size": 32, "image_size": 28, "patch_size": 14,
            "projection_dim": 32, **layers,
        },
        image_token_index=processor.tokenizer.convert_tokens_to_ids("<image>"),
        projection_dim=32,
        hidden_size=32,
    )  # fmt: skip
    torch.manual_seed(7)
    folder = tmp_path_factory.mktemp("models") / "tiny-colpali"
    models.ColPali(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture
def pictures(tmp_path):
    from PIL import Image

    for name, colour in (("red", "red"), ("blue", "blue")):
        Image.new("RGB", (60, 80), colour).save(tmp_path / f"{name}.png")
    return tmp_path


@pytest.mark.filterwarnings("ignore")
def test_pages_and_queries_become_unit_vectors(checkpoint, pictures):
    embedder = ColPaliEmbedder(str(checkpoint), device="cpu", batch_size=1)
    red, blank, blue = embedder.embed_pages(
        [PageLook("", pictures / "red.png"), PageLook("no picture"), PageLook("", pictures / "blue.png")]
    )
    query = embedder.embed_query("a chart")
    assert embedder.model == "colpali:tiny-colpali"
    assert red.shape[1] == blue.shape[1] == query.shape[1] == embedder.dimensions == 128
    assert blank.shape == (0, 128)
    assert len(red) == len(blue) > 4 and len(query) > 1
    for rows in (red, blue, query):
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert not np.allclose(red, blue)
    assert embedder.embed_query("  ").shape == (0, 128)


@pytest.mark.filterwarnings("ignore")
def test_a_batch_gives_what_single_pages_give(checkpoint, pictures):
    looks = [PageLook("", pictures / "red.png"), PageLook("", pictures / "blue.png")]
    together = ColPaliEmbedder(str(checkpoint), device="cpu", batch_size=2).embed_pages(looks)
    for look, rows in zip(looks, together, strict=True):
        assert np.allclose(ColPaliEmbedder(str(checkpoint), device="cpu").embed_pages([look])[0], rows, atol=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_pages_are_found_by_what_the_model_sees(checkpoint, pictures, tmp_path):
    """The vectors of a page's own picture, asked for, lead to that page and no other."""
    embedder = ColPaliEmbedder(str(checkpoint), device="cpu")
    with Weft.open(tmp_path / "seen.weft", visual=embedder) as weft:
        weft.add([Node(id="d", type="document"), *(_page(name, number) for number, name in enumerate(("red", "blue")))])
        looks = embedder.embed_pages([PageLook("", pictures / "red.png"), PageLook("", pictures / "blue.png")])
        with weft.atomic() as batch:
            vectors = {"d#page=0": looks[0], "d#page=1": looks[1]}
            batch.put_page_vectors(embedder.model, vectors, weft.store.version("main"))
        with weft.store.view("main", "me") as view:
            for number, look in enumerate(looks):
                best = view.search_pages(look, model=embedder.model, limit=2)[0]
                assert view.load([best.key])[0].node.id == f"d#page={number}"
                assert best.score > 0.999


def _page(name, number):
    return Node(id=f"d#page={number}", type="document_page", parent="d", text=name, fields={"page": number})


@pytest.mark.filterwarnings("ignore")
def test_a_folder_that_holds_no_model_is_reported(tmp_path, checkpoint):
    (tmp_path / "colpali-empty").mkdir()
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        ColPaliEmbedder(str(tmp_path / "colpali-empty")).embed_query("x")


@pytest.mark.filterwarnings("ignore")
def test_a_picture_that_is_none_is_reported(tmp_path, checkpoint):
    (tmp_path / "bad.png").write_bytes(b"no picture")
    with pytest.raises(EmbeddingError, match=r"bad\.png"):
        ColPaliEmbedder(str(checkpoint), device="cpu").embed_pages([PageLook("", tmp_path / "bad.png")])
