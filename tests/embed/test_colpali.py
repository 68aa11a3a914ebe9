"""The ColPali family, end to end on a tiny model with random weights; skipped without the extra `colpali`."""

import shutil
import sys

import numpy as np
import pytest

from weftwork import Weft
from weftwork.embed.colpali import FAMILIES, ColPaliEmbedder, _classes
from weftwork.embed.visual import PageLook
from weftwork.errors import EmbeddingError, InvalidInput, MissingExtra
from weftwork.faces.research import WeftSearch
from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.follow import follow
from weftwork.types import PAGE, Filters


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
    with pytest.raises(MissingExtra, match=r"pip install 'weftwork\[colpali\]'"):
        ColPaliEmbedder("vidore/colpali-v1.3").embed_query("charts")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A ColPali with two layers of random weights, saved with a processor of its own."""
    torch = pytest.importorskip("torch", reason="needs  pip install 'weftwork[colpali]'")
    models = pytest.importorskip("colpali_engine.models", reason="needs  pip install 'weftwork[colpali]'")
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
    models.ColPali(config).save_pretrained(folder, save_original_format=False)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def embedder(checkpoint):
    """The model in memory, for the tests that need no process of their own."""
    return ColPaliEmbedder(str(checkpoint), device="cpu", batch_size=2)


@pytest.fixture
def pictures(tmp_path):
    from PIL import Image

    for name, colour in (("red", "red"), ("blue", "blue")):
        Image.new("RGB", (60, 80), colour).save(tmp_path / f"{name}.png")
    return tmp_path


@pytest.mark.filterwarnings("ignore")
def test_pages_and_queries_become_unit_vectors(embedder, pictures):
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
def test_a_batch_gives_what_another_process_would_make_of_single_pages(checkpoint, embedder, pictures):
    looks = [PageLook("", pictures / "red.png"), PageLook("", pictures / "blue.png")]
    alone = ColPaliEmbedder(str(checkpoint), device="cpu", batch_size=1)
    for one, rows in zip(alone.embed_pages(looks), embedder.embed_pages(looks), strict=True):
        assert np.allclose(one, rows, atol=1e-4)


@pytest.fixture(scope="module")
def looked_at(checkpoint, tmp_path_factory):
    """A PDF of pictures without a word on them, added to a store whose pages the model looks at."""
    from PIL import Image, ImageDraw

    folder = tmp_path_factory.mktemp("shelf")
    pages = []
    for place, (ground, ink) in enumerate([("white", "red"), ("navy", "yellow"), ("black", "white")]):
        page = Image.new("RGB", (200, 280), ground)
        ImageDraw.Draw(page).rectangle([20, 30 + 60 * place, 120, 90 + 60 * place], fill=ink)
        pages.append(page)
    pages[0].save(folder / "charts.pdf", save_all=True, append_images=pages[1:])
    with Weft.open(folder / "seen.weft", visual=f"colpali:{checkpoint}") as weft:
        report = follow(weft, folder / "charts.pdf", get_connector("files"))
        assert report.nodes == 4  # the document and its pages
        yield weft


def _pictures(weft):
    """The pages in order, as the embedder gets them."""
    with weft.store.view("main", "me") as view:
        nodes = view.nodes([info.id for info in view.select(Filters(types=frozenset({PAGE})), limit=9, sort="title")])
    return [PageLook(node.text, weft.store.files("main").path(node, "image_path")) for node in nodes]


@pytest.mark.filterwarnings("ignore")
def test_a_pdf_is_found_by_sight_and_in_the_order_of_the_librarys_own_maxsim(looked_at, embedder):
    import torch
    from colpali_engine.models import ColPaliProcessor

    pages = [torch.from_numpy(rows) for rows in embedder.embed_pages(_pictures(looked_at))]
    for question in ("a red bar", "yellow on blue", "Which chart shows inflation?"):
        query = embedder.embed_query(question)
        theirs = ColPaliProcessor.score_multi_vector([torch.from_numpy(query)], pages, device="cpu")[0].tolist()
        with looked_at.store.view("main", "me") as view:
            hits = view.search_pages(query, model=embedder.model, limit=9)
            ours = {view.load([hit.key])[0].node.fields["page"]: hit.score * len(query) for hit in hits}
        assert [ours[number] for number in (1, 2, 3)] == pytest.approx(theirs, abs=1e-2)

        mentions = WeftSearch(looked_at).find(question, 3, "visual")
        order = sorted((1, 2, 3), key=lambda number: -ours[number])
        assert [(result["filename"], result["page"]) for result in mentions] == [("charts.pdf", each) for each in order]


@pytest.mark.filterwarnings("ignore")
def test_a_pages_own_vectors_lead_to_it_and_no_other(looked_at, embedder):
    for number, look in enumerate(embedder.embed_pages(_pictures(looked_at)), start=1):
        with looked_at.store.view("main", "me") as view:
            best, second = view.search_pages(look, model=embedder.model, limit=2)
            assert view.load([best.key])[0].node.fields["page"] == number
            assert best.score > 0.999 > second.score


@pytest.mark.filterwarnings("ignore")
def test_a_checkpoint_without_its_projection_is_refused(checkpoint, tmp_path):
    """Missing weights would be random, and different in each process."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(checkpoint, tmp_path / "gaps")
    weights = load_file(checkpoint / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if "custom_text_proj" not in name}
    save_file(kept, tmp_path / "gaps" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EmbeddingError, match=r"lacks 2 .*custom_text_proj\.bias"):
        ColPaliEmbedder(str(tmp_path / "gaps"), device="cpu").embed_query("x")


@pytest.mark.filterwarnings("ignore")
def test_a_folder_that_holds_no_model_is_reported(tmp_path, checkpoint):
    (tmp_path / "colpali-empty").mkdir()
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        ColPaliEmbedder(str(tmp_path / "colpali-empty")).embed_query("x")


@pytest.mark.filterwarnings("ignore")
def test_a_picture_that_is_none_is_reported(tmp_path, embedder):
    (tmp_path / "bad.png").write_bytes(b"no picture")
    with pytest.raises(EmbeddingError, match=r"bad\.png"):
        embedder.embed_pages([PageLook("", tmp_path / "bad.png")])
