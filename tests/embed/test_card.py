import json
from importlib.resources import files

import pytest

from weftwork.embed.card import ModelCard, card_of, known_cards
from weftwork.embed.hub import Reference
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
    ],
)
def test_a_card_that_cannot_be_used_is_refused(tmp_path, line: str, message: str) -> None:
    (tmp_path / "card.toml").write_text(line)
    with pytest.raises(InvalidInput, match=message):
        card_of(tmp_path)
