import json
from dataclasses import replace
from importlib.resources import files

import pytest

from weftwork.collect.fusion import fuse
from weftwork.embed.cache import EmbeddingCache
from weftwork.embed.cached import CachedEmbedder
from weftwork.embed.card import CAUTIOUS, ModelCard, Trust, card_of, known_cards, trust_of
from weftwork.embed.hub import Reference
from weftwork.embed.library import card_text
from weftwork.embed.onnx import OnnxEmbedder
from weftwork.embed.static import StaticEmbedder
from weftwork.errors import InvalidInput


def test_every_card_of_the_package_says_where_the_model_is_to_be_had() -> None:
    cards = known_cards()
    assert {each.name.removesuffix(".toml") for each in (files("weftwork.embed") / "cards").iterdir()} == set(cards)
    for card in cards.values():
        assert card.summary and card.licence in ("MIT", "Apache-2.0") and card.megabytes
        if card.name != "static":
            assert Reference.parse(card.hub) and all(len(wheel.sha256) == 64 for wheel in card.wheels)


def test_a_folder_without_a_card_is_read_as_sentence_transformers_wrote_it(tmp_path) -> None:
    assert card_of(tmp_path) == ModelCard(name=tmp_path.name)
    (tmp_path / "1_Pooling").mkdir()
    for name, values in {
        "1_Pooling/config.json": {"pooling_mode_cls_token": True},
        "sentence_bert_config.json": {"max_seq_length": 512},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "document": "passage: "}},
    }.items():
        (tmp_path / name).write_text(json.dumps(values))
    card = card_of(tmp_path)
    assert (card.pooling, card.max_tokens, card.query_prefix, card.passage_prefix) == (
        "cls", 512, "query: ", "passage: ")  # fmt: skip
    assert card.kind == "encoder"
    (tmp_path / "config.json").write_text('{"architectures": ["BertForSequenceClassification"]}')
    assert card_of(tmp_path).kind == "reranker"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("colour = 1", "unknown setting 'colour'"),
        ("max_tokens = 'many'", "max_tokens in .* must be of type int"),
        ("max_tokens = 0", "must be at least 1"),
        ("pooling = 'max'", "pooling must be mean or cls"),
        ("pooling =", "not valid TOML"),
        ("[trust]\nwieght = 1", "trust.wieght = 1 in .*: give numbers for weight"),
        ("[trust]\nweight = 'much'", "give numbers for weight"),
        ("[trust]\nweight = 2", "weight and level must be 0 to 1"),
        ("[trust]\nfloor = 0.9\nceiling = 0.5", "floor below ceiling"),
    ],
)
def test_a_card_that_cannot_be_used_is_refused(tmp_path, line: str, message: str) -> None:
    (tmp_path / "card.toml").write_text(line)
    with pytest.raises(InvalidInput, match=message):
        card_of(tmp_path)


def test_the_trust_in_a_model_is_that_of_its_card_and_cautious_without_one(tmp_path) -> None:
    assert trust_of(None) == CAUTIOUS
    assert trust_of(StaticEmbedder()) == known_cards()["static"].trust == replace(CAUTIOUS, half=0.07)
    (tmp_path / "card.toml").write_text("[trust]\nweight = 0.8\nfloor = 0.5\n")
    embedder = OnnxEmbedder(tmp_path)
    assert trust_of(embedder) == trust_of(CachedEmbedder(embedder, EmbeddingCache())) == Trust(0.8, floor=0.5)
    assert fuse(0.0, 0.75, trust_of(embedder)) == pytest.approx(0.4)
    assert fuse(0.5, 0.4, trust_of(embedder)) == pytest.approx(0.5)
    sharp = Trust(0.8, floor=0.5, ceiling=0.9, power=2.0)
    assert fuse(0.0, 0.95, sharp) == pytest.approx(0.64)


def test_a_card_that_is_written_is_read_again_with_its_trust(tmp_path) -> None:
    card = replace(known_cards()["bge-small-en-v1.5"], source={"from": "here"})
    (tmp_path / "card.toml").write_text(card_text(card))
    assert replace(card_of(tmp_path), wheels=card.wheels, hub=card.hub) == card
