"""The models that are installed for this user: a folder each, with the card beside the graph and the tokenizer."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from weftwork.embed.card import CARD, TABLES, Kind, ModelCard, known_cards, read_card
from weftwork.errors import EmbeddingError, InvalidInput, UnknownName

FOLDER = "WEFTWORK_MODELS"
"""The variable that names another folder for models."""


@dataclass(frozen=True, slots=True)
class Library:
    """A folder of models."""

    folder: Path

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Library:
        """The folder that WEFTWORK_MODELS names, else `weftwork/models` among the user's data."""
        if environment.get(FOLDER):
            return cls(Path(environment[FOLDER]))
        data = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
        return cls(Path(data) / "weftwork" / "models")

    def installed(self) -> dict[str, ModelCard]:
        """The cards of the installed models, by name."""
        cards = sorted(self.folder.glob(f"*/{CARD}")) if self.folder.is_dir() else []
        return {path.parent.name: read_card(path) for path in cards if not path.parent.name.startswith(".")}

    def find(self, name: str, *kinds: Kind) -> Path | None:
        """The folder of an installed model; None for a name that nobody knows, an error for one not installed."""
        card = self._card(name)
        if card is None:
            if name in known_cards() and name != "static":
                raise EmbeddingError(f"the model {name!r} is not installed: run  weftwork models install {name}")
            return None
        if card.kind not in kinds:
            raise InvalidInput(f"{name!r} is a model of kind {card.kind}: choose one of kind {' or '.join(kinds)}")
        return self.folder / name

    def _card(self, name: str) -> ModelCard | None:
        path = self.folder / check_name(name) / CARD
        return read_card(path) if path.is_file() else None

    def remove(self, name: str) -> None:
        """Remove an installed model; one that is not there is an error."""
        if self._card(name) is None:
            raise UnknownName("installed model", name, self.installed())
        # Renamed first: an interruption leaves a folder that counts as no model.
        doomed = self.folder / f".{name}.removed"
        shutil.rmtree(doomed, ignore_errors=True)
        os.replace(self.folder / name, doomed)
        shutil.rmtree(doomed)

    def add(self, name: str, fill: Callable[[Path], ModelCard]) -> ModelCard:
        """Install what `fill` writes into a folder, under the card that it returns.

        The folder becomes the model in one step. If that fails, it stays, so that a download can go on.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / f".{check_name(name)}.lock"):
            draft = self.folder / f".{name}.partial"
            draft.mkdir(exist_ok=True)
            card = fill(draft)
            written = [path for path in sorted(draft.rglob("*")) if path.is_file() and path.name != CARD]
            sums = {path.relative_to(draft).as_posix(): checksum(path) for path in written}
            card = replace(card, name=name, source={**card.source, **sums})
            (draft / CARD).write_text(card_text(card), encoding="utf-8")
            if self._card(name) is not None:
                self.remove(name)
            os.replace(draft, self.folder / name)
        return card


def check_name(name: str) -> str:
    """Refuse a name that is no plain name of a folder."""
    if not name or name.startswith(".") or Path(name).name != name or "\\" in name:
        raise InvalidInput(f"{name!r} is no name for a model: use letters, digits, dots and hyphens")
    return name


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def card_text(card: ModelCard) -> str:
    """A card as TOML, without what is as usual and without where else it can be had."""
    usual = ModelCard(name="")
    values = {each.name: getattr(card, each.name) for each in fields(card)}
    lines = [
        f"{name} = {_toml(value)}"
        for name, value in values.items()
        if name not in ("wheels", "hub", *TABLES) and value != getattr(usual, name)
    ]
    trust = [f"{name} = {_toml(value)}" for name, value in asdict(card.trust).items()]
    source = [f"{_toml(name)} = {_toml(value)}" for name, value in card.source.items()]
    parts = [*lines, "", *(["[trust]", *trust, ""] if card.trust != usual.trust else []), "[source]", *source, ""]
    return "\n".join(parts)


def _toml(value: object) -> str:
    if not isinstance(value, str):
        return str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
